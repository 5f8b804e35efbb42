package store

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEveryColumnAndEveryFieldOfACallIsListed(t *testing.T) {
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

	c := Call{At: time.UnixMicro(1).UTC(), Duration: time.Microsecond, Arguments: &Arguments{Sent: json.RawMessage(`{}`)}}
	fields := reflect.ValueOf(&c).Elem()
	for i := range fields.NumField() {
		field := fields.Field(i)
		switch {
		case !field.IsZero():
		case field.Kind() == reflect.String:
			field.SetString(fields.Type().Field(i).Name)
		default:
			field.SetInt(int64(i))
		}
	}
	if err := s.AppendCalls(t.Context(), []Call{c}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Call(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("stored -, read +:\n%s", diff)
	}
}
