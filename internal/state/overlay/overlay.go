// Package overlay combines the entries of the configuration file with those of the store, for
// everything that can be in either: servers, result rules and agents. Where two have the same
// id, the file wins over the store, and the store over what is built in. An entry of the store
// that cannot be used leaves the others alone.
//
//	agents := overlay.New(overlay.Kind[config.Agent]{Name: "agent", …}, log, redact)
//	changed, err := agents.Read(ctx)
//	cfg.Agents = agents.Apply(cfg, cfg.Agents, nil)
package overlay

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Kind is what differs between servers, rules and agents. All fields are needed.
type Kind[T any] struct {
	Name   string         // such as "server", for the log
	ID     func(T) string // of an entry of the file
	Rows   func(context.Context) ([]store.Document, error)
	Parse  func(row store.Document, file *config.Config) (T, error)
	Delete func(ctx context.Context, id string) error
	// The errors for an id that the file has, that only the file has or is built in, and that
	// nobody has; and the warning when one of that id stays after the stored one is deleted.
	InFile, NotStored, Unknown func(id string) error
	Stays                      string
}

// Entry is an entry and how it stands.
type Entry[T any] struct {
	ID      string
	Value   T
	Source  project.Source
	Row     store.Document // of an entry of the store
	Problem string         // why it cannot be used; "" if it can
	Hidden  bool           // another entry with the same id wins
}

// Overlay holds the entries of one kind. Its user makes sure that only one goroutine at a time
// calls a method other than Entries.
type Overlay[T any] struct {
	kind    Kind[T]
	log     *slog.Logger
	redact  func(string) string
	rows    []store.Document
	entries atomic.Pointer[[]Entry[T]]
}

// New makes an overlay without entries. Problems are logged and shown without secrets.
func New[T any](kind Kind[T], log *slog.Logger, redact func(string) string) *Overlay[T] {
	o := &Overlay[T]{kind: kind, log: log, redact: redact}
	o.entries.Store(new([]Entry[T]))
	return o
}

// Read reads the store again and returns the ids that were added, changed or deleted since the
// last time, sorted. Apply then takes them in.
func (o *Overlay[T]) Read(ctx context.Context) (changed []string, err error) {
	rows, err := o.kind.Rows(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range slices.Concat(o.rows, rows) {
		same := func(other store.Document) bool {
			return other.ID == row.ID && other.Version == row.Version && other.CreatedAt.Equal(row.CreatedAt)
		}
		if !slices.ContainsFunc(o.rows, same) || !slices.ContainsFunc(rows, same) {
			changed = append(changed, row.ID)
		}
	}
	o.rows = rows
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// Apply combines the entries of the file with those of the store and the built-in ones, in this
// order, and returns those in force. The log says which of the store are not.
func (o *Overlay[T]) Apply(file *config.Config, ofFile, builtin []T) (inForce []T) {
	var entries []Entry[T]
	taken := map[string]bool{}
	add := func(e Entry[T]) {
		e.Hidden = taken[e.ID]
		if e.Problem == "" {
			taken[e.ID] = true
		}
		if e.Problem == "" && !e.Hidden {
			inForce = append(inForce, e.Value)
		}
		entries = append(entries, e)
	}
	for _, v := range ofFile {
		add(Entry[T]{ID: o.kind.ID(v), Value: v, Source: project.File})
	}
	for _, row := range o.rows {
		e := Entry[T]{ID: row.ID, Row: row, Source: project.Store}
		var err error
		e.Value, err = o.kind.Parse(row, file)
		if err != nil {
			e.Problem = o.redact(fault.As(err).Error())
		}
		add(e)
	}
	for _, v := range builtin {
		add(Entry[T]{ID: o.kind.ID(v), Value: v, Source: project.Builtin})
	}
	o.warn(*o.entries.Swap(&entries), entries)
	return inForce
}

// warn logs why entries of the store are not in force, unless it was the same before.
func (o *Overlay[T]) warn(before, now []Entry[T]) {
	for _, e := range now {
		same := func(old Entry[T]) bool {
			return old.ID == e.ID && old.Source == e.Source && old.Problem == e.Problem && old.Hidden == e.Hidden
		}
		switch {
		case e.Source != project.Store || slices.ContainsFunc(before, same):
		case e.Problem != "":
			o.log.Warn(o.kind.Name+" of the store left out", o.kind.Name, e.ID, "error", e.Problem)
		case e.Hidden:
			o.log.Warn("the file and the store both have this "+o.kind.Name+"; the file wins", o.kind.Name, e.ID)
		}
	}
}

// Entries returns all entries, also those that are not in force, as of the last Apply. It is
// read-only.
func (o *Overlay[T]) Entries() []Entry[T] { return *o.entries.Load() }

// Find returns the entry of the store with this id, or else nil.
func (o *Overlay[T]) Find(id string) *Entry[T] {
	entries := o.Entries()
	i := slices.IndexFunc(entries, func(e Entry[T]) bool { return e.ID == id && e.Source == project.Store })
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// Stored tells whether the store had an entry with this id at the last Read.
func (o *Overlay[T]) Stored(id string) bool {
	return slices.ContainsFunc(o.rows, func(row store.Document) bool { return row.ID == id })
}

// CheckNotInFile returns an error if the file has an entry with this id.
func (o *Overlay[T]) CheckNotInFile(id string) error {
	if slices.ContainsFunc(o.Entries(), func(e Entry[T]) bool { return e.ID == id && e.Source == project.File }) {
		return o.kind.InFile(id)
	}
	return nil
}

// Changeable returns the entry of the store with this id, or an error if there is none or another
// one wins.
func (o *Overlay[T]) Changeable(id string) (*Entry[T], error) {
	e := o.Find(id)
	switch {
	case e != nil && !e.Hidden:
		return e, nil
	case slices.ContainsFunc(o.Entries(), func(e Entry[T]) bool { return e.ID == id }):
		return nil, o.kind.NotStored(id)
	}
	return nil, o.kind.Unknown(id)
}

// Delete deletes the entry from the store. The warning says that one of the same id, of the file
// or built in, stays.
func (o *Overlay[T]) Delete(ctx context.Context, id string) (warning string, err error) {
	stays := slices.ContainsFunc(o.Entries(), func(e Entry[T]) bool { return e.ID == id && e.Source != project.Store })
	err = o.kind.Delete(ctx, id)
	switch {
	case fault.Is(err, fault.NotFound) && stays:
		return "", o.kind.NotStored(id)
	case fault.Is(err, fault.NotFound):
		return "", o.kind.Unknown(id)
	case err == nil && stays:
		warning = o.kind.Stays
	}
	return warning, err
}
