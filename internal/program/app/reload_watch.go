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
//
// It returns when ctx ends, also while a file cannot be read to its end, as on a file system
// that hangs; nothing is put in force after that.
func (s *settings) Watch(ctx context.Context, again <-chan os.Signal, load func() (*config.Config, error)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.watch(ctx, again, load)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s.reloading.Lock() // until what is being put in force is
		defer s.reloading.Unlock()
	}
}

func (s *settings) watch(ctx context.Context, again <-chan os.Signal, load func() (*config.Config, error)) {
	f := newFileWatch(s.Config().Path)
	defer f.close()
	if f.err != nil {
		s.log.Warn("changes of the configuration are seen late", "error", f.err, "every", lookEvery)
	}
	quiet := time.NewTimer(settle)
	quiet.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var waiting []chan struct{} // for the file to be in force
	reload := func() bool {
		done := s.reloadFrom(ctx, f, load)
		if !done {
			quiet.Reset(settle)
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
			if f.concerns(e.Name) {
				quiet.Reset(settle)
			}
			continue
		case <-f.errors: // some events may be lost
			quiet.Reset(settle)
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
		case f.young(): // whoever writes it may not be done
			quiet.Reset(settle)
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

// reloadFrom loads and applies the configuration and says in one line what came of it. It
// gives false, and has done nothing, when the file changed while it was read: half a
// configuration is often one as well.
func (s *settings) reloadFrom(ctx context.Context, f *fileWatch, load func() (*config.Config, error)) bool {
	cfg, err := load()
	if contents(f.path) != f.seen {
		return false
	}
	switch { // a full disk leaves such files, and nobody means them
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

// isCut tells whether the text is the beginning of the other and ends within a line of it.
func isCut(whole, text string) bool {
	rest, isPart := strings.CutPrefix(whole, text)
	return isPart && rest != "" && !strings.HasSuffix(text, "\n") && rest[0] != '\n' && rest[0] != '\r'
}

// fileHasServers tells whether servers of the file are in force.
func (s *settings) fileHasServers() bool {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	return len(s.file.Servers) > 0
}

// logChange says in one line what a reload changed.
func (s *settings) logChange(change Change) {
	if len(change.Restart) > 0 {
		s.log.Warn("restart to change these settings", "settings", strings.Join(change.Restart, " "))
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
	s.log.Info("configuration reloaded", attrs...)
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
	good    string          // what it held when it was last put in force
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
	was := f.seen
	f.seen = contents(f.path)
	return f.seen != was
}

// young tells whether the file was written to just now. Not every change has been heard of
// by the time that it is looked at, and some file systems tell of none.
func (f *fileWatch) young() bool {
	info, err := os.Stat(f.path)
	if err != nil {
		return false
	}
	age := time.Since(info.ModTime())
	return age >= 0 && age < settle // a clock that is behind must not keep the file out for good
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

// contents is what a file holds, or why it cannot be read.
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
