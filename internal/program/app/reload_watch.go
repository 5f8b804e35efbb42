package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	// quietTime is how long a file must be unchanged before it is read: editors write in steps.
	quietTime = 200 * time.Millisecond
	// pollInterval is for file systems that do not report changes.
	pollInterval = 15 * time.Second
	// maxRead is more than a configuration may have.
	maxRead = 8 << 20
)

// Watch reloads the configuration when its file changes, and when again receives, until ctx ends. An
// invalid file is logged in one line, and the configuration in force stays. It returns when ctx ends
// even if the file system hangs; nothing is applied after that.
func (s *settings) Watch(ctx context.Context, again <-chan os.Signal, load func() (*config.Config, error)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.watch(ctx, again, load)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s.reloading.Lock() // waits for a reload in progress
		defer s.reloading.Unlock()
	}
}

func (s *settings) watch(ctx context.Context, again <-chan os.Signal, load func() (*config.Config, error)) {
	f := newFileWatch(s.Config().Path)
	defer f.close()
	if f.err != nil {
		s.log.Warn("changes of the configuration are seen late", "error", f.err, "every", pollInterval)
	}
	quiet := time.NewTimer(quietTime)
	quiet.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var waiting []chan struct{} // for the file to be in force
	reload := func() bool {
		done := s.reloadFrom(ctx, f, load)
		if !done {
			quiet.Reset(quietTime)
		} else if f.good == f.seen {
			s.noteFile(ctx, f.path, f.good)
		}
		return done
	}
	f.changed()
	reload() // it may have changed since it was read
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-f.events:
			if f.isAbout(e.Name) {
				quiet.Reset(quietTime)
			}
			continue
		case <-f.errors: // some events may be lost
			quiet.Reset(quietTime)
			continue
		case <-again: // also when the text is the same: files that it names may have changed
			f.changed()
			reload()
			continue
		case looked := <-s.looks:
			waiting = append(waiting, looked)
		case <-quiet.C:
		case <-tick.C:
		}
		switch {
		case f.justWritten(): // it may still be being written
			quiet.Reset(quietTime)
			continue
		case f.changed() && !reload():
			continue
		}
		for _, looked := range waiting {
			close(looked)
		}
		waiting = nil
	}
}

// reloadFrom loads and applies the configuration and logs the outcome in one line. It does nothing and
// returns false if the file changed while it was read: half a configuration is often valid too.
func (s *settings) reloadFrom(ctx context.Context, f *fileWatch, load func() (*config.Config, error)) bool {
	cfg, err := load()
	if contents(f.path) != f.seen {
		return false
	}
	switch { // a full disk leaves such files by accident
	case err != nil:
	case f.seen == "" && s.fileHasServers():
		err = fault.New(fault.BadConfig, "%s is empty", f.path)
	case isCut(f.good, f.seen):
		err = fault.New(fault.BadConfig, "%s ends in the middle of a line of the one in force: it looks cut off", f.path).
			WithHint("if it is meant, end its last line with a line break")
	}
	if err != nil {
		s.log.Error("configuration refused, the old one stays in force", "error", firstProblem(err))
		return true
	}
	f.good = f.seen
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if ctx.Err() == nil {
		s.logChange(s.apply(cfg))
	}
	return true
}

// isCut tells whether the text is the beginning of whole and ends within a line of it.
func isCut(whole, text string) bool {
	rest, isPart := strings.CutPrefix(whole, text)
	return isPart && rest != "" && !strings.HasSuffix(text, "\n") && rest[0] != '\n' && rest[0] != '\r'
}

// fileHasServers tells whether the file in force has servers.
func (s *settings) fileHasServers() bool {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	return len(s.file.Servers) > 0
}

// logChange logs in one line what a reload changed.
func (s *settings) logChange(change Change) {
	if len(change.Restart) > 0 {
		s.log.Warn("restart to change these settings", "settings", strings.Join(change.Restart, " "))
	}
	if change.Quiet() {
		return
	}
	var attrs []any
	for i, list := range []any{change.Added, change.Removed, change.Changed, change.Settings} {
		if text := strings.Trim(fmt.Sprint(list), "[]"); text != "" {
			attrs = append(attrs, []string{"added", "removed", "changed", "settings"}[i], text)
		}
	}
	s.log.Info("configuration reloaded", attrs...)
}

// firstProblem is the first line of an error, with the number of the others.
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

// fileWatch reports changes of a file and of the links to it. It watches their folders: an editor
// replaces the file, and a mounted config map swaps the link ..data next to it.
type fileWatch struct {
	path   string
	notify *fsnotify.Watcher // nil if the system does not support it
	events <-chan fsnotify.Event
	errors <-chan error
	err    error // why there is no notify

	folders map[string]bool // watched
	names   map[string]bool // of the file and of the links to it
	seen    string          // what the file held when it was last looked at
	good    string          // what it held when it was last put in force
}

func newFileWatch(path string) *fileWatch {
	f := &fileWatch{path: path, folders: map[string]bool{}}
	f.notify, f.err = fsnotify.NewWatcher()
	if f.err == nil {
		f.events = f.notify.Events
		f.errors = f.notify.Errors
	}
	return f
}

func (f *fileWatch) close() {
	if f.notify != nil {
		f.notify.Close()
	}
}

// isAbout tells whether an event may be about the file: its folder often has the store too, which
// changes all the time.
func (f *fileWatch) isAbout(name string) bool {
	base := filepath.Base(name)
	return f.names[base] || strings.HasPrefix(base, "..")
}

// changed tells whether the file has changed since the last call.
func (f *fileWatch) changed() bool {
	f.follow() // before reading, so that no later change is missed
	was := f.seen
	f.seen = contents(f.path)
	return f.seen != was
}

// justWritten tells whether the file was written a moment ago, so that its writer may not be done.
func (f *fileWatch) justWritten() bool {
	info, err := os.Stat(f.path)
	if err != nil {
		return false
	}
	age := time.Since(info.ModTime())
	return age >= 0 && age < quietTime // a clock that is behind must not keep the file out for good
}

// follow watches the folders of the file and of every link to it.
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
			break // not a link, or it does not exist
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
			_ = f.notify.Remove(dir) // a deleted folder is no longer watched
		}
	}
	f.folders = folders
}

// contents is the text of a file, or why it cannot be read.
func contents(path string) string {
	file, err := regular.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxRead))
	if err != nil {
		return err.Error()
	}
	return string(text)
}
