package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// Locators remember between runs how elements were found, in a readable file without refs.
type Locators struct {
	path  string
	write bool

	mu      sync.Mutex
	known   map[string]run.Remembered
	changed bool
}

// OpenLocators reads the file. It returns nil where there is none and none is to be written.
func OpenLocators(path string, write bool) (*Locators, error) {
	l := &Locators{path: path, write: write, known: map[string]run.Remembered{}}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && write:
		return l, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read locators: %w", err)
	}
	if err := json.Unmarshal(data, &l.known); err != nil {
		return nil, fmt.Errorf("read locators of %s: %w", path, err)
	}
	return l, nil
}

// Get is how an element was found before.
func (l *Locators) Get(key string) (run.Remembered, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.known[key]
	return r, ok
}

// Put remembers how an element was found, where that is wanted.
func (l *Locators) Put(key string, r run.Remembered) {
	if !l.write {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[key] = r
	l.changed = true
}

// Save writes what was learned. A reader finds the file before or the file after, never half of one.
func (l *Locators) Save() error {
	if l == nil || !l.changed {
		return nil
	}
	data, err := json.MarshalIndent(l.known, "", " ")
	if err != nil {
		return fmt.Errorf("encode locators: %w", err)
	}
	next := l.path + ".new"
	if err := os.WriteFile(next, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write locators: %w", err)
	}
	if err := os.Rename(next, l.path); err != nil {
		return errors.Join(fmt.Errorf("write locators: %w", err), os.Remove(next))
	}
	return nil
}
