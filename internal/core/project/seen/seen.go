// Package seen infers the type of JSON values: which members they have, and of which kinds
// these are. It is for tools whose servers do not say what they return. A type holds names
// and kinds, never a value; names that look like data, such as ids, dates or addresses, are
// values too and are left out.
//
//	t := seen.Infer([][]byte{[]byte(`{"id":1}`), []byte(`{"id":2,"tags":["a"]}`), []byte(`{"id":3,"tags":[]}`)})
//	t.Schema() // {"type":"object","properties":{"id":{"type":"integer"},"tags":{"type":"array", …}},"required":["id"]}
package seen

import (
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// kind is a set of kinds of values.
type kind uint8

const (
	object kind = 1 << iota
	array
	text
	integer
	number
	boolean
	null
)

// Limits of a type.
const (
	maxDepth   = 8      // of objects and arrays; deeper ones are told as such
	maxNodes   = 10_000 // members that are looked at
	maxMembers = 100    // of one object while it is read: more are the keys of a dictionary
)

// Type is what values have in common.
type Type struct {
	kinds   kind
	objects int // how many of the values are objects
	members map[string]*member
	record  *Type // of the values of all members: the names are data
	items   *Type // of the elements of all arrays; nil: there were none
}

// member is a member of some objects.
type member struct {
	Type
	count  int    // objects that have it
	last   int    // the last of them: a name may be there twice
	values uint64 // given values that have it, by their number modulo 64
}

// reader goes over the values.
type reader struct {
	data    []byte
	value   uint64 // the bit of the value that is being read
	objects int
	nodes   int
}

// Infer merges the values into one type; nil when none is valid JSON.
func Infer(values [][]byte) *Type {
	t := &Type{}
	var r reader
	count := 0
	for _, v := range values {
		if rawjson.Check(v) == nil {
			r.value = 1 << (count % 64)
			count++
			r.data = slices.Concat([]byte{'['}, v, []byte{']'})
			for w := rawjson.Array(r.data); w.Step(); {
				r.read(t, &w, 0)
			}
		}
	}
	if count == 0 {
		return nil
	}
	t.settle(min(2, count))
	return t
}

// read adds the one value that the walk has stopped at.
func (r *reader) read(t *Type, w *rawjson.Walk, depth int) {
	first := r.data[w.Start]
	if depth == maxDepth || first != '{' && first != '[' {
		w.SkipChecked()
		t.kinds |= kindOf(w.Value)
		return
	}
	t.kinds |= kindOf(r.data[w.Start:])
	at := 0 // no object
	if first == '{' {
		t.objects++
		r.objects++
		at = r.objects
	}
	in := w.Into()
	for in.Step() {
		if to := r.inside(t, in.Key, at); to != nil {
			r.read(to, &in, depth+1)
		} else {
			in.SkipChecked()
		}
	}
	w.Out(&in)
}

// inside returns the type of an object's member, or of an array's elements; nil when there are too many already.
func (r *reader) inside(t *Type, name []byte, object int) *Type {
	if object == 0 {
		if t.items == nil {
			t.items = &Type{}
		}
		return t.items
	}
	m := t.members[string(name)]
	switch {
	case t.record != nil:
		return t.record
	case m == nil && len(t.members) == maxMembers:
		t.forget()
		return t.record
	case m == nil && r.nodes == maxNodes:
		return nil
	case m == nil:
		if t.members == nil {
			t.members = map[string]*member{}
		}
		r.nodes++
		m = &member{}
		t.members[string(name)] = m
	}
	if m.last != object {
		m.last = object
		m.count++
	}
	m.values |= r.value
	return &m.Type
}

func kindOf(raw []byte) kind {
	switch raw[0] {
	case '{':
		return object
	case '[':
		return array
	case '"':
		return text
	case 't', 'f':
		return boolean
	case 'n':
		return null
	}
	for _, c := range raw {
		if c == '.' || c == 'e' || c == 'E' {
			return number
		}
	}
	return integer
}

// forget gives up the names of the members.
func (t *Type) forget() {
	t.record = &Type{}
	for _, m := range t.members {
		t.record.merge(&m.Type)
	}
	t.members = nil
}

// merge adds what another type was made of.
func (t *Type) merge(o *Type) {
	t.kinds |= o.kinds
	t.objects += o.objects
	if o.items != nil {
		if t.items == nil {
			t.items = &Type{}
		}
		t.items.merge(o.items)
	}
	if o.record != nil && t.record == nil {
		t.forget()
	}
	if t.record != nil {
		if o.record != nil {
			t.record.merge(o.record)
		}
		for _, m := range o.members {
			t.record.merge(&m.Type)
		}
		return
	}
	for name, m := range o.members {
		if t.members == nil {
			t.members = map[string]*member{}
		}
		mine := t.members[name]
		if mine == nil {
			mine = &member{}
			t.members[name] = mine
		}
		mine.merge(&m.Type)
		mine.count += m.count
		mine.values |= m.values
	}
}

// settle decides which names are told: those that so many of the given values have and that do not look like data.
func (t *Type) settle(least int) {
	if t.items != nil {
		t.items.settle(least)
	}
	told, data := t.names(least)
	if t.record == nil && t.isDictionary(len(told), data) {
		t.forget()
	}
	if t.record != nil {
		t.record.settle(least)
	}
	for name, m := range t.members {
		if !told[name] {
			delete(t.members, name)
			continue
		}
		m.settle(least)
	}
}
