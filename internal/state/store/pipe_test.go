//go:build unix

package store

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestAPipeInPlaceOfAStoreIsRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "toolfit.db")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), pipe, nil); !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("got %v", err)
	}
}
