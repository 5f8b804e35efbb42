package fit

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// edit replaces a range of bytes.
type edit struct {
	start, end int32
	raw        []byte
}

// finish makes the edits in the bytes of the spot's value and checks what comes out.
func (m *repairer) finish(sp *spot, cuts []edit) ([]byte, bool) {
	if len(cuts) == 0 {
		return nil, false
	}
	raw := splice(sp.t, sp.i, cuts)
	_, ok := m.fitsRaw(sp.place, raw, false)
	return raw, ok
}

// splice makes edits, which are in order, in the bytes of value i.
func splice(t *tape, i int32, cuts []edit) []byte {
	from := t.tokens[i].start
	edits := make([]rawjson.Edit, len(cuts))
	for k, c := range cuts {
		edits[k] = rawjson.Edit{Start: int(c.start - from), End: int(c.end - from), New: c.raw}
	}
	return rawjson.AppendSplice(nil, t.raw(i), edits...)
}

// member is one member of an object that is being changed.
type member struct {
	token int32
	name  string
	to    string // its new name; "" when it keeps the old one
	raw   []byte // its new value; nil when it keeps the old one
	drop  bool
}

// objectEdit is an object that is being changed.
type objectEdit struct {
	t              *tape
	i              int32
	members, added []member
}

// edit starts to change object i. A member whose name comes again later is dropped:
// dropping the last one must not bring it back.
func (t *tape) edit(i int32) *objectEdit {
	o := &objectEdit{t: t, i: i, members: make([]member, 0, t.tokens[i].size)}
	for c := i + 1; c < t.tokens[i].next; c = t.tokens[c].next {
		o.members = append(o.members, member{token: c, name: t.name(c), drop: t.tokens[c].dead})
	}
	return o
}

// editObject is edit for bytes; false when they are no object.
func editObject(raw []byte) (*objectEdit, bool) {
	t := &tape{}
	if t.read(raw) != nil || t.tokens[0].kind != isObject {
		return nil, false
	}
	return t.edit(0), true
}

// find returns the member that ends up with the name, or nil.
func (o *objectEdit) find(name string) *member {
	for k := range o.members {
		if c := &o.members[k]; !c.drop && (c.to == name || c.to == "" && c.name == name) {
			return c
		}
	}
	return nil
}

// has reports whether there is a member of the name, also an added one.
func (o *objectEdit) has(name string) bool {
	return o.find(name) != nil || slices.ContainsFunc(o.added, func(c member) bool { return c.name == name })
}

func (o *objectEdit) add(name string, raw []byte) {
	o.added = append(o.added, member{name: name, raw: raw})
}

// set sets the value of a member by name, or adds one.
func (o *objectEdit) set(name string, raw []byte) {
	if c := o.find(name); c != nil {
		c.raw = raw
	} else {
		o.add(name, raw)
	}
}

func (o *objectEdit) bytes() []byte { return splice(o.t, o.i, o.edits()) }

// object settles names and levels first, then values, then what is missing.
func (m *repairer) object(sp *spot) ([]byte, bool) {
	o := sp.t.edit(sp.i)
	k := m.naming(sp, o)
	k.rename()
	if raw, ok := k.unwrap(); ok {
		return raw, true
	}
	k.lift()
	k.sink()
	missing := slices.DeleteFunc(slices.Clone(k.required), func(name string) bool { return o.has(name) || k.holds(name) })
	outer := len(m.loose)
	m.loose = append(m.loose, k.unsettled()...)
	for n := range o.members {
		if !k.isSealed(o.members[n].name) {
			m.value(sp, &o.members[n], k.required)
		}
	}
	for _, name := range missing {
		if raw := m.fallback(sp, name); raw != nil {
			m.record(sp.at+"/"+jsonschema.EscapeToken(name), Default, nil, raw)
			o.add(name, raw)
		}
	}
	m.loose = m.loose[:outer]
	return m.finish(sp, o.edits())
}

// requiredNames returns the required names of all shapes.
func requiredNames(flat []*shape) []string {
	var names []string
	for _, s := range flat {
		for _, name := range s.required {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// under returns the shapes for a member by name, and whether they declare or exclude it.
func under(b *budget, flat []*shape, name string) (place []*shape, known, excluded bool) {
	closed := false
	for _, s := range flat {
		var declared bool
		place, declared = s.child(b, name, place)
		if declared {
			known = true
		} else if s.additional != nil && s.additional.never {
			excluded = true
		}
		closed = closed || s.unevaluatedProps != nil && s.unevaluatedProps.never
	}
	return place, known, excluded || closed && !known
}

func isKnown(b *budget, flat []*shape, name string) bool {
	_, known, _ := under(b, flat, name)
	return known
}

// inFull validates a member's value strictly, as for repaired values.
func (m *repairer) inFull(place []*shape, sp *spot, c *member, raw []byte) bool {
	if raw == nil {
		return m.fits(place, sp.t, c.token, true)
	}
	_, ok := m.fitsRaw(place, raw, true)
	return ok
}

// value repairs the value of one member, or drops it.
func (m *repairer) value(sp *spot, c *member, required []string) {
	if c.to != "" || c.drop || c.raw != nil {
		return
	}
	place, known, excluded := under(&m.budget, sp.flat, c.name)
	at := sp.at + "/" + jsonschema.EscapeToken(c.name)
	if excluded && m.light && !sp.fine && !m.keep[c.name] {
		m.record(at, Drop, sp.t.raw(c.token), nil)
		c.drop = true
		return
	}
	needed := slices.Contains(required, c.name)
	isNone := sp.t.tokens[c.token].kind == isNull || !needed && m.isNothing(place, sp.t, c.token)
	if isNone && known && m.may(DropNull) && !m.fits(place, sp.t, c.token, false) {
		if !needed {
			m.record(at, DropNull, sp.t.raw(c.token), nil)
			c.drop = true
		} else if raw := m.fallback(sp, c.name); raw != nil {
			m.record(at, Default, []byte("null"), raw)
			c.raw = raw
		}
		return
	}
	c.raw, _ = m.repair(place, sp.t, c.token, at)
}

// isNothing reports whether value i is a word for none where a model has no words of its own to say.
func (m *repairer) isNothing(place []*shape, t *tape, i int32) bool {
	if t.tokens[i].kind != isString || len(t.raw(i)) > len(`"null"`) {
		return false
	}
	text := t.text(i)
	if text != "" && text != "null" && text != "None" {
		return false
	}
	accepts := tAny
	listed := false
	flat, _ := m.spread(place, t, i)
	for _, s := range flat {
		if slices.ContainsFunc(s.enum, func(l literal) bool { return strings.EqualFold(l.text, text) }) {
			return false
		}
		accepts = accepts.and(s.accepts)
		listed = listed || s.listed
	}
	return accepts&tNull == 0 && (accepts&tString == 0 || listed)
}

// fallback returns the property's default if it is valid, else nil.
func (m *repairer) fallback(sp *spot, name string) []byte {
	if !m.may(Default) {
		return nil
	}
	place, _, _ := under(&m.budget, sp.flat, name)
	flat, _ := m.spread(place, sp.t, sp.i)
	for _, s := range flat {
		if s.fallback == nil {
			continue
		}
		if _, ok := m.fitsRaw(place, s.fallback, true); ok {
			return s.fallback
		}
	}
	return nil
}

// edits lists the changes: names and values in place, new members at the end.
func (o *objectEdit) edits() []edit {
	last := -1 // the last member that stays
	for k := range o.members {
		if !o.members[k].drop {
			last = k
		}
	}
	tokenOf := func(k int) *token { return &o.t.tokens[o.members[k].token] }
	var cuts []edit
	for k, c := range o.members[:last+1] {
		tok := tokenOf(k)
		if c.drop {
			cuts = append(cuts, edit{tok.key, tokenOf(k + 1).key, nil})
			continue
		}
		if c.to != "" {
			cuts = append(cuts, edit{tok.key, tok.keyEnd, rawjson.AppendString(nil, c.to)})
		}
		if c.raw != nil {
			cuts = append(cuts, edit{tok.start, tok.end, c.raw})
		}
	}
	from := o.t.tokens[o.i].start + 1
	if last >= 0 {
		from = tokenOf(last).end
	}
	end := from
	if last < len(o.members)-1 {
		end = tokenOf(len(o.members) - 1).end
	}
	var tail []byte
	for k, c := range o.added {
		if last >= 0 || k > 0 {
			tail = append(tail, ',')
		}
		tail = append(rawjson.AppendString(tail, c.name), ':')
		tail = append(tail, c.raw...)
	}
	if end > from || tail != nil {
		cuts = append(cuts, edit{from, end, tail})
	}
	return cuts
}
