package fit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// problemOf describes what is wrong with value i.
func problemOf(code Code, s *shape, t *tape, i int32) Problem {
	p := Problem{Code: code, Field: cut(t.pointer(i), 4*maxText), Got: got(t, i)}
	switch code {
	case Unknown:
		p.Expected = "an argument that the tool has"
		p.Hint = nameHint(t.name(i), s.knownNames())
	case WrongType:
		p.Expected = s.types.String()
	case NotListed:
		p.Expected = s.listText()
		if t.tokens[i].kind == isString {
			p.Hint = nearHint(t.text(i), s.listTexts())
		}
	case WrongName:
		p.Expected = "a property named otherwise"
		p.Got = ""
	case NotMultiple:
		p.Expected = "a multiple of " + s.multiple.String()
	case NoMatch:
		p.Expected = "text that matches " + cut(s.pattern.source, maxText)
	case NotUnique:
		p.Expected = "items that all differ"
	case NotContained:
		p.Expected = "items among which there is " + describe(s.contains, 2)
	case Excluded:
		p.Expected = "something else than " + describe(s.not, 2)
	case Never:
		p.Expected = "nothing here"
	default:
		p.Expected = boundText(code, s, t.tokens[i].kind)
	}
	return p
}

// boundText describes the limits that s sets for a value of the kind.
func boundText(code Code, s *shape, k kind) string {
	var parts []string
	between := func(low, high int32, word string) {
		if low > 0 {
			parts = append(parts, "at least "+plural(int(low), word))
		}
		if high >= 0 {
			parts = append(parts, "at most "+plural(int(high), word))
		}
	}
	switch {
	case code == WrongLength:
		between(s.minLength, s.maxLen, "character")
	case code == WrongSize && k == isArray:
		between(s.minItems, s.maxItems, "item")
	case code == WrongSize:
		between(s.minProps, s.maxProps, "property")
	default:
		parts = append(s.low.text("at least ", "more than "), s.high.text("at most ", "less than ")...)
	}
	return strings.Join(parts, " and ")
}

func (b *bound) text(inclusive, exclusive string) []string {
	switch {
	case b == nil:
		return nil
	case b.exclusive:
		return []string{exclusive + b.value.String()}
	}
	return []string{inclusive + b.value.String()}
}

func missingProblem(name string, s *shape, t *tape, i int32) Problem {
	p := Problem{Code: Missing, Field: cut(t.pointer(i)+"/"+jsonschema.EscapeToken(name), 4*maxText), Expected: "a value"}
	if at := slices.IndexFunc(s.props, func(p prop) bool { return p.name == name }); at >= 0 {
		p.Expected = describe(s.props[at].shape, 2)
	}
	p.Hint = givenHint(name, s, t, i)
	return p
}

// givenHint tells under what other name, or where else, a missing value was probably given.
func givenHint(name string, s *shape, t *tape, i int32) string {
	var given []string
	for m := t.first(i); m >= 0 && len(given) < maxStrange; m = t.after(m) {
		if s.prop(t, m) != nil {
			continue
		}
		if t.get(m, name) >= 0 {
			return cut(t.name(m), maxText) + " has " + cut(name, maxText) + ": give it one level up"
		}
		given = append(given, t.name(m))
	}
	near := nearest(name, given)
	if len(near) == 0 || !s.additional.isOpen() {
		return "" // where other names are not allowed, each has a problem of its own
	}
	return "you gave " + cut(orList(near[:min(3, len(near))]), maxText) + ": did you mean " + cut(name, maxText) + "?"
}

// badUnion reports that no branch matches, or that n do. It returns false.
func (c *checker) badUnion(branches []*shape, i int32, n int) bool {
	if c.report == nil || c.spent() || c.report.full() {
		return false
	}
	p := Problem{Code: NoBranch, Field: cut(c.t.pointer(i), 4*maxText), Got: got(c.t, i), Expected: unionText(branches, 2)}
	var near []*shape
	for _, b := range branches {
		if c.typeFits(b.accepts, i) {
			near = append(near, b)
		}
	}
	switch {
	case n > 1:
		p.Expected = "exactly one of " + strconv.Itoa(len(branches)) + " forms"
		p.Hint = "it fits more than one of them"
	case len(near) > 0 && len(near) <= 3 && !c.report.brief:
		p.Hint = c.closest(near, i)
	}
	c.report.include(p)
	return false
}

// closest lists the first problem of each branch.
func (c *checker) closest(branches []*shape, i int32) string {
	var first []string
	for _, b := range branches {
		inner := checker{budget: c.budget, t: c.t, light: c.light, depth: c.depth, scope: c.scope, report: &Error{brief: true}}
		inner.ok(b, i)
		c.budget = inner.budget
		if list := inner.report.Problems; len(list) > 0 {
			first = append(first, cut(list[0].String(), 2*maxText))
		}
	}
	if len(first) == 0 {
		return ""
	}
	return cut("closest: "+strings.Join(first, " | "), 3*maxText)
}

// describe describes the shape in a few words.
func describe(s *shape, deep int) string {
	switch {
	case s.never || s.accepts == 0:
		return "nothing"
	case s.listed:
		return s.listText()
	case deep > 0 && s.ref != nil && s.types == 0:
		return describe(s.ref, deep-1)
	case deep > 0 && len(s.any)+len(s.one) > 0:
		return unionText(append(slices.Clone(s.any), s.one...), deep-1)
	case s.accepts&tObject != 0 && len(s.required) > 0:
		return cut("object with "+strings.Join(s.required, ", "), maxText)
	case s.accepts == tArray && s.items != nil && deep > 0:
		return "array of " + describe(s.items, 0)
	}
	return s.accepts.String()
}

func unionText(branches []*shape, deep int) string {
	var words []string
	for _, b := range branches {
		if w := describe(b, deep); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) > 8 {
		words = append(words[:8], strconv.Itoa(len(words)-8)+" more")
	}
	return cut(orList(words), maxText)
}

// listText lists the allowed values, as many as fit in a message.
func (s *shape) listText() string {
	if len(s.enum) == 1 {
		return cut(string(s.enum[0].raw), maxText)
	}
	const most = 12
	var words []string
	for k := range s.enum {
		if k == most {
			words = append(words, "… ("+strconv.Itoa(len(s.enum))+" in all)")
			break
		}
		words = append(words, cut(string(s.enum[k].raw), 40))
	}
	return cut("one of "+strings.Join(words, ", "), 3*maxText)
}

func (s *shape) listTexts() []string {
	var out []string
	for k := range s.enum {
		if s.enum[k].kind == isString {
			out = append(out, s.enum[k].text)
		}
	}
	return out
}

// knownNames returns the names that s declares.
func (s *shape) knownNames() []string {
	out := make([]string, 0, len(s.props))
	for k := range s.props {
		out = append(out, s.props[k].name)
	}
	return out
}
