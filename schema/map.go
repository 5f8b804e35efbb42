package schema

import (
	"slices"
)

// shapes reports whether the dialect writes the object in a different shape.
func (w *writer) shapes(f *form) bool {
	return w.pairsNeeded(f) || w.d.closed && w.freeObject(f)
}

// pairsNeeded reports whether f is a map that the dialect cannot express.
func (w *writer) pairsNeeded(f *form) bool {
	if w.d.maps || len(f.props) > 0 || len(f.required) > 0 {
		return false
	}
	if f.names != nil && w.r.open(f.names).listed {
		return false
	}
	if len(f.patterns) > 0 {
		return true
	}
	if f.more == nil {
		return false
	}
	m := w.r.open(f.more)
	return !m.never && !m.bare()
}

// freeObject reports whether f accepts any object.
func (w *writer) freeObject(f *form) bool {
	if len(f.props) > 0 || len(f.patterns) > 0 || len(f.required) > 0 || f.names != nil {
		return false
	}
	return f.more == nil || w.r.open(f.more).bare()
}

// freeForm writes an object without known properties for a dialect where all properties must
// be known.
func (w *writer) freeForm(f *form) (*node, int) {
	if w.opts.JSONText {
		n, at := w.jsonText(f, "JSON object")
		if f.null {
			n = w.orNull(n)
		}
		return n, at
	}
	w.lose(f, Closed, "any object is accepted")
	return w.anything(f)
}

// pairs writes a map as a list of key-value pairs.
func (w *writer) pairs(f *form, p place) (*node, int) {
	notes := slices.Clip(f.notes)
	value := f.more
	if len(f.patterns) > 0 {
		value = w.fold(f, &notes)
	}
	v, at := w.schema(value, p.below(f, true))
	if v == nil {
		w.loseCut(f)
		return nil, 0
	}
	item := w.typed("object")
	members := w.put(item, "properties", w.object())
	w.put(members, "key", w.typed("string"))
	w.put(members, "value", v)
	w.put(item, "required", w.texts([]string{"key", "value"}))
	if w.d.closed {
		w.put(item, "additionalProperties", w.flag(false))
	}
	out := w.object()
	w.putType(out, &form{types: tArray, null: f.null})
	at0 := len(out.Kids)
	w.put(out, "items", item)
	for _, n := range f.rest {
		w.note(f, n, &notes)
	}
	w.describe(out, at0, f, notes)
	w.nullFlag(out, f)
	w.change(f, AsPairs, "sent as a list of key and value")
	back := w.step(step{Kind: stepPairs, Item: at})
	if f.null && w.d.null == nullInUnion {
		out = w.orNull(out)
	}
	return out, back
}
