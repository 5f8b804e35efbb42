package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolfit/toolfit/internal/base/regular"
)

// Hooks take part in an Undo. All may be nil.
type Hooks struct {
	// Mend returns a file that somebody changed since without our part of it. It answers false
	// if that cannot be told apart.
	Mend func(path string, now, before []byte) ([]byte, bool)
	// Gone is called before a file that did not exist before is removed.
	Gone func(path string)
	// DryRun leaves everything as it is.
	DryRun bool
}

// Outcome is what an Undo did.
type Outcome struct {
	Back    []string `json:"back"`    // files that are as they were before
	Removed []string `json:"removed"` // files that did not exist before
	Left    []Left   `json:"left,omitempty"`
}

// Left is a file that was not put back.
type Left struct {
	Path   string `json:"path"`
	Backup string `json:"backup,omitempty"`
	Why    string `json:"why"`
}

// Undo puts the files of the last run back. Ours stay while any of theirs is left, for it may
// rely on them. What is left stays in the journal, and can be put back later.
func (j *Journal) Undo(hooks Hooks) (Outcome, error) {
	if hooks.DryRun {
		return j.undo(hooks)
	}
	unlock, err := j.lock()
	if err != nil {
		return Outcome{}, err
	}
	defer unlock()
	if run := j.Last(); run.Done {
		run.Done = false // until all is put back: whoever is killed before goes on here
		if err := j.save(); err != nil {
			return Outcome{}, err
		}
	} else {
		run.removeLeftovers()
	}
	return j.undo(hooks)
}

func (j *Journal) undo(hooks Hooks) (Outcome, error) {
	run := j.Last()
	outcome := Outcome{Back: []string{}, Removed: []string{}}
	rest := Run{Begun: run.Begun, Done: true, Folders: run.Folders}
	back := func(e Entry) bool {
		why := e.putBack(hooks)
		switch {
		case why != "":
			outcome.Left = append(outcome.Left, Left{e.Path, e.Backup, why})
		case e.Before == "":
			outcome.Removed = append(outcome.Removed, e.Path)
		default:
			outcome.Back = append(outcome.Back, e.Path)
		}
		return why == ""
	}
	for _, e := range slices.Backward(run.Theirs) {
		if !back(e) {
			rest.Theirs = append(rest.Theirs, e)
		}
	}
	for i, e := range slices.Backward(run.Ours) { // from the configuration to its secrets
		if len(outcome.Left) > 0 || !back(e) {
			rest.Ours = run.Ours[:i+1]
			break
		}
	}
	if hooks.DryRun {
		return outcome, nil
	}
	j.runs = j.runs[:len(j.runs)-1]
	if len(outcome.Left) > 0 {
		j.runs = append(j.runs, rest)
	} else {
		for _, dir := range slices.Backward(run.Folders) {
			os.Remove(dir) // not one with files of others
		}
	}
	return outcome, j.save()
}

// removeLeftovers removes what an interrupted run was writing.
func (r *Run) removeLeftovers() {
	for _, e := range slices.Concat(r.Ours, r.Theirs) {
		regular.RemoveTemp(e.Path)
	}
}

// putBack makes the file what it was before. It returns why it did not; "" if it did.
func (e Entry) putBack(hooks Hooks) (why string) {
	now, err := os.ReadFile(e.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err.Error()
	case missing && e.Before == "", !missing && hash(now) == e.Before:
		if e.Backup != "" && !hooks.DryRun {
			return e.restoreMode()
		}
		return ""
	case missing:
		return "it was removed since"
	case e.Before == "" && hash(now) != e.After:
		return "it was changed since"
	case e.Before == "":
		return e.remove(hooks)
	}
	before, err := os.ReadFile(e.Backup)
	if err != nil || hash(before) != e.Before {
		return "its backup is gone or was changed"
	}
	text := before
	if hash(now) != e.After {
		mended := false
		if hooks.Mend != nil {
			text, mended = hooks.Mend(e.Path, now, before)
		}
		if !mended {
			return "it was changed since"
		}
	}
	if hooks.DryRun {
		return ""
	}
	return e.restore(now, text)
}

// restore writes the text.
func (e Entry) restore(now, text []byte) (why string) {
	if err := regular.Replace(e.Path, now, text, 0o777); err != nil {
		return fmt.Sprintf("it cannot be written: %v", err)
	}
	return e.restoreMode()
}

// restoreMode gives a file that is as before its mode of before, and removes the backup.
func (e Entry) restoreMode() (why string) {
	info, err := os.Stat(e.Path)
	if err == nil && e.Mode != 0 && info.Mode().Perm() != e.Mode {
		err = os.Chmod(e.Path, e.Mode)
	}
	if err != nil {
		return fmt.Sprintf("its mode cannot be put back: %v", err)
	}
	os.Remove(e.Backup) // it may not have been written
	return ""
}

// remove removes a file that did not exist before; of a link, its target.
func (e Entry) remove(hooks Hooks) (why string) {
	if hooks.DryRun {
		return ""
	}
	if hooks.Gone != nil {
		hooks.Gone(e.Path)
	}
	path := e.Path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.Remove(path); err != nil {
		return err.Error()
	}
	return ""
}
