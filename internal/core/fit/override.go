package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Override changes what models see of a tool. Keys are the tool's own property names.
type Override struct {
	Name        string                       `json:"name,omitempty"`        // the tool's name; "": its own
	Description *string                      `json:"description,omitempty"` // nil: its own
	Hidden      bool                         `json:"hidden,omitempty"`      // the tool is not shown at all
	Rename      map[string]string            `json:"rename,omitempty"`      // property → shown name
	Describe    map[string]string            `json:"describe,omitempty"`    // property → its description
	Hide        []string                     `json:"hide,omitempty"`        // properties that are neither shown nor accepted
	Default     map[string]json.RawMessage   `json:"default,omitempty"`     // values for absent properties
	Fix         map[string]json.RawMessage   `json:"fix,omitempty"`         // fixed values, not shown
	Require     []string                     `json:"require,omitempty"`     // properties to require
	Enum        map[string][]json.RawMessage `json:"enum,omitempty"`        // the values that remain allowed
}

// Overridden is a tool as models see it. It maps arguments back to the tool's own.
type Overridden struct {
	Definition json.RawMessage // as shown; nil if the tool is hidden
	o          Override
	own        map[string]string // shown name → own name, where they differ
	names      []string          // of the tool's own properties
	alike      map[string]bool   // restricted properties, by likeness
	shown      *Tool             // fits arguments to what the model saw
}

// Apply returns the tool that models see. schema is the one in force; nil: the definition's
// own.
func (o *Override) Apply(def tool.Definition, schema json.RawMessage) (*Overridden, error) {
	out := &Overridden{o: *o, own: map[string]string{}, alike: map[string]bool{}}
	if schema == nil {
		schema = def.InputSchema()
	}
	root, _ := compile(schema)
	m := &repairer{budget: newBudget(context.Background(), len(schema)), tool: &Tool{}}
	empty := &tape{}
	if err := empty.read([]byte("{}")); err != nil {
		return nil, err
	}
	flat, _ := m.spread([]*shape{root}, empty, 0)
	for _, s := range flat {
		out.names = append(out.names, s.knownNames()...)
	}
	if err := o.check(flat, out.names); err != nil {
		return nil, fmt.Errorf("override %s: %w", def.Name, err)
	}
	for _, name := range out.names {
		if o.guarded(name) {
			out.alike[likeness(name)] = true
		}
	}
	for own, shown := range o.Rename {
		out.own[shown] = own
	}
	schema, err := o.rewrite(schema)
	if err != nil {
		return nil, fmt.Errorf("override %s: %w", def.Name, err)
	}
	out.shown, err = Compile(schema, nil)
	if err != nil || o.Hidden {
		return out, err
	}
	out.Definition = o.define(def, schema)
	return out, nil
}

// InputSchema returns the schema that is shown.
func (v *Overridden) InputSchema() json.RawMessage { return v.shown.Schema() }

// names lists all properties that the override mentions.
func (o *Override) names() []string {
	names := slices.Concat(o.Hide, o.Require)
	names = slices.AppendSeq(names, maps.Keys(o.Rename))
	names = slices.AppendSeq(names, maps.Keys(o.Describe))
	names = slices.AppendSeq(names, maps.Keys(o.Default))
	names = slices.AppendSeq(names, maps.Keys(o.Fix))
	names = slices.AppendSeq(names, maps.Keys(o.Enum))
	slices.Sort(names)
	return slices.Compact(names)
}

// check returns an error if the override does not match the tool's schema.
func (o *Override) check(flat []*shape, have []string) error {
	for _, name := range o.names() {
		if !slices.Contains(have, name) {
			hint := nameHint(name, have)
			if hint != "" {
				hint = "; " + hint
			}
			return fmt.Errorf("the tool has no property %q%s", name, hint)
		}
	}
	for _, name := range o.Hide {
		if slices.Contains(requiredNames(flat), name) && !has(o.Fix, name) && !has(o.Default, name) {
			return fmt.Errorf("hide %s: the tool requires it; give it a value with fix or default", name)
		}
		if slices.Contains(o.Require, name) {
			return fmt.Errorf("require %s: it is hidden", name)
		}
	}
	for _, name := range o.Require {
		if has(o.Fix, name) {
			return fmt.Errorf("require %s: it is fixed", name)
		}
		if has(o.Default, name) {
			return fmt.Errorf("require %s: it has a default", name)
		}
	}
	if err := o.checkNames(have); err != nil {
		return err
	}
	return o.checkValues(flat)
}

func has[V any](m map[string]V, name string) bool {
	_, ok := m[name]
	return ok
}

// checkNames refuses two properties with the same shown name.
func (o *Override) checkNames(have []string) error {
	taken := map[string]string{}
	for _, own := range have {
		shown := o.shownName(own)
		if before, twice := taken[shown]; shown == "" || twice && before != own {
			return fmt.Errorf("rename %s: the name %q is empty or taken", own, shown)
		}
		taken[shown] = own
	}
	return nil
}

// checkValues refuses values that the tool would not accept.
func (o *Override) checkValues(flat []*shape) error {
	m := &repairer{budget: newBudget(context.Background(), 1<<18), tool: &Tool{}}
	allowed := func(what, name string, raw json.RawMessage) error {
		place, _, _ := under(&m.budget, flat, name)
		t := &tape{}
		if err := t.read(raw); err != nil {
			return fmt.Errorf("%s %s: %w", what, name, err)
		}
		if !m.fits(place, t, 0, true) {
			return fmt.Errorf("%s %s: %.80s: %s", what, name, raw, explain(m.ctx, place, t, false).Problems[0])
		}
		return nil
	}
	for _, set := range []struct {
		what   string
		values map[string]json.RawMessage
	}{{"fix", o.Fix}, {"default", o.Default}} {
		for _, name := range slices.Sorted(maps.Keys(set.values)) {
			if err := allowed(set.what, name, set.values[name]); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Enum)) {
		if len(o.Enum[name]) == 0 {
			return fmt.Errorf("enum %s: no value is left", name)
		}
		for _, raw := range o.Enum[name] {
			if err := allowed("enum", name, raw); err != nil {
				return err
			}
		}
		if raw := o.Default[name]; raw != nil && !isAmong(o.Enum[name], raw) {
			return fmt.Errorf("default %s: %.80s is not among its enum", name, raw)
		}
	}
	return nil
}

// define puts the new name, description and schema into the definition.
func (o *Override) define(def tool.Definition, schema json.RawMessage) json.RawMessage {
	edited, ok := editObject(def.Raw)
	if !ok {
		return def.Raw // parsed before
	}
	if o.Name != "" {
		edited.set("name", rawjson.AppendString(nil, o.Name))
	}
	if o.Description != nil {
		edited.set("description", rawjson.AppendString(nil, *o.Description))
	}
	if o.touches() {
		edited.set("inputSchema", schema)
	}
	return edited.bytes()
}

// touches reports whether the override changes the schema.
func (o *Override) touches() bool { return len(o.names()) > 0 }
