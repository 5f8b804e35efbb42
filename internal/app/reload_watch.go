package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
)

const (
	// settle is how long a file must be quiet before it is read: editors write in steps.
	settle = 200 * time.Millisecond
	// lookEvery is how often the file is looked at without a cause, for file systems that
	// tell nobody of a change.
	lookEvery = 15 * time.Second
	// maxRead is more than a configuration may have.
	maxRead = 8 << 20
)

// Watch puts the configuration in force again when its file has changed, and whenever
// something comes from again, until ctx ends. A file that is wrong is refused with one line
// in the log, and what is in force stays so.
func (a *App) Watch(ctx context.Context, again <-chan os.Signal, load func() (*config.Config, error)) {
	f := newFileWatch(a.Config().Path)
	defer f.close()
	if f.err != nil {
		a.log.Warn("changes of the configuration are seen late", "error", f.err, "every", lookEvery)
	}
	f.changed()
	a.reloadFrom(load) // it may have changed since it was read
	quiet := time.NewTimer(settle)
	quiet.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-f.events:
			if f.concerns(e.Name) {
				quiet.Reset(settle)
			}
			continue
		case <-f.errors: // some events may be lost
			quiet.Reset(settle)
			continue
		case <-again: // also when the text is the same: files that it names may have changed
			f.changed()
			a.reloadFrom(load)
			continue
		case <-quiet.C:
		case <-tick.C:
		}
		if f.changed() {
			a.reloadFrom(load)
		}
	}
}

// reloadFrom loads and applies the configuration and says in one line what came of it.
func (a *App) reloadFrom(load func() (*config.Config, error)) {
	cfg, err := load()
	if err != nil {
		a.log.Error("configuration refused, the old one stays in force", "error", firstProblem(err))
		return
	}
	change := a.Reload(cfg)
	if len(change.Restart) > 0 {
		a.log.Warn("restart to change these settings", "settings", strings.Join(change.Restart, " "))
	}
	if change.Quiet() {
		return
	}
	var attrs []any
	add := func(name string, list any, n int) {
		if n > 0 {
			attrs = append(attrs, name, strings.Trim(fmt.Sprint(list), "[]"))
		}
	}
	add("added", change.Added, len(change.Added))
	add("removed", change.Removed, len(change.Removed))
	add("changed", change.Changed, len(change.Changed))
	add("settings", change.Settings, len(change.Settings))
	a.log.Info("configuration reloaded", attrs...)
}

// firstProblem is one line of an error that may have many.
func firstProblem(err error) string {
	text := err.Error()
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		text = f.Error()
	}
	first, rest, more := strings.Cut(text, "\n")
	if more {
		first += fmt.Sprintf(" (and %d more; see: toolfit doctor)", 1+strings.Count(rest, "\n"))
	}
	return first
}

// fileWatch hears of changes of a file, and of the links that lead to it. The folders are
// watched, not the file: an editor puts a new file in the place of the old one, and a
// mounted config map swaps the link ..data beside it.
type fileWatch struct {
	path   string
	notify *fsnotify.Watcher // nil where the system gives none
	events <-chan fsnotify.Event
	errors <-chan error
	err    error // why there is no notify

	folders map[string]bool // watched
	names   map[string]bool // of the file and of the links to it
	seen    string          // what the file held when it was last looked at
}

func newFileWatch(path string) *fileWatch {
	f := &fileWatch{path: path, folders: map[string]bool{}}
	if f.notify, f.err = fsnotify.NewWatcher(); f.err == nil {
		f.events, f.errors = f.notify.Events, f.notify.Errors
	}
	return f
}

func (f *fileWatch) close() {
	if f.notify != nil {
		f.notify.Close()
	}
}

// concerns tells whether an event may be about the file. Its folder often holds the store
// too, which is written to all the time.
func (f *fileWatch) concerns(name string) bool {
	base := filepath.Base(name)
	return f.names[base] || strings.HasPrefix(base, "..")
}

// changed tells whether the file holds something else than when it was last asked.
func (f *fileWatch) changed() bool {
	f.follow() // before reading: what changes from here on is heard
	now := fingerprint(f.path)
	was := f.seen
	f.seen = now
	return now != was
}

// follow watches the folders of the file and of every link on the way to it.
func (f *fileWatch) follow() {
	folders := map[string]bool{}
	f.names = map[string]bool{}
	path := f.path
	for range 40 {
		f.names[filepath.Base(path)] = true
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			folders[dir] = true
		}
		to, err := os.Readlink(path)
		if err != nil {
			break // no link, or nothing
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	if f.notify == nil {
		return
	}
	for dir := range folders {
		// Also one that is watched: it may be another folder of the same name.
		f.err = f.notify.Add(dir)
	}
	for dir := range f.folders {
		if !folders[dir] {
			_ = f.notify.Remove(dir) // a folder that is gone is watched no more
		}
	}
	f.folders = folders
}

// fingerprint stands for what a file holds, or for why it cannot be read.
func fingerprint(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(file, maxRead)); err != nil {
		return err.Error()
	}
	return string(h.Sum(nil))
}
