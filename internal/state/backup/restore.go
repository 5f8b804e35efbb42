package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Target is where a backup is restored to.
type Target struct {
	Store  string // the path of the store
	Config string // the path of the configuration; "": it is left in the backup
	Aside  string // what is there already gets this after its name
}

// StoreAt is where the store goes if the configuration is at that path and nobody says otherwise; "" if it was somewhere
// else than in the folder of its configuration: a backup must not choose any place of a machine.
func (m *Manifest) StoreAt(config string) string {
	if !isLocal(m.Store) {
		return ""
	}
	return filepath.Join(filepath.Dir(config), filepath.FromSlash(m.Store))
}

// Done is what Restore did.
type Done struct {
	Restored []string `json:"restored"`        // paths
	Aside    []string `json:"aside,omitempty"` // what was there before, under its new name
	Swapped  bool     `json:"-"`               // something was put in place
}

// Restore puts the store and the configuration of a backup that Verify has read in place. Everything is unpacked and
// verified beside the store first; what is there is renamed. If another process has the store open, it is a
// fault.Conflict, and nothing has changed.
func Restore(ctx context.Context, path string, m *Manifest, to Target) (done Done, err error) {
	if err := store.TakeAlone(ctx, to.Store); err != nil {
		return done, err
	}
	scratch := to.Store + ".restoring"
	if err := os.RemoveAll(scratch); err != nil { // of one that was killed
		return done, err
	}
	for _, folder := range []string{filepath.Dir(to.Store), scratch, filepath.Join(scratch, resultsName), filepath.Join(scratch, configName)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return done, fault.New(fault.BadConfig, "cannot unpack the backup: %w", err).WithHint("check who may write there")
		}
	}
	defer func() {
		if err == nil || !done.Swapped {
			err = errors.Join(err, os.RemoveAll(scratch))
		}
	}()
	again, err := read(ctx, path, func(name string, from io.Reader) error { return unpack(scratch, name, from) })
	if err != nil {
		return done, err
	}
	if !slices.Equal(again.Entries, m.Entries) {
		return done, broken("%s was replaced while it was read", path)
	}
	n, err := store.Inspect(ctx, filepath.Join(scratch, storeName))
	if err == nil && (n.Version != m.Schema || n.Oldest != m.Oldest) {
		err = broken("the store in %s is not the one that its manifest describes", path)
	}
	if err == nil {
		err = store.TakeAlone(ctx, to.Store) // it may have taken a while
	}
	if err != nil {
		return done, err
	}
	return done, done.swapAll(scratch, m, to)
}

// unpack writes an entry to the scratch folder, and to the disk.
func unpack(scratch, name string, from io.Reader) error {
	path := filepath.Join(scratch, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = broken("the backup is not whole")
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// swapAll puts everything in place: the store last, so that one who is killed before has the old one.
func (d *Done) swapAll(scratch string, m *Manifest, to Target) error {
	if to.Config != "" {
		for _, name := range m.Files() {
			target := filepath.Join(filepath.Dir(to.Config), filepath.FromSlash(name))
			if configName+name == m.Config {
				target = to.Config
			}
			if err := d.swap(filepath.Join(scratch, configName, filepath.FromSlash(name)), target, to.Aside); err != nil {
				return err
			}
		}
	}
	if err := d.swap(filepath.Join(scratch, resultsName), store.ResultsFolder(to.Store), to.Aside); err != nil {
		return err
	}
	for _, journal := range []string{"-wal", "-shm", "-journal"} { // of a store that could not be opened: beside another one it would do harm
		if err := d.putAside(to.Store+journal, to.Store+to.Aside+journal); err != nil {
			return err
		}
	}
	return d.swap(filepath.Join(scratch, storeName), to.Store, to.Aside)
}

// swap puts a file or folder in place of another, which keeps its content under another name.
func (d *Done) swap(from, target, aside string) error {
	if same(from, target) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	// A second name first: at no time is there none.
	if err := os.Link(target, target+aside); err == nil {
		d.Aside = append(d.Aside, target+aside)
	} else if err := d.putAside(target, target+aside); err != nil {
		return err
	}
	if err := move(from, target); err != nil {
		return err
	}
	d.Swapped = true
	d.Restored = append(d.Restored, target)
	return nil
}

// move renames a file or folder. The configuration may be on another file system than the store: it is copied beside its place
// first.
func move(from, target string) error {
	err := os.Rename(from, target)
	if err == nil {
		return nil
	}
	f, failed := regular.Open(from)
	if failed != nil { // the folder of results is beside the store, so it is something else
		return err
	}
	defer f.Close()
	beside := target + ".restoring"
	os.Remove(beside) // of one that was killed
	if err := unpack(filepath.Dir(beside), filepath.Base(beside), f); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return os.Rename(beside, target)
}

// putAside renames what is there, if there is something.
func (d *Done) putAside(path, to string) error {
	err := os.Rename(path, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		d.Swapped = true
		d.Aside = append(d.Aside, to)
	}
	return err
}

// same tells whether two small files are equal: those need not be replaced.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil || one.Size() > maxConfig || strings.HasSuffix(a, storeName) || one.IsDir() {
		return false
	}
	first, err := os.ReadFile(a)
	if err != nil {
		return false
	}
	second, err := os.ReadFile(b)
	return err == nil && string(first) == string(second)
}
