package journal

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// folder is a folder with files, and a journal elsewhere.
type folder struct {
	t            *testing.T
	dir, journal string
}

func newFolder(t *testing.T, files map[string]string) folder {
	f := folder{t, t.TempDir(), filepath.Join(t.TempDir(), "state", "setup.json")}
	for name, text := range files {
		f.put(name, text)
	}
	return f
}

func (f folder) at(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f folder) put(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.at(name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// holds is the text of every file. A folder without files is one with the text "folder".
func (f folder) holds() map[string]string {
	f.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(f.dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(f.dir, path)
		switch {
		case err != nil || path == f.dir:
			return err
		case d.IsDir():
			all[filepath.ToSlash(name)] = "folder"
			return nil
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func (f folder) wants(when string, files map[string]string) {
	f.t.Helper()
	if got := f.holds(); !maps.Equal(got, files) {
		f.t.Errorf("%s: the files are %q, want %q", when, got, files)
	}
}

func (f folder) open() *Journal {
	f.t.Helper()
	j, err := Open(f.journal)
	if err != nil {
		f.t.Fatal(err)
	}
	return j
}

func (f folder) change(name, old, text string) Change {
	c := Change{Path: f.at(name), New: []byte(text), Mask: 0o777}
	if old != "" {
		c.Old = []byte(old)
	}
	return c
}

// changes are the usual ones: a new file in a new folder, a file of ours, two of others.
func (f folder) changes() (ours, theirs []Change) {
	return []Change{f.change("new/deep/secret", "", "s"), f.change("own", "own", "own 2")},
		[]Change{f.change("one", "one", "one 2"), f.change("two", "two", "two 2")}
}

var before = map[string]string{"own": "own", "one": "one", "two": "two"}

func fine() error { return nil }

func (f folder) apply(j *Journal) {
	f.t.Helper()
	ours, theirs := f.changes()
	if _, err := j.Apply(ours, theirs, time.Now(), fine); err != nil {
		f.t.Fatal(err)
	}
}

func TestUndoLeavesNoTrace(t *testing.T) {
	f := newFolder(t, before)
	f.apply(f.open())
	got := f.holds()
	if got["one"] != "one 2" || got["new/deep/secret"] != "s" || len(got) != 3+3+3 { // with folders and backups
		t.Errorf("after Apply the files are %q", got)
	}
	if _, err := f.open().Undo(Hooks{DryRun: true}); err != nil || !maps.Equal(f.holds(), got) {
		t.Errorf("a dry run changed the files to %q, %v", f.holds(), err)
	}
	var gone []string
	outcome, err := f.open().Undo(Hooks{Gone: func(path string) { gone = append(gone, path) }})
	if err != nil || len(outcome.Left) > 0 || len(outcome.Back) != 3 || len(outcome.Removed) != 1 || len(gone) != 1 {
		t.Errorf("got %+v, %v; told %q", outcome, err, gone)
	}
	f.wants("after Undo", before)
	if _, err := os.Stat(f.journal); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is there: %v", err)
	}
}

func TestAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(f folder)
		check func() error
		want  map[string]string
		says  string
	}{
		"a check that fails": {func(folder) {}, func() error { return fault.New(fault.BadConfig, "wrong").WithHint("mend it") }, before, "mend it"},
		"a file of another that somebody changed meanwhile": {
			func(f folder) { f.put("two", "other") }, fine, map[string]string{"own": "own", "one": "one", "two": "other"}, "try again",
		},
		"a file that came into being meanwhile": {
			func(f folder) { os.MkdirAll(f.at("new/deep"), 0o700); f.put("new/deep/secret", "mine") }, fine,
			map[string]string{"own": "own", "one": "one", "two": "two", "new": "folder", "new/deep": "folder", "new/deep/secret": "mine"}, "try again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, before)
			ours, theirs := f.changes()
			c.spoil(f)
			j := f.open()
			_, err := j.Apply(ours, theirs, time.Now(), c.check)
			var said *fault.Error
			if !errors.As(err, &said) || !strings.HasSuffix(said.Message, "; every file is as it was before") ||
				strings.Contains(said.Message, c.says) || said.Hint != c.says {
				t.Errorf("got %v", err)
			}
			f.wants("after it", c.want)
			if f.open().Last() != nil {
				t.Error("the journal has the run")
			}
		})
	}
}

func TestWhatWasKilledBetweenTwoWritesCanBePutBack(t *testing.T) {
	f := newFolder(t, before)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ours, theirs := f.changes()
		f.open().Apply(ours, theirs, time.Now(), func() error {
			f.put(".toolfit-123", "half")
			runtime.Goexit() // nothing after it runs
			return nil
		})
	}()
	<-ended
	if got := f.holds(); got["own"] != "own 2" || got["one"] != "one" {
		t.Fatalf("the files are %q", got)
	}
	j := f.open()
	if j.Last() == nil || j.Last().Done {
		t.Fatal("the journal does not know it")
	}
	if outcome, err := j.Undo(Hooks{}); err != nil || len(outcome.Left) > 0 {
		t.Errorf("got %+v, %v", outcome, err)
	}
	f.wants("after Undo", before)
}

func TestAFileThatChangedSinceIsLeftWithAllThatItReliesOn(t *testing.T) {
	f := newFolder(t, before)
	f.apply(f.open())
	f.put("one", "edited")
	outcome, err := f.open().Undo(Hooks{})
	if err != nil || len(outcome.Left) != 1 || outcome.Left[0].Path != f.at("one") || outcome.Left[0].Backup == "" {
		t.Errorf("got %+v, %v", outcome, err)
	}
	if got := f.holds(); got["one"] != "edited" || got["two"] != "two" || got["own"] != "own 2" || got["new/deep/secret"] != "s" {
		t.Errorf("the files are %q", got)
	}
	f.put("one", "one") // by hand
	if outcome, err = f.open().Undo(Hooks{}); err != nil || len(outcome.Left) != 0 {
		t.Errorf("got %+v, %v", outcome, err)
	}
	f.wants("after all", before)
}

func TestSecretsStayWithAConfigurationThatChangedSince(t *testing.T) {
	f := newFolder(t, before)
	f.apply(f.open())
	f.put("own", "more")
	if outcome, err := f.open().Undo(Hooks{}); err != nil || len(outcome.Left) != 1 {
		t.Errorf("got %+v, %v", outcome, err)
	}
	if got := f.holds(); got["own"] != "more" || got["new/deep/secret"] != "s" || got["one"] != "one" {
		t.Errorf("the files are %q", got)
	}
}

func TestAChangedFileMayBeMended(t *testing.T) {
	f := newFolder(t, before)
	f.apply(f.open())
	f.put("one", "one 2 and more")
	outcome, err := f.open().Undo(Hooks{Mend: func(_ string, now, before []byte) ([]byte, bool) {
		return bytes.Replace(now, []byte("one 2"), before, 1), true
	}})
	if err != nil || len(outcome.Left) != 0 {
		t.Errorf("got %+v, %v", outcome, err)
	}
	f.wants("after Undo", map[string]string{"own": "own", "one": "one and more", "two": "two"})
}

func TestEachUndoIsOfTheLastRun(t *testing.T) {
	f := newFolder(t, before)
	f.apply(f.open())
	first := f.holds()
	if _, err := f.open().Apply(nil, []Change{f.change("one", "one 2", "one 3")}, time.Now(), fine); err != nil {
		t.Fatal(err)
	}
	for _, want := range []map[string]string{first, before} {
		if _, err := f.open().Undo(Hooks{}); err != nil {
			t.Fatal(err)
		}
		f.wants("after Undo", want)
	}
}

func TestAJournalThatCannotBeReadIsNotOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "setup.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !fault.Is(err, fault.BadConfig) {
		t.Errorf("got %v", err)
	}
}

func TestWhoeverIsKilledWhilePuttingBackGoesOnThere(t *testing.T) {
	f := newFolder(t, before)
	f.apply(f.open())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.open().Undo(Hooks{Gone: func(string) {
			f.put(".toolfit-123", "half")
			runtime.Goexit() // nothing after it runs
		}})
	}()
	<-ended
	j := f.open()
	if j.Last() == nil || j.Last().Done {
		t.Fatal("the journal does not know it")
	}
	half := filepath.Join(filepath.Dir(f.journal), ".toolfit-456")
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if outcome, err := j.Undo(Hooks{}); err != nil || len(outcome.Left) > 0 {
		t.Errorf("got %+v, %v", outcome, err)
	}
	f.wants("after Undo", before)
	if left, err := os.ReadDir(filepath.Dir(f.journal)); err != nil || len(left) > 0 {
		t.Errorf("beside the journal: %v, %v", left, err)
	}
}

func TestModesAreThoseOfBeforeAndBackupsArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	f := newFolder(t, before)
	if err := os.Chmod(f.at("one"), 0o666); err != nil { // more than most umasks allow
		t.Fatal(err)
	}
	f.apply(f.open())
	for name := range f.holds() {
		if info, err := os.Stat(f.at(name)); strings.Contains(name, "-backup-") && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if _, err := f.open().Undo(Hooks{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(f.at("one")); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestOfTwoRunsAtOnceOneIsRefused(t *testing.T) {
	f := newFolder(t, before)
	first, second := f.open(), f.open()
	f.apply(first)
	got := f.holds()
	ours, theirs := f.changes()
	if _, err := second.Apply(ours, theirs, time.Now(), fine); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	f.wants("after the second", got)
}
