//go:build unix

package regular

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOnlyRegularFilesAreOpenedAndNothingIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink(at("file"), at("link")),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink(at("pipe"), at("link to a pipe"))); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"file", "link"} {
		f, err := Open(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != "text" {
			t.Errorf("%s: read %q, %v", name, text, err)
		}
		f.Close()
	}
	for path, want := range map[string]error{
		at("pipe"): ErrKind, at("link to a pipe"): ErrKind, dir: ErrKind, os.DevNull: ErrKind, at("nothing"): os.ErrNotExist,
		at("socket"): syscall.ENXIO,
	} {
		if _, err := Open(path); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
}
