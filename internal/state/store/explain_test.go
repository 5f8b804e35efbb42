package store

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestWriteToReadOnlyFileIsExplained(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	s, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := connectSQLite(path, 1, url.Values{"mode": {"ro"}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec("DELETE FROM keys")
	err = s.explain("delete keys", err)
	if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "read-only") {
		t.Fatalf("got %v, want a bad_config that says read-only", err)
	}
}

func TestExplainLeavesOtherErrorsAlone(t *testing.T) {
	s := &Store{name: "x", dialect: sqliteDialect}
	cause := errors.New("cause")
	if err := s.explain("read", nil); err != nil {
		t.Fatalf("nil became %v", err)
	}
	if err := s.explain("read", cause); !errors.Is(err, cause) || err.Error() != "read: cause" {
		t.Fatalf("got %v", err)
	}
}
