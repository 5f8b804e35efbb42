package fit

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// guarded tells whether the override restricts a property of the tool.
func (o *Override) guarded(name string) bool {
	_, fixed := o.Fix[name]
	_, listed := o.Enum[name]
	return fixed || listed || slices.Contains(o.Hide, name)
}

// likeness is what is left of a name for the decoders that take names loosely: Go's and
// many others do not mind case, those of protocol buffers take disk_gb and diskGb for one.
func likeness(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		least := r // of all that are the same letter but for case, also the long s and the Kelvin sign
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// once refuses a restricted property that stands there twice: readers differ in which one counts.
func (v *Overridden) once(raw []byte) *Error {
	t := &tape{}
	if t.read(raw) != nil || t.tokens[0].kind != isObject {
		return nil
	}
	no := refuse()
	for _, c := range membersOf(t, 0) {
		own := c.name
		if name, renamed := v.own[c.name]; renamed {
			own = name
		}
		if c.drop && v.o.guarded(own) {
			no.Problems = append(no.Problems, Problem{Code: Conflict, Field: t.pointer(c.token), Expected: "one value", Got: "several"})
		}
	}
	return no.orNil()
}

// holds refuses arguments by which a server may read another value for a restricted
// property than the override allows. Bound are the arguments as the override left them,
// fixed those that the server would get: on the way between them names are repaired, too.
func (v *Overridden) holds(bound, fixed []byte, repairs []Repair) *Error {
	before, after := &tape{}, &tape{}
	if before.read(bound) != nil || after.read(fixed) != nil || after.tokens[0].kind != isObject {
		return nil
	}
	was := membersOf(before, 0)
	no := refuse()
	for _, c := range membersOf(after, 0) {
		raw, field := after.raw(c.token), after.pointer(c.token)
		p := Problem{Code: Unknown, Field: field, Expected: "an argument that the tool has", Got: got(after, c.token)}
		values, listed := v.o.Enum[c.name]
		old := find(was, c.name)
		switch {
		case !v.o.guarded(c.name):
			if slices.Contains(v.names, c.name) || !v.alike[likeness(c.name)] {
				continue
			}
			p.Hint = "a server could take it for an argument of nearly the same name, which is restricted"
		case listed && !slices.ContainsFunc(values, func(v json.RawMessage) bool { return samePlain(v, raw) }):
			p.Code, p.Expected = NotListed, "one of the values that are left" // light validation does not look at them
		case old != nil && samePlain(before.raw(old.token), raw):
			continue
		case old == nil && slices.ContainsFunc(repairs, func(r Repair) bool { return r.Kind == Default && r.Field == field }):
			continue // the tool's own default
		}
		no.Problems = append(no.Problems, p)
	}
	return no.orNil()
}
