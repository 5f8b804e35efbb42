// Package journal changes several files together, all or none, and puts them back later. What
// it is about to do is written down first, so that it can also be put back after a crash. A
// file that somebody else changed since is never overwritten.
//
//	j, err := journal.Open(path)
//	run, err := j.Apply(ours, theirs, time.Now(), check)
//	outcome, err := j.Undo(hooks)
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
)

// Change is a file before and after.
type Change struct {
	Path     string
	Old, New []byte      // Old is nil for a file that does not exist yet
	Mask     fs.FileMode // what may remain of the file's mode
}

// Entry is a change that was made, or was about to be.
type Entry struct {
	Path   string      `json:"path"`
	Before string      `json:"before,omitempty"` // hash of the file; "": there was none
	Mode   fs.FileMode `json:"mode,omitempty"`   // before
	After  string      `json:"after"`
	Backup string      `json:"backup,omitempty"` // path of the file as it was before
}

// Run is one Apply.
type Run struct {
	Begun   time.Time `json:"begun"`
	Done    bool      `json:"done"` // false while it is made or put back
	Ours    []Entry   `json:"ours"`
	Theirs  []Entry   `json:"theirs"` // they rely on ours, which are put back after them
	Folders []string  `json:"folders,omitempty"`
}

// Journal is the runs that can be put back, in a file.
type Journal struct {
	path string
	old  []byte // of the file
	runs []Run
}

// Open reads the journal at path. A missing one is empty.
func Open(path string) (*Journal, error) {
	j := &Journal{path: path}
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(old, &j.runs)
	}
	if err != nil {
		return nil, fault.New(fault.BadConfig, "the journal of setup, %s, cannot be read: %w", path, err).
			WithHint("move it away; the backups beside the changed files stay")
	}
	j.old = old
	return j, nil
}

// Last is the last run that can be put back; nil for none.
func (j *Journal) Last() *Run {
	if len(j.runs) == 0 {
		return nil
	}
	return &j.runs[len(j.runs)-1]
}

// lock keeps other processes from changing files by this journal until unlock. What another one did
// since the journal was read is a fault.Conflict.
func (j *Journal) lock() (unlock func(), err error) {
	dir := filepath.Dir(j.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("write the journal: %w", err)
	}
	unlock, err = regular.LockFolder(dir)
	if err != nil {
		return nil, fault.New(fault.Conflict, "another setup is at work: %w", err).WithHint("try again")
	}
	regular.RemoveTemp(j.path)
	now, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && !bytes.Equal(now, j.old) {
		err = fault.New(fault.Conflict, "another setup has changed files in the meantime").WithHint("try again")
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// save writes the journal; an empty one has no file.
func (j *Journal) save() error {
	if len(j.runs) == 0 {
		if err := os.Remove(j.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write the journal: %w", err)
		}
		j.old = nil
		return nil
	}
	text, err := json.MarshalIndent(j.runs, "", "  ")
	if err == nil {
		err = regular.Replace(j.path, j.old, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	j.old = text
	return nil
}

// Apply makes the changes: ours first, then theirs if the check is fine. If one fails, those
// already made are put back.
func (j *Journal) Apply(ours, theirs []Change, now time.Time, check func() error) (Run, error) {
	unlock, err := j.lock()
	if err != nil {
		return Run{}, err
	}
	defer unlock()
	run := Run{Begun: now, Ours: entries(ours, now), Theirs: entries(theirs, now)}
	all := slices.Concat(ours, theirs)
	for _, c := range all {
		run.Folders = append(run.Folders, missingFolders(filepath.Dir(c.Path), run.Folders)...)
	}
	j.runs = append(j.runs, run)
	if err := j.save(); err != nil {
		return run, err
	}
	for i, e := range slices.Concat(run.Ours, run.Theirs) {
		if e.Backup == "" {
			continue
		}
		if err := regular.WriteBackup(e.Path, e.Backup, all[i].Old); err != nil {
			if errors.Is(err, fs.ErrPermission) {
				err = fault.New(fault.BadConfig, "%w", err).WithHint("check who may write to folder %s", filepath.Dir(e.Path))
			}
			return run, j.takeBack(err, 0, 0)
		}
	}
	var others int
	own, err := write(ours)
	if err == nil {
		err = check()
	}
	if err == nil {
		others, err = write(theirs)
	}
	if err != nil {
		return run, j.takeBack(err, own, others)
	}
	j.Last().Done = true
	return *j.Last(), j.save()
}

// takeBack puts back the first changes of a run that failed.
func (j *Journal) takeBack(cause error, ours, theirs int) error {
	run := j.Last()
	unwritten := Run{Ours: run.Ours[ours:], Theirs: run.Theirs[theirs:]}
	unwritten.removeBackups()
	run.Ours = run.Ours[:ours]
	run.Theirs = run.Theirs[:theirs]
	outcome, err := j.undo(Hooks{})
	if err != nil || len(outcome.Left) > 0 {
		return fault.New(fault.BadConfig, "%w, and not all files could be put back", errors.Join(cause, err)).
			WithHint("put back the rest with: toolfit setup --undo")
	}
	var f *fault.Error
	hint := ""
	if errors.As(cause, &f) {
		hint = f.Hint
		cause = errors.New(f.Message) // the hint is not said twice
	}
	return fault.New(fault.BadConfig, "%w; every file is as it was before", cause).WithHint("%s", hint)
}

// entries are the changes as they are written down.
func entries(changes []Change, now time.Time) (all []Entry) {
	for _, c := range changes {
		e := Entry{Path: c.Path, After: hash(c.New)}
		if c.Old != nil {
			e.Before = hash(c.Old)
			e.Backup = regular.BackupPath(c.Path, now)
			if info, err := os.Stat(c.Path); err == nil { // one that is gone is noticed when it is replaced
				e.Mode = info.Mode().Perm()
			}
		}
		all = append(all, e)
	}
	return all
}

func (r *Run) removeBackups() {
	for _, e := range slices.Concat(r.Ours, r.Theirs) {
		if e.Backup != "" {
			os.Remove(e.Backup) // it may not have been written
		}
	}
}

// missingFolders are the folders up to dir that do not exist, the outermost first.
func missingFolders(dir string, known []string) (missing []string) {
	for ; !slices.Contains(known, dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = slices.Insert(missing, 0, dir)
	}
	return missing
}

// write makes the changes and returns how many it made.
func write(changes []Change) (n int, err error) {
	for i, c := range changes {
		if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
			return i, fault.New(fault.BadConfig, "cannot create the folder of %s: %w", c.Path, err)
		}
		if err := regular.Replace(c.Path, c.Old, c.New, c.Mask); err != nil {
			return i, err
		}
	}
	return len(changes), nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
