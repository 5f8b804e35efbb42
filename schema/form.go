package schema

import (
	"slices"
	"strings"
)

// form is a schema in the one internal form: references followed, allOf merged, null a
// flag, const an enum of one, tuples a prefix. A form is opened when somebody looks at it,
// one level at a time, so that cyclic and exponential inputs cost nothing by themselves.
// An opened form is read-only.
type form struct {
	src     *node   // where it stands in the input
	ref     *form   // what it refers to
	all     []*form // what else must hold, still to be merged
	flat    *form   // the opened form
	base    *form   // the definition it is a copy of: what makes a cycle a cycle
	read    bool
	busy    bool   // being opened; meeting it again is a loop with nothing between
	name    string // how references call it
	mixed   bool   // src does not say all of it
	dynamic bool   // what it refers to may be another schema elsewhere

	never    bool
	null     bool // null is accepted beside types
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
	listed   bool // there is an enum, perhaps an empty one
	constant bool
	union    []*form
	one      bool    // exactly one branch of the union may hold
	rest     []*node // the other known keywords in their order

	mark   mark            // of the last survey
	needed map[string]bool // required as a set, when it is long
	byKey  map[string]int  // places of props, when there are many
}

type prop struct {
	key  string
	form *form
}

// id is what two copies of one definition have in common.
func (f *form) id() *form {
	if f.base != nil {
		return f.base
	}
	return f
}

// bare reports whether nothing but annotations is said.
func (f *form) bare() bool {
	return !f.never && !f.null && f.types == 0 && len(f.props) == 0 && len(f.required) == 0 && f.more == nil &&
		len(f.patterns) == 0 && f.names == nil && f.items == nil && f.prefix == nil && !f.listed && f.union == nil &&
		!slices.ContainsFunc(f.rest, func(n *node) bool { return !isNote(n) })
}

// acceptsNull reports whether null is valid for the opened form.
func (f *form) acceptsNull() bool {
	return !f.never && (f.null || f.types == tNull || f.types == 0 && !f.listed && f.union == nil)
}

// objectLike reports whether the form speaks of objects, with or without a type.
func (f *form) objectLike() bool {
	return f.types == tObject || f.types == 0 && (len(f.props) > 0 || len(f.required) > 0 || f.more != nil || len(f.patterns) > 0)
}

// isRequired looks in a set once the list is long.
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

// propAt is the place of a property, -1 when there is none.
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

// addProp adds a property that is not there yet.
func (f *form) addProp(p prop) {
	if f.byKey != nil {
		f.byKey[p.key] = len(f.props)
	}
	f.props = append(f.props, p)
}

// require adds a name to the required ones.
func (f *form) require(key string) {
	if f.isRequired(key) {
		return
	}
	if f.needed != nil {
		f.needed[key] = true
	}
	f.required = append(f.required, key)
}

// keyword is a keyword of rest, or nil.
func (f *form) keyword(key string) *node {
	if i := slices.IndexFunc(f.rest, func(n *node) bool { return n.Key == key }); i >= 0 {
		return f.rest[i]
	}
	return nil
}

// place is where a keyword stands in the input, or f itself when it does not say it itself.
func (f *form) place(key string) *node {
	if n := f.src.Get(key); n != nil {
		return n
	}
	return f.src
}

// copy is f to be changed: its slices are its own.
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

// withNull is f that accepts null too.
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

// describe joins a description and the notes on what could not be said otherwise.
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
