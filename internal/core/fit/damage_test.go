package fit

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// site is one value of a valid set of arguments, with what is asked of it.
type site struct {
	i        int32
	at       string
	accepts  types
	flat     []*shape
	unions   []string // pointers of the unions it is in, outermost first
	required bool     // its parent asks for it
}

// sites lists the values inside the arguments.
func sites(d *document, t *tape) []site {
	m := &repairer{budget: *plenty(), tool: &Tool{}}
	var out []site
	var visit func(place []*shape, i int32, unions []string, required bool)
	visit = func(place []*shape, i int32, unions []string, required bool) {
		flat, union := m.spread(place, t, i)
		at := t.pointer(i)
		for len(union) > 0 { // the branches that fit tell what is asked
			unions = append(slices.Clip(unions), at)
			next := union[0]
			union = union[1:]
			for _, b := range next {
				if m.fits([]*shape{b}, t, i, true) {
					more, inner := m.spread([]*shape{b}, t, i)
					flat = append(flat, more...)
					union = append(union, inner...)
					break
				}
			}
		}
		accepts := tAny
		for _, s := range place {
			accepts = accepts.and(s.accepts)
		}
		out = append(out, site{i, at, accepts, flat, unions, required})
		n := 0
		for c := t.first(i); c >= 0; c = t.after(c) {
			var inner []*shape
			must := false
			if t.tokens[i].kind == isObject {
				inner, _, _ = under(plenty(), flat, t.name(c))
				must = slices.Contains(requiredNames(flat), t.name(c))
			} else {
				for _, s := range flat {
					if it := s.item(n); it != nil {
						inner = append(inner, it)
					}
				}
			}
			visit(inner, c, unions, must)
			n++
		}
	}
	visit(d.place, 0, nil, false)
	return out
}

// damage breaks one value; nil when it does not apply there.
type damage struct {
	name string
	make func(t *tape, s *site, r *rand.Rand) []edit
}

func replace(t *tape, s *site, text string) []edit {
	return []edit{{t.tokens[s.i].start, t.tokens[s.i].end, []byte(text)}}
}

func only(k kind, not types, make func(raw string) string) func(*tape, *site, *rand.Rand) []edit {
	return func(t *tape, s *site, _ *rand.Rand) []edit {
		if t.tokens[s.i].kind != k || s.accepts&not != 0 || s.i == 0 {
			return nil
		}
		return replace(t, s, make(string(t.raw(s.i))))
	}
}

// addMember puts a member before the closing bracket.
func addMember(t *tape, s *site, text string) []edit {
	end := t.tokens[s.i].end - 1
	if t.tokens[s.i].size > 0 {
		text = "," + text
	}
	return []edit{{end, end, []byte(text)}}
}

func other(s string) string { // snake ↔ camel, or the case of the first letter
	if i := strings.IndexByte(s, '_'); i > 0 && i < len(s)-1 {
		return s[:i] + strings.ToUpper(s[i+1:i+2]) + s[i+2:]
	}
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			return s[:i] + "_" + strings.ToLower(s[i:i+1]) + s[i+1:]
		}
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func rekey(change func(string) string) func(*tape, *site, *rand.Rand) []edit {
	return func(t *tape, s *site, _ *rand.Rand) []edit {
		name := t.name(s.i)
		if !s.required || name == "" || change(name) == name {
			return nil
		}
		return []edit{{t.tokens[s.i].key, t.tokens[s.i].keyEnd, []byte(quoted(change(name)))}}
	}
}

func withComma(raw string) string { return raw[:len(raw)-1] + ", " + raw[len(raw)-1:] }

// inPython writes value i as Python does.
func inPython(t *tape, i int32) string {
	var parts []string
	open := "["
	end := "]"
	switch t.tokens[i].kind {
	case isNull:
		return "None"
	case isBoolean:
		return map[string]string{"true": "True", "false": "False"}[string(t.raw(i))]
	case isString:
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`).Replace(t.text(i)) + "'"
	case isNumber:
		return string(t.raw(i))
	case isObject:
		open = "{"
		end = "}"
	}
	for c := t.first(i); c >= 0; c = t.after(c) {
		part := inPython(t, c)
		if end == "}" {
			part = "'" + strings.ReplaceAll(strings.ReplaceAll(t.name(c), `\`, `\\`), "'", `\'`) + "': " + part
		}
		parts = append(parts, part)
	}
	return open + strings.Join(parts, ", ") + end
}

// asPython puts a value of the kind into a string as Python writes it.
func asPython(k kind) func(*tape, *site, *rand.Rand) []edit {
	return func(t *tape, s *site, r *rand.Rand) []edit {
		return only(k, tString, func(string) string { return quoted(inPython(t, s.i)) })(t, s, r)
	}
}

// repairable are damages that can be undone.
var repairable = []damage{
	{"number in a string", only(isNumber, tString, quoted)},
	{"number in a string with blanks", only(isNumber, tString, func(s string) string { return quoted(" " + s + " ") })},
	{"boolean in a string", only(isBoolean, tString, quoted)},
	{"boolean in a string, capital", only(isBoolean, tString, func(s string) string { return quoted(strings.ToUpper(s[:1]) + s[1:]) })},
	{"object in a string", only(isObject, tString, quoted)},
	{"array in a string", only(isArray, tString, quoted)},
	{"object in a string twice", only(isObject, tString, func(s string) string { return quoted(quoted(s)) })},
	{"array in a fenced string", only(isArray, tString, func(s string) string { return quoted("```json\n" + s + "\n```") })},
	{"object in a string with a comma too many", func(t *tape, s *site, _ *rand.Rand) []edit {
		if t.tokens[s.i].size == 0 {
			return nil
		}
		return only(isObject, tString, func(s string) string { return quoted(withComma(s)) })(t, s, nil)
	}},
	{"array in a string with a comma too many", func(t *tape, s *site, _ *rand.Rand) []edit {
		if t.tokens[s.i].size == 0 {
			return nil
		}
		return only(isArray, tString, func(s string) string { return quoted(withComma(s)) })(t, s, nil)
	}},
	{"object in a string as Python writes it", asPython(isObject)},
	{"array in a string as Python writes it", asPython(isArray)},
	{"null in a string as Python writes it", only(isNull, tString, func(string) string { return `"None"` })},
	{"object in a string with comments", only(isObject, tString, func(s string) string {
		return quoted("{ // all of it\n" + s[1:len(s)-1] + " /* done */ # really\n}")
	})},
	{"single value for an array", func(t *tape, s *site, _ *rand.Rand) []edit {
		if t.tokens[s.i].kind != isArray || t.tokens[s.i].size != 1 || t.tokens[s.i+1].kind == isNull || t.tokens[s.i+1].kind == isArray {
			return nil
		}
		if text := t.text(s.i + 1); t.tokens[s.i+1].kind == isString && (text == "" || text == "null") {
			return nil // which would be none
		}
		return replace(t, s, string(t.raw(s.i+1)))
	}},
	{"null for an absent value", func(t *tape, s *site, r *rand.Rand) []edit {
		if t.tokens[s.i].kind != isObject {
			return nil
		}
		var absent []string
		for _, f := range s.flat {
			for _, p := range f.props {
				if t.get(s.i, p.name) < 0 && !slices.Contains(requiredNames(s.flat), p.name) && p.shape.accepts&tNull == 0 {
					absent = append(absent, p.name)
				}
			}
		}
		if absent == nil {
			return nil
		}
		return addMember(t, s, quoted(absent[r.IntN(len(absent))])+":null")
	}},
	{"listed value in another case", func(t *tape, s *site, _ *rand.Rand) []edit {
		if t.tokens[s.i].kind != isString || !slices.ContainsFunc(s.flat, func(f *shape) bool { return f.listed }) {
			return nil
		}
		text := t.text(s.i)
		if up := strings.ToUpper(text); up != text {
			return replace(t, s, quoted(up))
		}
		return replace(t, s, quoted(strings.ToLower(text)))
	}},
	{"required key in another style", rekey(other)},
	{"required key misspelled", rekey(func(s string) string {
		if len(s) < 5 {
			return s
		}
		return s[:2] + s[3:]
	})},
	{"required value with a default left out", func(t *tape, s *site, _ *rand.Rand) []edit {
		if !s.required || !slices.ContainsFunc(s.flat,
			func(f *shape) bool { return f.fallback != nil && samePlain(f.fallback, t.raw(s.i)) }) {
			return nil
		}
		return without(t, s)
	}},
	{"arguments in a string", func(t *tape, s *site, _ *rand.Rand) []edit {
		if s.i != 0 {
			return nil
		}
		return replace(t, s, quoted(string(t.raw(0))))
	}},
	{"arguments in a string as Python writes them", func(t *tape, s *site, _ *rand.Rand) []edit {
		if s.i != 0 {
			return nil
		}
		return replace(t, s, quoted(inPython(t, 0)))
	}},
	{"arguments in a fenced string with a comma too many", func(t *tape, s *site, _ *rand.Rand) []edit {
		if s.i != 0 || t.tokens[0].size == 0 {
			return nil
		}
		return replace(t, s, quoted("```json\n"+withComma(string(t.raw(0)))+"\n```"))
	}},
}

// without takes the value away.
func without(t *tape, s *site) []edit {
	o := t.edit(t.tokens[s.i].parent)
	for k := range o.members {
		o.members[k].drop = o.members[k].drop || o.members[k].token == s.i
	}
	return o.edits()
}

// final are damages that nothing can undo; the second part says where the problem is.
var final = []damage{
	{"text for a number", only(isNumber, tString|tArray|tObject, func(string) string { return `"no number"` })},
	{"object for a number", only(isNumber, tString|tArray|tObject, func(string) string { return `{"zz":1}` })},
	{"number for a boolean", only(isBoolean, tNumber|tInteger|tArray, func(string) string { return `17` })},
	{"number for a text", only(isString, tNumber|tInteger|tArray, func(string) string { return `17` })},
	{"number for an object", only(isObject, tNumber|tInteger|tArray, func(string) string { return `17` })},
	{"text for an object", only(isObject, tString|tArray, func(string) string { return `"no object"` })},
	{"object in a string that ends too early", func(t *tape, s *site, r *rand.Rand) []edit {
		return only(isObject, tString|tArray, func(s string) string { return quoted(s[:len(s)-1]) })(t, s, r)
	}},
	{"array for a text", only(isString, tArray, func(s string) string { return "[" + s + "]" })},
	{"null for a required value", func(t *tape, s *site, _ *rand.Rand) []edit {
		if !s.required || s.accepts&tNull != 0 || slices.ContainsFunc(s.flat, func(f *shape) bool { return f.fallback != nil }) {
			return nil
		}
		return replace(t, s, "null")
	}},
	{"a value that is not listed", func(t *tape, s *site, _ *rand.Rand) []edit {
		if t.tokens[s.i].kind != isString || !slices.ContainsFunc(s.flat, func(f *shape) bool { return f.listed }) {
			return nil
		}
		return replace(t, s, `"zz not there"`)
	}},
	{"required value left out", func(t *tape, s *site, _ *rand.Rand) []edit {
		if !s.required || slices.ContainsFunc(s.flat, func(f *shape) bool { return f.fallback != nil }) {
			return nil
		}
		return without(t, s)
	}},
	{"unknown key", func(t *tape, s *site, _ *rand.Rand) []edit {
		if _, _, excluded := under(plenty(), s.flat, "zzUnknown"); t.tokens[s.i].kind != isObject || !excluded {
			return nil
		}
		return addMember(t, s, `"zzUnknown":1`)
	}},
	{"number out of range", func(t *tape, s *site, _ *rand.Rand) []edit {
		if t.tokens[s.i].kind != isNumber || !slices.ContainsFunc(s.flat, func(f *shape) bool { return f.high != nil }) {
			return nil
		}
		return replace(t, s, "99999999999999999999")
	}},
}

// plenty is a budget that nothing in these tests uses up.
func plenty() *budget {
	b := newBudget(context.Background(), 1<<18)
	return &b
}
