package mask

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/spelling"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Finding is a name in a mask that the schema of the values does not have.
type Finding struct {
	Path string   // the way to it, as a mask
	Sure bool     // the schema allows no other names; else it may still occur
	Near []string // similar names, most likely first
}

// Check compares a mask with the schema of its values.
func (m *Mask) Check(schema []byte) []Finding {
	root, err := jsonschema.Parse(schema)
	if err != nil || m.root.sub == nil {
		return nil
	}
	c := &checker{index: jsonschema.NewIndex(root, jsonschema.DraftOf(root))}
	c.level(m.root.sub, nil, []*node{root})
	return c.findings
}

type checker struct {
	index    *jsonschema.Index
	findings []Finding
}

// level looks up the names of one level among the members that any of the schemas has.
func (c *checker) level(l *level, path [][]byte, schemas []*node) {
	s := &survey{index: c.index, members: map[string][]*node{}, seen: map[*node]bool{}}
	for _, schema := range schemas {
		s.read(schema)
	}
	if len(s.members) == 0 {
		return // the schema does not describe members
	}
	look := func(k key, sub *level) {
		here := append(slices.Clone(path), rawjson.AppendString(nil, k.text))
		if k.glob {
			return
		}
		found := s.members[k.text]
		if found == nil {
			c.findings = append(c.findings, Finding{Path: Path(here), Sure: !s.open, Near: near(k.text, s.members)})
		} else if sub != nil {
			c.level(sub, here, found)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.exact)) {
		look(l.exact[name].key, l.exact[name].sub)
	}
	for _, e := range l.exclude {
		if e.deep {
			continue
		}
		for _, x := range e.next {
			look(x.key, &level{exclude: []*exclusion{x.to}})
		}
	}
}

// Path is the way to a member as a mask, given the names on it as literals.
func Path(names [][]byte) string {
	var out []byte
	for i, name := range names {
		if i > 0 {
			out = append(out, '/')
		}
		out = AppendKey(out, name)
	}
	return string(out)
}

// survey collects the members that an object, or the objects in an array, may have.
type survey struct {
	index   *jsonschema.Index
	members map[string][]*node // the schemas of each
	open    bool               // others are allowed
	seen    map[*node]bool     // what was referred to; once is enough
}

func (s *survey) read(schema *node) {
	if schema == nil || schema.Kind != jsonschema.Object {
		s.open = true
		return
	}
	closed := false
	passes := false
	for _, kid := range schema.Kids {
		switch kid.Key {
		case "properties":
			for _, member := range kid.Members() {
				s.members[member.Key] = append(s.members[member.Key], member)
			}
		case "additionalProperties", "unevaluatedProperties":
			closed = closed || kid.IsFalse()
		case "items", "anyOf", "oneOf", "allOf":
			passes = true
			kid.Schemas(s.read)
		case "$ref":
			passes = true
			if target := s.index.Lookup(kid, kid.Text).Node; !s.seen[target] {
				s.seen[target] = true
				s.read(target)
			}
		case "type":
			passes = passes || kid.Text == "null" || kid.Text == "string"
		}
	}
	if !closed && !passes {
		s.open = true
	}
}

// maxNear is how many names are proposed.
const maxNear = 3

// near are the names that differ least from the wanted one.
func near(want string, members map[string][]*node) (names []string) {
	limit := 1 + len(want)/3
	distances := map[string]int{}
	for name := range members {
		if d := spelling.Edits(strings.ToLower(want), strings.ToLower(name), limit+1); d <= limit {
			distances[name] = d
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), strings.Compare(a, b))
	})
	return names[:min(len(names), maxNear)]
}
