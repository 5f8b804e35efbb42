package schema

import (
	"slices"
	"strings"
)

// form is a schema in normal form: references followed, allOf merged, null a flag, const an
// enum with one value, tuples a prefix. Forms are opened on demand, one level at a time, so
// that cyclic and exponential inputs cost nothing until they are walked. An opened form is
// read-only.
type form struct {
	src     *node   // its place in the input
	ref     *form   // the target of its reference
	all     []*form // schemas still to be merged
	flat    *form   // the opened form
	base    *form   // the definition it is a copy of; used to detect cycles
	read    bool
	busy    bool   // being opened; opening it again means a reference loop
	name    string // its name in references
	mixed   bool   // src is only a part of it
	dynamic bool   // the target depends on where it is used

	never    bool
	null     bool // null is accepted in addition to types
	types    types
	title    string
	desc     string
	notes    []string
	props    []prop
	required []string
	more     *form  // additionalProperties
	patterns []prop // patternProperties
	names    *form  // propertyNames
	items    *form
	prefix   []*form
	enum     []*node
	listed   bool // there is an enum, possibly empty
	constant bool
	union    []*form
	one      bool    // oneOf: exactly one branch may match
	rest     []*node // the other known keywords, in order

	mark   mark            // from the last survey
	needed map[string]bool // set of required, if long
	byKey  map[string]int  // index of props, if long
}

type prop struct {
	key  string
	form *form
}

// id returns what all copies of one definition have in common.
func (f *form) id() *form {
	if f.base != nil {
		return f.base
	}
	return f
}

// bare reports whether the form has nothing but annotations.
func (f *form) bare() bool {
	return !f.never && !f.null && f.types == 0 && len(f.props) == 0 && len(f.required) == 0 && f.more == nil &&
		len(f.patterns) == 0 && f.names == nil && f.items == nil && f.prefix == nil && !f.listed && f.union == nil &&
		!slices.ContainsFunc(f.rest, func(n *node) bool { return !isNote(n) })
}

// acceptsNull reports whether the opened form accepts null.
func (f *form) acceptsNull() bool {
	return !f.never && (f.null || f.types == tNull || f.types == 0 && !f.listed && f.union == nil)
}

// objectLike reports whether the form has keywords for objects, with or without a type.
func (f *form) objectLike() bool {
	return f.types == tObject || f.types == 0 && (len(f.props) > 0 || len(f.required) > 0 || f.more != nil || len(f.patterns) > 0)
}

func (f *form) isRequired(key string) bool {
	if len(f.required) < 24 {
		return slices.Contains(f.required, key)
	}
	if f.needed == nil {
		f.needed = make(map[string]bool, len(f.required))
		for _, k := range f.required {
			f.needed[k] = true
		}
	}
	return f.needed[key]
}

func (f *form) prop(key string) *form {
	if i := f.propAt(key); i >= 0 {
		return f.props[i].form
	}
	return nil
}

// propAt returns the index of a property, or -1.
func (f *form) propAt(key string) int {
	if len(f.props) < 24 {
		return slices.IndexFunc(f.props, func(p prop) bool { return p.key == key })
	}
	if len(f.byKey) != len(f.props) {
		f.byKey = make(map[string]int, len(f.props))
		for i, p := range f.props {
			f.byKey[p.key] = i
		}
	}
	if i, ok := f.byKey[key]; ok {
		return i
	}
	return -1
}

// addProp adds a new property.
func (f *form) addProp(p prop) {
	if f.byKey != nil {
		f.byKey[p.key] = len(f.props)
	}
	f.props = append(f.props, p)
}

// require adds a required name.
func (f *form) require(key string) {
	if f.isRequired(key) {
		return
	}
	if f.needed != nil {
		f.needed[key] = true
	}
	f.required = append(f.required, key)
}

// keyword returns a keyword of rest, or nil.
func (f *form) keyword(key string) *node {
	if i := slices.IndexFunc(f.rest, func(n *node) bool { return n.Key == key }); i >= 0 {
		return f.rest[i]
	}
	return nil
}

// place returns the node of a keyword in the input, or that of f.
func (f *form) place(key string) *node {
	if n := f.src.Get(key); n != nil {
		return n
	}
	return f.src
}

// copy returns a copy that can be changed, slices included.
func (f *form) copy() *form {
	c := *f
	c.base = nil
	c.flat = nil
	c.ref = nil
	c.all = nil
	c.needed = nil
	c.byKey = nil
	c.busy = false
	c.mixed = true
	c.read = true
	c.notes = slices.Clone(f.notes)
	c.props = slices.Clone(f.props)
	c.required = slices.Clone(f.required)
	c.patterns = slices.Clone(f.patterns)
	c.rest = slices.Clone(f.rest)
	return &c
}

// withNull returns f with null accepted too.
func (f *form) withNull() *form {
	if f.acceptsNull() {
		return f
	}
	c := *f
	c.null = true
	c.base = f.id()
	c.flat = &c
	return &c
}

// describe appends notes to a description.
func describe(desc string, notes []string) string {
	desc = strings.TrimSpace(desc)
	for i, note := range notes {
		if slices.Contains(notes[:i], note) {
			continue
		}
		switch {
		case desc == "":
			desc = note
		case strings.HasPrefix(note, "("), strings.HasSuffix(desc, "."), strings.HasSuffix(desc, "!"), strings.HasSuffix(desc, "?"):
			desc += " " + note
		default:
			desc += ". " + note
		}
	}
	return desc
}
