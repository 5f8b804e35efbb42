package corpora

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWithoutTheDataFolderThereAreSmallSamples(t *testing.T) {
	t.Setenv("TOOLFIT_DATA", "")
	notes, err := fs.ReadFile(Data(), "LICENSES.md")
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	err = fs.WalkDir(Data(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		size += int(info.Size())
		if folder := filepath.ToSlash(filepath.Dir(path)); !strings.Contains(string(notes), path) && !strings.Contains(string(notes), folder+"/`") && path != "LICENSES.md" {
			t.Errorf("LICENSES.md does not name the source of %s", path)
		}
		return nil
	})
	if err != nil || size > 200<<10 {
		t.Errorf("the samples have %d bytes: %v", size, err)
	}
}

func TestTheDataFolderComesBeforeTheSamples(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "whole"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TOOLFIT_DATA", dir)
	if _, err := fs.Stat(Data(), "whole"); err != nil {
		t.Error(err)
	}
}
