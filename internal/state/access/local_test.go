package access_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestTheLocalSecretIsMadeOnceForItsUserAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "toolfit")
	if _, err := access.ReadLocalSecret(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before the first start: %v", err)
	}
	made := make([]access.LocalSecret, 8)
	var starts sync.WaitGroup
	for i := range made { // programs that start together agree
		starts.Go(func() {
			var err error
			if made[i], err = access.OpenLocalSecret(folder); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	for _, s := range made {
		if s != made[0] || !strings.HasPrefix(string(s), "tfl_") || len(s) < 50 {
			t.Fatalf("got %q and %q", made[0], s)
		}
	}
	again, err := access.ReadLocalSecret(folder)
	if err != nil || again != made[0] {
		t.Errorf("read again: %q, %v", again, err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
	if runtime.GOOS == "windows" {
		return // the folder has the rights
	}
	info, err := os.Stat(filepath.Join(folder, files[0].Name()))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestALocalSecretThatIsNoneIsRefused(t *testing.T) {
	cases := []struct {
		name string
		make func(path string) error
		says string
	}{
		{"others can read it", func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(access.NewLocalSecret()), 0o600), os.Chmod(path, 0o640))
		}, "can be read by other users"},
		{"a link", func(path string) error { return os.Symlink("/etc/hostname", path) }, "not a regular file"},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, "not a regular file"},
		{"empty", func(path string) error { return os.WriteFile(path, nil, 0o600) }, "does not hold a secret"},
		{"cut", func(path string) error { return os.WriteFile(path, []byte("tfl_abc"), 0o600) }, "does not hold a secret"},
		{"something else", func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 60)), 0o600) },
			"does not hold a secret"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.name == "others can read it" {
				t.Skip("files have no modes here")
			}
			folder := t.TempDir()
			if err := c.make(filepath.Join(folder, "local-secret")); err != nil {
				t.Fatal(err)
			}
			if _, err := access.OpenLocalSecret(folder); !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}
