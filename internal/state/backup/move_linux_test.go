package backup

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAConfigurationMayBeOnAnotherFileSystemThanTheStore(t *testing.T) {
	other, err := os.MkdirTemp("/dev/shm", "toolfit-test-")
	if err != nil {
		t.Skip("there is no other file system")
	}
	defer os.RemoveAll(other)
	from, to := filepath.Join(other, "new"), filepath.Join(t.TempDir(), "toolfit.yaml")
	check(t, errors.Join(os.WriteFile(from, []byte("new"), 0o600), os.WriteFile(to, []byte("old"), 0o600)))
	if !errors.Is(os.Rename(from, to), syscall.EXDEV) {
		t.Skip("/dev/shm is no other file system")
	}
	var done Done
	check(t, done.swap(from, to, ".before"))
	for path, want := range map[string]string{to: "new", to + ".before": "old"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
