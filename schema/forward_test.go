package schema

import (
	"encoding/json"
	"reflect"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Forward maps arguments of the original schema to what a model would send for Parameters.
// It is the inverse of Back, except for nulls that the dialect cannot tell from absent values.
func (res *Result) Forward(args []byte) ([]byte, error) {
	b := &backer{steps: res.steps}
	n, err := b.Parse(args)
	if err != nil {
		return nil, &Error{BadArguments, "", err.Error()}
	}
	return b.forward(n, res.root).Append(nil), nil
}

func (b *backer) forward(v *node, at int) *node {
	s := b.step(at)
	if s == nil {
		return v
	}
	switch s.Kind {
	case stepUnwrap:
		out := b.New(jsonschema.Object)
		inner := b.forward(v, s.Item)
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
			v.Kids[i] = b.forward(kid, s.ofItem(i))
		}
	case stepPairs:
		return b.forwardPairs(v, s)
	case stepJSON:
		return b.text(v.Key, v.String())
	case stepEnum:
		for _, e := range s.Table {
			if v.Kind != jsonschema.String && means(v, e.Value) {
				return b.text(v.Key, e.Text)
			}
		}
	case stepUnion:
		for i := range s.Branches {
			var t tree
			c, _ := t.Parse(v.Append(nil))
			c.Key = v.Key
			c = b.forward(c, s.Branches[i].Step)
			if accepts(s.Branches[i].test, c) {
				return c
			}
		}
	}
	return v
}

func (b *backer) text(key, text string) *node {
	n := b.New(jsonschema.String)
	n.Key = key
	n.Text = text
	return n
}

// means reports whether v equals a value of a table; 1 and 1.0 are equal.
func means(v *node, value []byte) bool {
	var x, y any
	return json.Unmarshal(value, &x) == nil && json.Unmarshal(v.Append(nil), &y) == nil && reflect.DeepEqual(x, y)
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
		v.Kids[i] = b.forward(kid, p.Step)
		v.Kids[i].Key = p.Shown
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
		pair := b.New(jsonschema.Object)
		key := b.text("key", kid.Key)
		value := b.forward(kid, s.Item)
		value.Key = "value"
		pair.Kids = []*node{key, value}
		out.Kids = append(out.Kids, pair)
	}
	return out
}
