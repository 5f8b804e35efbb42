package schema

import "github.com/toolfit/toolfit/internal/core/jsonschema"

// Forward maps arguments of the original schema to what a model would send for
// Parameters. It is the inverse of Back, for examples and tests: Back of Forward is the
// arguments themselves, but for nulls that the dialect cannot tell from absence.
func (res *Result) Forward(args []byte) ([]byte, error) {
	b := &backer{steps: res.steps}
	n, err := b.Parse(args)
	if err != nil {
		return nil, &Error{BadArguments, "", err.Error()}
	}
	return b.forward(n, res.root).Append(nil), nil
}

func (b *backer) forward(v *node, at int) *node {
	for range len(b.steps) + 1 {
		if at <= 0 || at > len(b.steps) {
			return v
		}
		if b.steps[at-1].Kind != stepGoto {
			break
		}
		at = b.steps[at-1].Item
	}
	s := &b.steps[at-1]
	switch s.Kind {
	case stepUnwrap:
		out, inner := b.New(jsonschema.Object), b.forward(v, s.Item)
		inner.Key = wrapKey
		out.Kids = []*node{inner}
		return out
	case stepObject:
		return b.forwardObject(v, s)
	case stepArray:
		if v.Kind != jsonschema.Array {
			return v
		}
		for i, kid := range v.Kids {
			step := s.Item
			if i < len(s.Prefix) {
				step = s.Prefix[i]
			}
			v.Kids[i] = b.forward(kid, step)
		}
	case stepPairs:
		return b.forwardPairs(v, s)
	case stepJSON:
		out := b.New(jsonschema.String)
		out.Key, out.Text = v.Key, v.String()
		return out
	case stepEnum:
		for _, e := range s.Table {
			if v.Kind != jsonschema.String && b.means(v, e.Value) {
				out := b.New(jsonschema.String)
				out.Key, out.Text = v.Key, e.Text
				return out
			}
		}
	case stepUnion:
		for i := range s.Branches {
			var t tree
			c, _ := t.Parse(v.Append(nil))
			c.Key = v.Key
			if c = b.forward(c, s.Branches[i].Step); accepts(s.Branches[i].test, c) {
				return c
			}
		}
	}
	return v
}

// means reports whether a value is the one of a table, however it is written.
func (b *backer) means(v *node, value []byte) bool {
	literal, err := b.Parse(value)
	return err == nil && jsonschema.EqualNumbers(literal, v)
}

func (b *backer) forwardObject(v *node, s *step) *node {
	if v.Kind != jsonschema.Object {
		return v
	}
	byName := make(map[string]*stepProp, len(s.Props))
	for i := range s.Props {
		byName[s.Props[i].Name] = &s.Props[i]
	}
	seen := map[string]bool{}
	for i, kid := range v.Kids {
		p := byName[kid.Key]
		if p == nil {
			v.Kids[i] = b.forward(kid, s.Rest)
			continue
		}
		seen[p.Name] = true
		key := p.Shown
		kid = b.forward(kid, p.Step)
		kid.Key = key
		v.Kids[i] = kid
	}
	for i := range s.Props {
		if p := &s.Props[i]; p.DropNull && !seen[p.Name] {
			null := b.New(jsonschema.Null)
			null.Key = p.Shown
			v.Kids = append(v.Kids, null)
		}
	}
	return v
}

func (b *backer) forwardPairs(v *node, s *step) *node {
	if v.Kind != jsonschema.Object {
		return v
	}
	out := b.New(jsonschema.Array)
	out.Key = v.Key
	for _, kid := range v.Kids {
		pair, key := b.New(jsonschema.Object), b.New(jsonschema.String)
		key.Key, key.Text = "key", kid.Key
		value := b.forward(kid, s.Item)
		value.Key = "value"
		pair.Kids = []*node{key, value}
		out.Kids = append(out.Kids, pair)
	}
	return out
}
