package fit

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// guarded reports whether the override restricts a property of the tool.
func (o *Override) guarded(name string) bool {
	return has(o.Fix, name) || has(o.Enum, name) || slices.Contains(o.Hide, name)
}

// seals reports whether callers cannot give the property under its own name.
func (v *Overridden) seals(name string) bool { return v.o.guarded(name) || has(v.o.Rename, name) }

// likeness normalizes a name as lenient decoders do: Go ignores case, protocol buffers equate
// disk_gb and diskGb.
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

// once refuses a restricted property that is given twice: parsers differ in which one wins.
func (v *Overridden) once(raw []byte) *Error {
	o, ok := editObject(raw)
	if !ok {
		return nil
	}
	err := refuse()
	for _, c := range o.members {
		if c.drop && v.o.guarded(cmp.Or(v.own[c.name], c.name)) {
			err.Problems = append(err.Problems, Problem{Code: Conflict, Field: o.t.pointer(c.token), Expected: "one value", Got: "several"})
		}
	}
	return err.orNil()
}

// holds refuses arguments in which a server may read another value for a restricted property than the
// override allows. Between bound and fixed, names were repaired.
func (v *Overridden) holds(bound, fixed []byte, repairs []Repair) *Error {
	before, readBefore := editObject(bound)
	after, readAfter := editObject(fixed)
	if !readBefore || !readAfter {
		return nil
	}
	err := refuse()
	for _, c := range after.members {
		raw := after.t.raw(c.token)
		field := after.t.pointer(c.token)
		old := before.find(c.name)
		switch {
		case !v.o.guarded(c.name):
			if !slices.Contains(v.names, c.name) && v.alike[likeness(c.name)] {
				hint := "a server could take it for an argument of nearly the same name, which is restricted"
				err.add(Unknown, after.t, c.token, "an argument that the tool has")
				err.Problems[len(err.Problems)-1].Hint = hint
			}
		case has(v.o.Enum, c.name) && !isAmong(v.o.Enum[c.name], raw):
			err.add(NotListed, after.t, c.token, "one of the values that are left") // light validation does not look at them
		case old != nil && samePlain(before.t.raw(old.token), raw):
		case old == nil && slices.ContainsFunc(repairs, func(r Repair) bool { return r.Kind == Default && r.Field == field }):
			// the tool's own default
		default:
			err.add(Unknown, after.t, c.token, "an argument that the tool has")
		}
	}
	return err.orNil()
}

func isAmong(values []json.RawMessage, raw []byte) bool {
	return slices.ContainsFunc(values, func(v json.RawMessage) bool { return samePlain(v, raw) })
}
