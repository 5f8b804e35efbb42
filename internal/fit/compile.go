package fit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// draft is the version of JSON Schema that a document is written in.
type draft int

// since says from which draft on a keyword means something. Older documents may use the
// word for anything.
var since = map[string]draft{
	"const": 6, "contains": 6, "propertyNames": 6, "if": 7, "then": 7, "else": 7,
	"dependentRequired": 2019, "dependentSchemas": 2019, "minContains": 2019, "maxContains": 2019,
	"unevaluatedItems": 2019, "unevaluatedProperties": 2019, "$recursiveRef": 2019, "prefixItems": 2020, "$dynamicRef": 2020,
}

func draftOf(t *tape) draft {
	m := t.get(0, "$schema")
	if m < 0 {
		return 2020
	}
	s := t.text(m)
	for _, d := range []struct {
		word  string
		draft draft
	}{{"draft-03", 4}, {"draft-04", 4}, {"draft-06", 6}, {"draft-07", 7}, {"2019-09", 2019}} {
		if strings.Contains(s, d.word) {
			return d.draft
		}
	}
	return 2020
}

// maxNotes bounds what is said about one schema.
const maxNotes = 20

// compiler reads one document. What is wrong in it is left out and noted: a schema that we
// cannot read must not keep anybody from a tool that works.
type compiler struct {
	t      *tape
	draft  draft
	places *places
	made   map[int32]*shape
	order  []*shape // all that were made
	notes  []string

	programs int // room that is left for patterns
}

// compile reads a schema; an empty one is that of an object without rules.
func compile(raw []byte) (*shape, []string) {
	c := &compiler{t: &tape{}, made: map[int32]*shape{}, programs: maxPrograms}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	if err := c.t.read(raw); err != nil {
		return c.blank(), []string{fmt.Sprintf("the schema is not used: %v", err)}
	}
	if k := c.t.tokens[0].kind; k != isObject && k != isBoolean {
		return c.blank(), []string{"the schema is not used: it is neither an object nor a boolean"}
	}
	c.draft = draftOf(c.t)
	c.places = newPlaces(c.t, c.draft)
	root := c.shape(0)
	c.cutLoops()
	known := make(map[*shape]types, len(c.order))
	for _, s := range c.order {
		s.accepts = accepted(s, known)
	}
	return root, c.notes
}

func (c *compiler) blank() *shape {
	s := &shape{rare: nothingRare, minLength: -1, maxLen: -1, minItems: -1, maxItems: -1, accepts: tAny}
	c.order = append(c.order, s)
	return s
}

func (c *compiler) note(i int32, format string, args ...any) {
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, "#"+c.t.pointer(i)+": "+fmt.Sprintf(format, args...))
	}
}

// shape reads the schema at token i, once.
func (c *compiler) shape(i int32) *shape {
	if s := c.made[i]; s != nil {
		return s
	}
	s := c.blank()
	c.made[i] = s
	s.resource = c.places.resource(i)
	switch tok := &c.t.tokens[i]; {
	case tok.kind == isBoolean:
		s.never = c.t.data[tok.start] == 'f'
	case tok.kind != isObject:
		c.note(i, "no schema, anything is accepted")
	default:
		c.read(s, i)
	}
	return s
}

func (c *compiler) read(s *shape, i int32) {
	if ref := c.t.get(i, "$ref"); ref >= 0 && c.t.tokens[ref].kind == isString && c.draft < 2019 {
		c.reference(s, ref) // older drafts ignore what stands beside it
		c.guide(s, i)
		return
	}
	for m := c.t.first(i); m >= 0; m = c.t.after(m) {
		key := c.t.name(m)
		if since[key] > c.draft {
			continue
		}
		if !c.objectWord(s, key, m) && !c.arrayWord(s, key, m) && !c.scalarWord(s, key, m) {
			c.unionWord(s, key, m)
		}
	}
	if null := c.t.get(i, "nullable"); null >= 0 && string(c.t.raw(null)) == "true" && s.types != 0 {
		s.types |= tNull // how OpenAPI says it
		if s.listed {
			s.enum = append(s.enum, literal{kind: isNull, raw: []byte("null"), text: "null"})
		}
	}
	if len(s.enum) > wide {
		s.own().texts = make(map[string]types, len(s.enum))
		for _, l := range s.enum {
			s.texts[l.text] |= typesOf(l.kind)
		}
	}
	c.guide(s, i)
}

// guide keeps the default that is stated.
func (c *compiler) guide(s *shape, i int32) {
	if d := c.t.get(i, "default"); d >= 0 {
		s.fallback = c.t.raw(d)
	}
}

// list reads the schemas of an array.
func (c *compiler) list(m int32) []*shape {
	if c.t.tokens[m].kind != isArray || c.t.tokens[m].size == 0 {
		c.note(m, "no list of schemas, left out")
		return nil
	}
	var out []*shape
	for e := c.t.first(m); e >= 0; e = c.t.after(e) {
		out = append(out, c.shape(e))
	}
	return out
}

// strings reads the names of an array.
func (c *compiler) strings(m int32) []string {
	if c.t.tokens[m].kind != isArray {
		c.note(m, "no list of names, left out")
		return nil
	}
	var out []string
	for e := c.t.first(m); e >= 0; e = c.t.after(e) {
		if c.t.tokens[e].kind != isString {
			c.note(e, "no name, left out")
			continue
		}
		if name := c.t.text(e); len(out) > wide || !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// size reads a keyword that counts something; -1 when it does not.
func (c *compiler) size(m int32) int32 {
	if c.t.tokens[m].kind == isNumber {
		if d := parseDecimal(c.t.raw(m)); d.isInteger() && !d.neg {
			if d.exp > 9 {
				return 1 << 30
			}
			return int32(d.mantissaInt())
		}
	}
	c.note(m, "no count, left out")
	return -1
}

// mantissaInt is the value of a small integer.
func (d decimal) mantissaInt() int64 {
	n := int64(0)
	for k := range d.exp {
		n *= 10
		if k < len(d.digits) {
			n += int64(d.digits[k] - '0')
		}
	}
	return n
}

func (c *compiler) reference(s *shape, m int32) {
	if c.t.tokens[m].kind != isString {
		c.note(m, "no reference, left out")
		return
	}
	ref := c.t.text(m)
	at, ok := c.places.lookup(m, ref)
	if !ok {
		c.missing(s, m)
		return
	}
	s.ref = c.shape(at)
}

// missing stands in for a schema that is not there: it accepts anything, and counts as
// having looked at all of it, so that no other keyword refuses what it might have known.
func (c *compiler) missing(s *shape, m int32) {
	c.note(m, "%.100q is not in the schema, anything is accepted", c.t.text(m))
	s.ref = c.blank()
	s.ref.additional, s.ref.items = c.blank(), c.blank()
}
