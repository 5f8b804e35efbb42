package fit

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

type node = jsonschema.Node

// wide is the number of members or elements from which an index is faster.
const wide = 32

// maxNotes limits the notes about one schema.
const maxNotes = 20

// compiler compiles one schema. What it cannot use is dropped and noted: an odd schema must
// not block a working tool.
type compiler struct {
	draft jsonschema.Draft
	index *jsonschema.Index
	made  []*shape // by node
	order []*shape // all shapes, in order
	notes []string

	programs int // room left for patterns
}

// compile compiles a schema; an empty one accepts any object.
func compile(raw []byte) (*shape, []string) {
	c := &compiler{programs: maxPrograms}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	var t jsonschema.Tree
	doc, err := t.Parse(raw)
	if err != nil {
		return c.blank(), []string{fmt.Sprintf("the schema is not used: %v", err)}
	}
	if !doc.IsSchema() {
		return c.blank(), []string{"the schema is not used: it is neither an object nor a boolean"}
	}
	c.made = make([]*shape, t.Count)
	c.draft = jsonschema.DraftOf(doc)
	c.index = jsonschema.NewIndex(doc, c.draft)
	root := c.shape(doc)
	c.cutLoops()
	known := make(map[*shape]types, len(c.order))
	for _, s := range c.order {
		s.accepts = accepted(s, known)
	}
	c.widen()
	return root, c.notes
}

func (c *compiler) blank() *shape {
	s := &shape{rare: nothingRare, minLength: -1, maxLen: -1, minItems: -1, maxItems: -1, accepts: tAny}
	c.order = append(c.order, s)
	return s
}

func (c *compiler) note(n *node, format string, args ...any) {
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, "#"+n.Pointer()+": "+fmt.Sprintf(format, args...))
	}
}

// shape compiles schema n, once.
func (c *compiler) shape(n *node) *shape {
	if s := c.made[n.ID]; s != nil {
		return s
	}
	s := c.blank()
	c.made[n.ID] = s
	s.resource = c.index.Resource(n).ID
	switch n.Kind {
	case jsonschema.Bool:
		s.never = n.IsFalse()
	case jsonschema.Object:
		c.read(s, n)
	default:
		c.note(n, "not a schema, so anything is accepted")
	}
	return s
}

func (c *compiler) read(s *shape, n *node) {
	if ref := n.Get("$ref"); ref != nil && ref.Kind == jsonschema.String && c.draft.RefAlone() {
		c.reference(s, ref)
		c.guide(s, n)
		return
	}
	for _, m := range n.Kids {
		if jsonschema.Keywords[m.Key].Since > c.draft {
			continue
		}
		if !c.objectWord(s, m) && !c.arrayWord(s, m) && !c.scalarWord(s, m) {
			c.unionWord(s, m)
		}
	}
	c.lowerEnum(s, n)
	if n.Get("nullable").IsTrue() && s.types != 0 {
		s.types |= tNull // OpenAPI's nullable
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
	c.guide(s, n)
}

// lowerEnum moves an enum beside type array to the items, since no array could be in it.
func (c *compiler) lowerEnum(s *shape, n *node) {
	enum := n.Get("enum")
	if enum == nil || s.types != tArray || n.Get("const") != nil ||
		slices.ContainsFunc(s.enum, func(l literal) bool { return l.kind == isArray }) {
		return
	}
	c.note(enum, "no array is listed, read as the values of the items")
	item := c.blank()
	item.enum = s.enum
	item.listed = true
	if s.items != nil {
		item.all = []*shape{s.items}
	}
	s.items = item
	s.enum = nil
	s.listed = false
}

// guide keeps the default.
func (c *compiler) guide(s *shape, n *node) {
	if d := n.Get("default"); d != nil {
		s.fallback = d.Raw()
	}
}

// list reads the schemas of an array.
func (c *compiler) list(m *node) []*shape {
	if len(m.Elements()) == 0 {
		c.note(m, "not a list of schemas, ignored")
		return nil
	}
	var out []*shape
	for _, e := range m.Kids {
		out = append(out, c.shape(e))
	}
	return out
}

// strings reads the names of an array.
func (c *compiler) strings(m *node) []string {
	if m.Kind != jsonschema.Array {
		c.note(m, "not a list of names, ignored")
		return nil
	}
	var out []string
	for _, e := range m.Kids {
		if e.Kind != jsonschema.String {
			c.note(e, "not a name, ignored")
			continue
		}
		if len(out) > wide || !slices.Contains(out, e.Text) {
			out = append(out, e.Text)
		}
	}
	return out
}

// size reads a keyword that is a count; -1 when it is not.
func (c *compiler) size(m *node) int32 {
	if m.Kind == jsonschema.Number {
		if d := parseDecimal([]byte(m.Text)); d.isInteger() && !d.neg {
			if d.exp > 9 {
				return 1 << 30
			}
			n, _ := strconv.Atoi(d.String()) // at most nine digits
			return int32(n)
		}
	}
	c.note(m, "not a count, ignored")
	return -1
}

func (c *compiler) reference(s *shape, m *node) {
	if m.Kind != jsonschema.String {
		c.note(m, "not a reference, ignored")
		return
	}
	at := c.index.Lookup(m, m.Text).Node
	if at == nil {
		c.missing(s, m)
		return
	}
	s.ref = c.shape(at)
}

// missing makes s accept and evaluate everything, in place of a schema that cannot be found.
func (c *compiler) missing(s *shape, m *node) {
	c.note(m, "%.100q is not in the schema, so anything is accepted", m.Text)
	s.ref = c.blank()
	s.ref.additional = c.blank()
	s.ref.items = c.blank()
}
