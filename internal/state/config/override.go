package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
)

// Override changes tools for callers with a profile: how they are shown, which arguments are
// fixed, and what happens when a call fails.
type Override struct {
	Line    int
	Tool    string // glob on canonical names
	Profile string // "" for every profile
	fit.Override
	Descriptions map[string]string // of the tool in other languages, by language tag
	Example      json.RawMessage   // arguments of a call, for prompts; nil: none
	Retry        int               // how often a call that did not reach its server is retried
	Fallback     []Fallback        // alternatives, in order
	Detach       Detach
}

// Fallback is an alternative to a call that failed.
type Fallback struct {
	Tool string          // canonical name; "" for the same tool
	Args json.RawMessage // instead of the caller's arguments; nil for the caller's
}

// OverrideFor merges the overrides of a tool in file order; later ones win. Nil for none.
func (c *Config) OverrideFor(profile string, name tool.Name) *Override {
	var sum *Override
	for i := range c.Overrides {
		o := &c.Overrides[i]
		if o.Profile != "" && o.Profile != profile || !tool.Match(o.Tool, string(name)) {
			continue
		}
		if sum == nil {
			sum = &Override{Line: o.Line, Tool: o.Tool, Profile: o.Profile}
		}
		sum.add(o)
	}
	return sum
}

// add merges another override into o.
func (o *Override) add(more *Override) {
	o.Name = cmp.Or(more.Name, o.Name)
	o.Description = cmp.Or(more.Description, o.Description)
	o.Hidden = o.Hidden || more.Hidden
	o.Rename = joinMaps(o.Rename, more.Rename)
	o.Describe = joinMaps(o.Describe, more.Describe)
	o.Hide = append(slices.Clone(o.Hide), more.Hide...)
	o.Default = joinMaps(o.Default, more.Default)
	o.Fix = joinMaps(o.Fix, more.Fix)
	o.Require = append(slices.Clone(o.Require), more.Require...)
	o.Enum = joinMaps(o.Enum, more.Enum)
	o.Descriptions = joinMaps(o.Descriptions, more.Descriptions)
	if more.Example != nil {
		o.Example = more.Example
	}
	o.Retry = max(o.Retry, more.Retry)
	o.Fallback = append(slices.Clone(o.Fallback), more.Fallback...)
	o.Detach = cmp.Or(more.Detach, o.Detach)
}

func joinMaps[V any](a, b map[string]V) map[string]V {
	if len(a) == 0 {
		return b
	}
	sum := maps.Clone(a)
	maps.Copy(sum, b)
	return sum
}

func (c *draft) readOverrides(d *decoder, at place, n *node) {
	d.items(at, n, func(inner place, item *node) {
		o := Override{Line: inner.Line}
		if d.complete(inner, item, c.overrideFields(&o)) && o.Tool == "" {
			d.fail(inner, "needs tool: a name such as server__tool, or a glob")
		}
		c.Overrides = append(c.Overrides, o)
	})
}

func (c *draft) overrideFields(o *Override) []field {
	return []field{
		{"tool", textInto(&o.Tool, checkGlob)},
		{"profile", c.profileInto(&o.Profile)},
		{"name", textInto(&o.Name, checkShown)},
		{"describe", o.readDescribe},
		{"hide", o.readHide},
		{"rename", mapInto(&o.Rename, nil, nil, nil)},
		{"default", valuesInto(&o.Default)},
		{"fix", valuesInto(&o.Fix)},
		{"require", listInto(&o.Require, checkFilled)},
		{"enum", o.readEnum},
		{"descriptions", o.readDescriptions},
		{"example", jsonInto(&o.Example)},
		{"retry", countInto(&o.Retry, 0, maxRetries)},
		{"fallback", o.readFallback},
		{"detach", parsedInto(&o.Detach, parseDetach)},
	}
}

// maxRetries is the most retries, and the most alternatives, of a call.
const maxRetries = 5

// checkShown accepts a name that every model's provider accepts.
func checkShown(s string) string {
	if tool.Shown(s, "", "") != s {
		return "expected 1 to 64 letters, digits, - and _, not beginning with a digit or -"
	}
	return ""
}

// profileInto reads the name of a profile, which may be later in the file.
func (c *draft) profileInto(dst *string) reader {
	return func(d *decoder, at place, n *node) {
		textInto(dst, checkProfileName)(d, at, n)
		if *dst != "" && *dst != "*" {
			c.profileRefs = append(c.profileRefs, ref{at, *dst})
		}
	}
}

// readDescribe accepts text for the tool, or text for each of its properties.
func (o *Override) readDescribe(d *decoder, at place, n *node) {
	if n.Kind == doctree.Mapping {
		mapInto(&o.Describe, nil, nil, nil)(d, at, n)
		return
	}
	var s string
	textInto(&s, nil)(d, at, n)
	o.Description = &s
}

// readHide accepts true for the tool, or a list of properties.
func (o *Override) readHide(d *decoder, at place, n *node) {
	if n.Kind == doctree.List {
		listInto(&o.Hide, checkFilled)(d, at, n)
		return
	}
	boolInto(&o.Hidden)(d, at, n)
}

func (o *Override) readEnum(d *decoder, at place, n *node) {
	o.Enum = map[string][]json.RawMessage{}
	d.each(at, n, func(inner place, e entry) {
		var values []json.RawMessage
		d.items(inner, e.Value, func(_ place, item *node) { values = append(values, d.value(inner, item)) })
		if len(values) == 0 {
			d.fail(inner, "needs at least one value")
		}
		o.Enum[e.Key] = values
	})
}

// readFallback accepts names of tools, and arguments for the same tool or another.
func (o *Override) readFallback(d *decoder, at place, n *node) {
	d.items(at, n, func(inner place, item *node) {
		var f Fallback
		if item.Kind == doctree.Mapping {
			d.object(inner, item, f.fields())
		} else {
			textInto(&f.Tool, checkFilled)(d, inner, item)
		}
		if f.Tool == "" && f.Args == nil {
			d.fail(inner, "needs tool, arguments, or both")
		}
		o.Fallback = append(o.Fallback, f)
	})
	if len(o.Fallback) > maxRetries {
		d.fail(at, "has %d alternatives; keep at most %d", len(o.Fallback), maxRetries)
	}
}

func (f *Fallback) fields() []field {
	return []field{
		{"tool", textInto(&f.Tool, checkFilled)},
		{"arguments", jsonInto(&f.Args)},
	}
}

// jsonInto reads a mapping as JSON.
func jsonInto(dst *json.RawMessage) reader {
	return func(d *decoder, at place, n *node) {
		if d.expect(at, n, doctree.Mapping) {
			*dst = d.value(at, n)
		}
	}
}

func valuesInto(dst *map[string]json.RawMessage) reader {
	return func(d *decoder, at place, n *node) {
		*dst = map[string]json.RawMessage{}
		d.each(at, n, func(inner place, e entry) { (*dst)[e.Key] = d.value(inner, e.Value) })
	}
}

// value returns any value of the file as JSON, with ${} filled in.
func (d *decoder) value(at place, n *node) json.RawMessage {
	switch n.Kind {
	case doctree.Mapping:
		out := []byte{'{'}
		d.each(at, n, func(inner place, e entry) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(rawjson.AppendString(out, e.Key), ':'), d.value(inner, e.Value)...)
		})
		return append(out, '}')
	case doctree.List:
		out := []byte{'['}
		d.items(at, n, func(inner place, item *node) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, d.value(inner, item)...)
		})
		return append(out, ']')
	case doctree.Nothing:
		return json.RawMessage("null")
	case doctree.Bool, doctree.Number:
		if rawjson.Check([]byte(n.Text)) == nil {
			return json.RawMessage(n.Text)
		}
	}
	s, _, _ := d.scalar(at, n)
	return rawjson.AppendString(nil, s)
}
