package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// fitters fit arguments to a tool: as the tool itself takes them, and for each dialect in use.
type fitters struct {
	own       *fit.Tool
	byDialect sync.Map // schema.Dialect → *fit.Tool
	output    *fit.Tool
	taken     *fit.Taken
}

// recognized is a known server: one about which more is known than its schemas say.
type recognized struct {
	id   tool.ServerID
	like *fit.Server
}

// recognize finds the known server that has these tools.
func (k *known) recognize(kinds []*fit.Known) {
	names := make([]string, len(k.offer.Tools))
	for i, def := range k.offer.Tools {
		names[i] = def.Name
	}
	k.like = fit.Recognize(kinds, names)
}

// addTool adds a tool as the profile's callers see it. If its override cannot be applied it is left
// out: what it binds or hides must not leak.
func (v *View) addTool(cfg *config.Config, e *Entry, s *known) {
	e.fitters.taken = s.takenBy(e.Definition)
	opts := v.fit
	opts.Name = e.Definition.Name
	opts.Known = s.like.Tool(e.Definition.Name)
	opts.Taken = e.fitters.taken
	own, err := fit.Compile(e.Definition.InputSchema(), &opts)
	if e.Override = cfg.OverrideFor(v.Profile, e.Name); err == nil && e.Override != nil {
		if e.Override.Hidden {
			v.leaveOut(e.Server, e.Definition.Name, Hidden)
			return
		}
		e.Detach = cmp.Or(e.Override.Detach, e.Detach)
		if e.changed, err = e.Override.Apply(e.Definition, own.Schema()); err == nil {
			opts.Override = e.changed
			own, err = own.With(&opts)
		}
	}
	if err != nil {
		v.refuse(string(e.Name), err.Error())
		v.leaveOut(e.Server, e.Definition.Name, BadOverride)
		return
	}
	e.fitters.own = own
	if v.paging {
		e.paged, e.Paged = withPaging(e.InputSchema())
	}
	if output := e.Definition.OutputSchema(); output != nil {
		e.fitters.output, _ = fit.Compile(output, nil) // never fails without options
	}
	v.Entries = append(v.Entries, e)
}

// Changed tells whether callers see a different definition than the server's.
func (e *Entry) Changed() bool {
	return e.Paged || e.changed != nil || !same(e.fitters.own.Schema(), e.Definition.InputSchema())
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
	case e.fitters.own != nil && e.Changed():
		return e.Definition.Shown(e.Shown, e.fitters.own.Schema())
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
	return e.fitters.own.Schema()
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
		return e.fitters.own, nil
	}
	if t, ok := e.fitters.byDialect.Load(d); ok {
		return t.(*fit.Tool), nil
	}
	fitting, err := v.For(d)
	if err != nil {
		return nil, err
	}
	t := e.fitters.own
	if shown := fitting.Tool(e.Shown); shown != nil && shown.Plan != nil {
		opts := v.fit
		opts.Known = v.like(e)
		opts.Override = e.changed
		opts.Taken = e.fitters.taken
		opts.Back = shown.Plan
		if t, err = t.With(&opts); err != nil {
			return nil, err
		}
	}
	e.fitters.byDialect.Store(d, t)
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
func (e *Entry) Took(ctx context.Context, args json.RawMessage) { e.fitters.own.Took(ctx, args) }

// like is what is known about a tool apart from its schema.
func (v *View) like(e *Entry) *fit.KnownTool {
	for _, s := range v.recognized {
		if s.id == e.Server {
			return s.like.Tool(e.Definition.Name)
		}
	}
	return nil
}

// CheckOutput checks a structured result against the tool's output schema, if it has one.
func (e *Entry) CheckOutput(ctx context.Context, structured json.RawMessage) error {
	if e.fitters.output == nil {
		return nil
	}
	return e.fitters.output.Check(ctx, structured)
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
		e := v.byName[tool.Canonical(s.id, to)]
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

// Named returns the profile's tool with the canonical name.
func (v *View) Named(name tool.Name) *Entry { return v.byName[name] }
