package schema

import (
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxLevels limits the depth of the written schema.
const maxLevels = 512

// writer writes forms in one dialect and records the steps for Back.
type writer struct {
	tree
	r       *reader
	d       *rules
	opts    *Options
	unroll  int
	bytes   int              // limit of the output
	spent   int              // estimated bytes written so far
	rung    rung             // limits of descriptions and enums
	defs    map[*form]string // names of definitions that are kept
	bodies  []*node          // their schemas, in order of first use
	back    map[*form]int    // their steps
	stop    cut
	enums   int // enum values written so far
	steps   []step
	report  []seen
	besides map[*form]*form // the keywords beside a union, by its form
	loss    *Change         // what a strict dialect cannot express
}

// place is where a schema is written.
type place struct {
	level    int
	up       *frame
	optional bool // it can be omitted without harm
}

func (p place) below(f *form, optional bool) place {
	return place{p.level + 1, &frame{f.id(), p.up}, optional}
}

// lose records that a strict dialect cannot express this without loss.
func (w *writer) lose(f *form, kind Kind, why string) {
	if w.loss == nil {
		w.loss = &Change{f.src.Pointer(), kind, why}
	}
}

// loseCut is lose for a part that exceeds the limits.
func (w *writer) loseCut(f *form) {
	if w.d.strict {
		w.lose(f, Cut, "too deep or too large")
	}
}

func (w *writer) change(f *form, kind Kind, action string) { w.changeAt(f.src, kind, action) }

// maxReport limits how many changes one plan lists.
const maxReport = 4000

// changeAt adds to the writer's report, which is discarded with a failed attempt.
func (w *writer) changeAt(n *node, kind Kind, action string) {
	if len(w.report) == maxReport {
		n = w.r.root
		kind = TooMuch
		action = "further changes are not listed"
	} else if len(w.report) > maxReport {
		return
	}
	w.report = append(w.report, seen{n, kind, action})
}

// object returns an object with room for the usual number of members.
func (w *writer) object() *node {
	n := w.New(jsonschema.Object)
	n.Kids = w.Room(6)
	return n
}

func (w *writer) array(n int) *node {
	a := w.New(jsonschema.Array)
	a.Kids = make([]*node, 0, n)
	return a
}

func (w *writer) put(n *node, key string, value *node) *node {
	value.Key = key
	n.Kids = append(n.Kids, value)
	w.spent += len(key) + len(value.Text) + 4
	return value
}

func (w *writer) text(s string) *node { return w.literal(jsonschema.String, s) }

func (w *writer) flag(value bool) *node { return w.literal(jsonschema.Bool, strconv.FormatBool(value)) }

func (w *writer) literal(k jsonschema.Kind, s string) *node {
	n := w.New(k)
	n.Text = s
	return n
}

// texts returns a list of strings.
func (w *writer) texts(list []string) *node {
	n := w.array(len(list))
	for _, s := range list {
		n.Kids = append(n.Kids, w.text(s))
	}
	return n
}

// values returns a list of input values.
func (w *writer) values(list []*node) *node {
	n := w.array(len(list))
	for _, v := range list {
		n.Kids = append(n.Kids, w.copied(v))
	}
	return n
}

// typed returns a schema with only a type.
func (w *writer) typed(name string) *node {
	n := w.object()
	w.put(n, "type", w.text(name))
	return n
}

// insert adds a string member at an index.
func (w *writer) insert(n *node, at int, key, text string) {
	value := w.text(text)
	value.Key = key
	n.Kids = slices.Insert(n.Kids, at, value)
}

// copied copies an input value to the output. Its children are shared.
func (w *writer) copied(v *node) *node {
	n := w.New(v.Kind)
	n.Text = v.Text
	n.Kids = v.Kids
	return n
}

// schema writes f. It returns nil when f must be omitted; the caller then moves the cut to
// where it does no harm.
func (w *writer) schema(f *form, p place) (*node, int) {
	f = w.r.open(f)
	if f.never || w.loss != nil && !w.opts.Strict { // the attempt is over
		return nil, 0
	}
	id := f.id()
	if name := w.defs[id]; name != "" && p.level > 0 {
		if !w.spend(p, func() int { return len(name) + 48 }) {
			return nil, 0
		}
		return w.reference(f, id, name)
	}
	if p.level > maxLevels || w.r.Named && p.up.count(id) > w.unroll || !w.spend(p, func() int { return w.least(f) }) {
		return nil, 0
	}
	return w.body(f, p)
}

// reference writes a definition once and returns a $ref to it.
func (w *writer) reference(f, id *form, name string) (*node, int) {
	at, seen := w.back[id]
	if !seen {
		w.steps = append(w.steps, step{Kind: stepSame})
		at = len(w.steps)
		w.back[id] = at
		slot := len(w.bodies)
		w.bodies = append(w.bodies, nil)
		body, inner := w.body(id, place{level: 1})
		if body == nil {
			body, inner = w.anything(id)
		}
		body.Key = name
		w.bodies[slot] = body
		if inner > 0 {
			w.steps[at-1] = step{Kind: stepGoto, Item: inner}
		}
	}
	ref := w.object()
	w.put(ref, "$ref", w.text("#/$defs/"+name))
	if f.null && !id.null {
		return w.orNull(ref), at
	}
	if w.d.refWords && f != id && f.desc != "" && f.desc != id.desc {
		w.put(ref, "description", w.text(f.desc))
	}
	return ref, at
}

// body writes an opened form in place.
func (w *writer) body(f *form, p place) (*node, int) {
	if f.bare() {
		return w.anything(f)
	}
	if f.types == 0 && f.union == nil && !f.listed && w.d.needType {
		f = w.inferred(f)
		if f.types == 0 {
			return w.anything(f)
		}
	}
	if f.listed {
		return w.enum(f, p)
	}
	if f.union != nil {
		return w.union(f, p)
	}
	core := f.types
	if core&tNumber != 0 {
		core &^= tInteger
	}
	if !core.IsSingle() && core != 0 && !w.d.typeLists || core&(core-1) != 0 && core&tObject != 0 && w.shapes(f) {
		return w.split(f, p)
	}
	switch {
	case core == tObject && w.pairsNeeded(f):
		return w.pairs(f, p)
	case core == tObject && w.d.closed && w.freeObject(f):
		return w.freeForm(f)
	}
	out, at, ok := w.plain(f, p)
	if !ok {
		return nil, 0
	}
	return out, at
}

// plain writes types, keywords and description in one object.
func (w *writer) plain(f *form, p place) (*node, int, bool) {
	t := &part{out: w.object(), f: f, p: p, notes: slices.Clip(f.notes)}
	w.putType(t.out, f)
	words := len(t.out.Kids)
	if f.types&tObject != 0 || f.types == 0 && f.objectLike() {
		if !w.objectPart(t) {
			return nil, 0, false
		}
	}
	if f.types&tArray != 0 || f.types == 0 && (f.items != nil || f.prefix != nil) {
		if !w.arrayPart(t) {
			return nil, 0, false
		}
	}
	out := t.out
	w.keywords(out, f, &t.notes)
	w.describe(out, words, f, t.notes)
	w.nullFlag(out, f)
	at := w.step(t.back)
	if f.null && !(w.d.null == nullInList && f.types != 0) && w.d.null != nullableFlag {
		out = w.orNull(out)
	}
	return out, at, true
}

func (w *writer) nullFlag(out *node, f *form) {
	if f.null && w.d.null == nullableFlag {
		w.put(out, "nullable", w.flag(true))
	}
}

// orNull returns the union of a schema with null; the description stays outside.
func (w *writer) orNull(n *node) *node {
	if inner := n.Get("anyOf"); inner != nil {
		inner.Kids = append(inner.Kids, w.typed("null"))
		return n
	}
	out := w.object()
	list := w.put(out, "anyOf", w.array(2))
	list.Kids = append(list.Kids, n, w.typed("null"))
	if d := n.Get("description"); d != nil && !w.d.aloneWords {
		n.Kids = slices.DeleteFunc(n.Kids, func(k *node) bool { return k == d })
		out.Kids = append(out.Kids, d)
	}
	return out
}

func (w *writer) putType(out *node, f *form) {
	if f.types == 0 {
		return
	}
	names := f.types.Names()
	if f.null && w.d.null == nullInList {
		names = append(names, "null")
	}
	if len(names) == 1 {
		w.put(out, "type", w.text(names[0]))
		return
	}
	w.put(out, "type", w.texts(names))
}

// step records a step and returns its number; 0 means nothing to do.
func (w *writer) step(s step) int {
	if s.Kind == stepSame {
		return 0
	}
	w.steps = append(w.steps, s)
	return len(w.steps)
}
