package mask

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/spelling"
)

// Finding is a name in a mask that the schema of the values does not have.
type Finding struct {
	Path string   // the way to it, as a mask
	Sure bool     // the schema allows no other names; else it may still occur
	Near []string // names that it may have been meant to be, the likeliest first
}

// Check compares a mask with the schema of the values it is for.
func (m *Mask) Check(schema []byte) []Finding {
	if rawjson.Check(schema) != nil || m.root.sub == nil {
		return nil
	}
	c := &checker{root: schema}
	c.level(m.root.sub, nil, [][]byte{schema})
	return c.findings
}

type checker struct {
	root     []byte
	findings []Finding
}

// level looks up the names of one level among the members that any of the schemas has.
func (c *checker) level(l *level, path, schemas [][]byte) {
	s := &survey{root: c.root, members: map[string][][]byte{}, refs: map[string]bool{}}
	for _, schema := range schemas {
		s.read(schema)
	}
	if len(s.members) == 0 {
		return // the schema says nothing of members
	}
	look := func(k key, sub *level) {
		here := append(slices.Clone(path), rawjson.AppendString(nil, k.text))
		if k.glob {
			return
		}
		found := s.members[k.text]
		if found == nil {
			c.findings = append(c.findings, Finding{Path: pathText(here), Sure: !s.open, Near: near(k.text, s.members)})
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

func pathText(path [][]byte) string {
	var out []byte
	for i, p := range path {
		if i > 0 {
			out = append(out, '/')
		}
		out = AppendKey(out, p)
	}
	return string(out)
}

// survey collects the members that an object, or the objects in an array, may have.
type survey struct {
	root    []byte
	members map[string][][]byte // the schemas of each
	open    bool                // others are allowed
	refs    map[string]bool     // references that were followed; once is enough
}

func (s *survey) read(schema []byte) {
	schema = trimSpace(schema)
	if len(schema) == 0 || schema[0] != '{' {
		s.open = true
		return
	}
	closed, passes := false, false
	for w := rawjson.Object(schema); w.Next(); {
		switch string(w.Key) {
		case "properties":
			for p := rawjson.Object(w.Value); p.Next(); {
				s.members[string(p.Key)] = append(s.members[string(p.Key)], p.Value)
			}
		case "additionalProperties", "unevaluatedProperties":
			closed = closed || string(w.Value) == "false"
		case "items":
			passes = true
			s.read(w.Value)
		case "anyOf", "oneOf", "allOf":
			passes = true
			for b := rawjson.Array(w.Value); b.Next(); {
				s.read(b.Value)
			}
		case "$ref":
			passes = true
			if ref, _ := rawjson.String(w.Value); !s.refs[ref] {
				s.refs[ref] = true
				s.read(resolve(s.root, ref))
			}
		case "type":
			passes = passes || string(w.Value) == `"null"` || string(w.Value) == `"string"`
		}
	}
	if !closed && !passes {
		s.open = true
	}
}

// maxNear is how many names are proposed.
const maxNear = 3

// near are the names that differ least from the wanted one.
func near(want string, members map[string][][]byte) (names []string) {
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
