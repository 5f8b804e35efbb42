//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestALinkInALinkedFolderLeadsUpFromTheRealOne(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := errors.Join(os.MkdirAll(at("real/cursor"), 0o700), os.MkdirAll(at("real/shared"), 0o700),
		os.WriteFile(at("real/shared/file"), []byte("old"), 0o600),
		os.Symlink("real/cursor", at("cursor")), os.Symlink("../shared/file", at("real/cursor/file")),
		os.Symlink("../shared/new", at("real/cursor/new"))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Replace(at("cursor/file"), []byte("old"), []byte("text"), 0o777), Replace(at("cursor/new"), nil, []byte("text"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"real/shared/file", "real/shared/new"} {
		if text, err := os.ReadFile(at(name)); err != nil || string(text) != "text" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
