package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/schema"
)

// Changed tells whether callers see a different definition than the server's.
func (e *Entry) Changed() bool {
	return e.Paged || e.changed != nil || e.fits != nil && !same(e.fits.Schema(), e.Definition.InputSchema())
}

// Raw is the definition as the profile's callers see it, whatever the dialect.
func (e *Entry) Raw() []byte {
	switch {
	case e.Paged:
		return e.withSchema(e.paged)
	case e.changed != nil:
		if def, err := tool.ParseDefinition(e.changed.Definition); err == nil {
			return def.Renamed(e.Shown)
		}
	case e.fits != nil && e.Changed():
		return e.Definition.Shown(e.Shown, e.fits.Schema())
	}
	return e.Definition.Renamed(e.Shown)
}

// InputSchema is the schema of the arguments as the profile's callers see it, whatever the dialect.
func (e *Entry) InputSchema() json.RawMessage {
	if e.Paged {
		return e.paged
	}
	if e.changed != nil {
		return e.changed.InputSchema()
	}
	if e.fits == nil { // it cannot be fitted, and is not shown
		return e.Definition.InputSchema()
	}
	return e.fits.Schema()
}

// Description is what the profile's callers read about the tool.
func (e *Entry) Description() string {
	if e.Override != nil && e.Override.Description != nil {
		return *e.Override.Description
	}
	return e.Definition.Description()
}

func same(a, b json.RawMessage) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Fit turns a caller's arguments into those that the tool takes; they were written for the view's own schema or for a dialect.
func (v *View) Fit(ctx context.Context, e *Entry, d schema.Dialect, args json.RawMessage) (fit.Result, error) {
	t, err := v.fitter(e, d)
	if err != nil {
		return fit.Result{}, err
	}
	return t.Fit(ctx, args)
}

func (v *View) fitter(e *Entry, d schema.Dialect) (*fit.Tool, error) {
	if d == "" {
		return e.fits, nil
	}
	fitting, err := v.For(d)
	if err != nil {
		return nil, err
	}
	if t, ok := fitting.fitters.Load(e); ok {
		return t.(*fit.Tool), nil
	}
	t := e.fits
	if shown := fitting.Tool(e.Shown); shown != nil && shown.Plan != nil {
		opts := v.fit
		opts.Override = e.changed
		opts.Back = shown.Plan
		if e.of != nil {
			opts.Known = e.of.from.like.Tool(e.Definition.Name)
			opts.Taken = e.of.taken
		}
		if t, err = t.With(&opts); err != nil {
			return nil, err
		}
	}
	fitting.fitters.Store(e, t)
	return t, nil
}

// takenBy returns what a tool has taken without listing it, which all profiles share. Another schema
// begins with nothing.
func (k *known) takenBy(def tool.Definition) *fit.Taken {
	if k.taken == nil {
		k.taken = map[string]taken{}
	}
	schema := def.InputSchema()
	t := k.taken[def.Name]
	if t.Taken == nil || !bytes.Equal(t.schema, schema) {
		t = taken{schema, &fit.Taken{}}
		k.taken[def.Name] = t
	}
	return t.Taken
}

// taken is what a tool with the schema has taken without listing it.
type taken struct {
	schema json.RawMessage
	*fit.Taken
}

// Light tells whether calls are checked for required keys and types only.
func (v *View) Light() bool { return v.fit.Validation == fit.Light }

// Took notes that the tool has accepted the arguments.
func (e *Entry) Took(ctx context.Context, args json.RawMessage) { e.fits.Took(ctx, args) }

// CheckOutput checks a structured result against the tool's output schema, if it has one.
func (e *Entry) CheckOutput(ctx context.Context, structured json.RawMessage) error {
	if e.of == nil || e.of.output == nil {
		return nil
	}
	return e.of.output.Check(ctx, structured)
}

// Route finds the tool for a name from another version of a known server, and its arguments.
func (v *View) Route(shown string, args json.RawMessage) (*Entry, json.RawMessage, bool) {
	var found *Entry
	var fitted json.RawMessage
	for _, s := range v.recognized {
		raw, prefixed := strings.CutPrefix(shown, string(s.id)+"__")
		to, changed, ok := s.like.Route(raw, args)
		if !ok {
			continue
		}
		e := v.Named(tool.Canonical(s.id, to))
		switch {
		case e == nil:
		case prefixed:
			return e, changed, true
		case found != nil:
			return nil, nil, false // ambiguous: two servers match
		default:
			found = e
			fitted = changed
		}
	}
	return found, fitted, found != nil
}
