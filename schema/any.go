package schema

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// needsOthers are keywords that have no meaning on their own.
var needsOthers = set("minContains maxContains unevaluatedItems dependencies unevaluatedProperties")

// inferred adds the type that the keywords of f apply to.
func (w *writer) inferred(f *form) *form {
	c := f.copy()
	c.base = f.id()
	switch {
	case len(f.props) > 0 || f.more != nil || len(f.required) > 0 || len(f.patterns) > 0 || f.names != nil:
		c.types = tObject
	case f.items != nil || f.prefix != nil:
		c.types = tArray
	}
	for _, n := range f.rest {
		if about := jsonschema.Keywords[n.Key].Types; c.types == 0 && about != 0 && !needsOthers[n.Key] {
			c.types = jsonschema.TypeNamed(about.Names()[0])
		}
	}
	if c.types != 0 && w.d.strict && len(f.props) == 0 { // properties already imply an object
		w.lose(f, BadType, "no type is given")
	}
	return c
}

// anything writes a schema that accepts any value.
func (w *writer) anything(f *form) (*node, int) {
	out := w.object()
	notes := f.notes
	switch w.d.any {
	case anyTypeList:
		w.put(out, "type", w.texts([]string{"string", "number", "boolean", "object", "array", "null"}))
		if f.desc == "" && len(notes) == 0 && w.rung.words > 0 {
			notes = []string{"Any JSON value"}
		}
	case anyJSON:
		return w.jsonText(f, "JSON value")
	case anyRefused:
		if w.opts.JSONText {
			return w.jsonText(f, "JSON value")
		}
		w.lose(f, NotASchema, "any value is accepted")
	}
	at := len(out.Kids)
	notes = slices.Clip(notes)
	w.keywords(out, f, &notes)
	w.describe(out, at, f, notes)
	if w.d.any == anyTypeList && out.Get("description") == nil { // a list of all types needs a description
		w.put(out, "description", w.text("Any JSON value"))
	}
	return out, 0
}

// jsonText writes a string that contains JSON.
func (w *writer) jsonText(f *form, what string) (*node, int) {
	out := w.typed("string")
	notes := slices.Clip(f.notes)
	for _, n := range f.rest {
		w.note(f, n, &notes)
	}
	w.describe(out, 1, f, append(notes, what))
	w.change(f, AsJSON, "sent as JSON text")
	return out, w.step(step{Kind: stepJSON})
}
