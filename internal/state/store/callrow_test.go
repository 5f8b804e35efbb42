package store

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryColumnOfACallIsListed(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "toolfit.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var table string
	if err := s.read.QueryRow("SELECT group_concat(name, ', ') FROM pragma_table_info('calls')").Scan(&table); err != nil {
		t.Fatal(err)
	}
	columns := strings.Split(table, ", ")
	listed := strings.Split(callColumns, ", ")
	slices.Sort(columns)
	slices.Sort(listed)
	if diff := cmp.Diff(columns, listed); diff != "" {
		t.Errorf("table -, list +:\n%s", diff)
	}
}
