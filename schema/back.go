package schema

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// stepKind says what Back undoes at one place in the arguments.
type stepKind string

const (
	stepSame   stepKind = ""       // nothing
	stepGoto   stepKind = "goto"   // jump to Item, to close a cycle
	stepUnwrap stepKind = "unwrap" // the value of the only property is the arguments
	stepObject stepKind = "object" // rename properties, drop nulls, add constants
	stepArray  stepKind = "array"
	stepPairs  stepKind = "pairs" // turn a list of key-value pairs into a map
	stepJSON   stepKind = "json"  // parse the string as JSON
	stepEnum   stepKind = "enum"  // replace the string by the enum value it stands for
	stepUnion  stepKind = "union" // apply the step of the first branch that accepts the value
)

// step is what Back does at one place. Steps refer to each other by number; 0 is stepSame.
type step struct {
	Kind     stepKind   `json:"kind"`
	Props    []stepProp `json:"props,omitempty"`
	Rest     int        `json:"rest,omitempty"` // the step for properties not in Props
	Item     int        `json:"item,omitempty"`
	Prefix   []int      `json:"prefix,omitempty"`
	Table    []entry    `json:"table,omitempty"`
	Branches []branch   `json:"branches,omitempty"`
}

type stepProp struct {
	Shown    string          `json:"shown"`
	Name     string          `json:"name"`
	Step     int             `json:"step,omitempty"`
	DropNull bool            `json:"dropNull,omitempty"`
	Const    json.RawMessage `json:"const,omitempty"`
}

type entry struct {
	Text  string          `json:"text"`
	Value json.RawMessage `json:"value"`
}

type branch struct {
	Test json.RawMessage `json:"test"`
	Step int             `json:"step,omitempty"`
	test *node
}

// Fix is one thing that Back undid.
type Fix struct {
	Pointer string `json:"pointer"` // into the arguments that the model sent
	Kind    string `json:"kind"`
}

// wrapKey is the property that holds arguments that are not an object.
const wrapKey = "input"

// backer undoes the dialect in the arguments of one call.
type backer struct {
	tree
	steps []step
	fixes []Fix
	path  []string
	err   *Error
}

// Back maps arguments that a model sent for Parameters to the original schema. It only undoes
// the dialect: apart from reading JSON text leniently, it neither repairs nor validates.
// Arguments with nothing to undo are returned byte for byte.
func (res *Result) Back(args []byte) ([]byte, []Fix, error) {
	b := &backer{steps: res.steps}
	raw := bytes.TrimSpace(args)
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	if raw[0] == '"' { // an object that was encoded twice
		n, err := b.Parse(raw)
		if err != nil {
			return nil, nil, &Error{BadArguments, "", err.Error()}
		}
		raw = bytes.TrimSpace([]byte(n.Text))
		b.fix("json")
	}
	if len(raw) == 0 || raw[0] != '{' {
		return nil, nil, &Error{BadArguments, "", "the arguments are no JSON object"}
	}
	n, err := b.Parse(raw)
	if err != nil {
		return nil, nil, &Error{BadArguments, "", err.Error()}
	}
	if res.root == 0 && b.Twice == nil {
		return raw, b.fixes, nil
	}
	n = b.apply(n, res.root)
	if b.err != nil {
		return nil, nil, b.err
	}
	return n.Append(make([]byte, 0, len(raw)+16)), b.fixes, nil
}

func (b *backer) fix(kind string) {
	b.fixes = append(b.fixes, Fix{jsonschema.Pointer(b.path), kind})
}

func (b *backer) fail(message string) {
	if b.err == nil {
		b.err = &Error{BadArguments, jsonschema.Pointer(b.path), message}
	}
}

func (b *backer) below(token string, v *node, at int) *node {
	if at == 0 {
		return v
	}
	b.path = append(b.path, token)
	v = b.apply(v, at)
	b.path = b.path[:len(b.path)-1]
	return v
}

// step returns step number at, following gotos; nil when there is nothing to do.
func (b *backer) step(at int) *step {
	for range len(b.steps) + 1 { // a stored plan could contain a loop of gotos
		if at <= 0 || at > len(b.steps) {
			return nil
		}
		s := &b.steps[at-1]
		if s.Kind != stepGoto {
			return s
		}
		at = s.Item
	}
	return nil
}

// ofItem returns the step number for item i of an array.
func (s *step) ofItem(i int) int {
	if i < len(s.Prefix) {
		return s.Prefix[i]
	}
	return s.Item
}

// apply undoes step number at for v. A value of an unexpected type is left as it is:
// validation will report it.
func (b *backer) apply(v *node, at int) *node {
	s := b.step(at)
	if s == nil || b.err != nil {
		return v
	}
	switch s.Kind {
	case stepUnwrap:
		return b.unwrap(v, s)
	case stepObject:
		return b.object(v, s)
	case stepArray:
		if v.Kind != jsonschema.Array {
			return v
		}
		for i, kid := range v.Kids {
			v.Kids[i] = b.below(itoa(i), kid, s.ofItem(i))
		}
	case stepPairs:
		return b.pairs(v, s)
	case stepJSON:
		return b.json(v)
	case stepEnum:
		for _, e := range s.Table {
			if v.Kind == jsonschema.String && v.Text == e.Text {
				if literal, err := b.Parse(e.Value); err == nil {
					b.fix("enum")
					literal.Key = v.Key
					return literal
				}
			}
		}
	case stepUnion:
		for i := range s.Branches {
			br := &s.Branches[i]
			if accepts(br.test, v) {
				return b.apply(v, br.Step)
			}
		}
	}
	return v
}

// json parses a string that contains JSON, also as models write it. Text that does not look like
// JSON stays a string, because any value is allowed here.
func (b *backer) json(v *node) *node {
	if v.Kind != jsonschema.String {
		return v
	}
	inner, err := b.Parse([]byte(v.Text))
	if err != nil {
		if raw, doubt, loose := loosejson.Read(v.Text); loose == nil && doubt == loosejson.Sure {
			inner, err = b.Parse(raw)
		}
	}
	if err != nil {
		if s := strings.TrimSpace(v.Text); s != "" && strings.IndexByte("{[\"", s[0]) >= 0 {
			b.fail("the text is not JSON: " + err.Error())
		}
		return v
	}
	b.fix("json")
	inner.Key = v.Key
	return inner
}

func (b *backer) unwrap(v *node, s *step) *node {
	inner := v.Get(wrapKey)
	if inner == nil {
		b.fail("the property " + quote(wrapKey) + " is missing")
		return v
	}
	b.fix("unwrap")
	return b.below(wrapKey, inner, s.Item)
}

func (b *backer) object(v *node, s *step) *node {
	if v.Kind != jsonschema.Object {
		return v
	}
	var byShown map[string]*stepProp
	if len(s.Props) > 16 {
		byShown = make(map[string]*stepProp, len(s.Props))
		for i := range s.Props {
			byShown[s.Props[i].Shown] = &s.Props[i]
		}
	}
	kept := v.Kids[:0]
	for _, kid := range v.Kids {
		p := byShown[kid.Key]
		for i := range s.Props {
			if byShown != nil || p != nil {
				break
			}
			if s.Props[i].Shown == kid.Key {
				p = &s.Props[i]
			}
		}
		if p == nil {
			kept = append(kept, b.below(kid.Key, kid, s.Rest))
			continue
		}
		b.path = append(b.path, kid.Key)
		if p.DropNull && kid.Kind == jsonschema.Null {
			b.fix("null")
			b.path = b.path[:len(b.path)-1]
			continue
		}
		if p.Name != kid.Key {
			b.fix("rename")
		}
		kid = b.apply(kid, p.Step)
		kid.Key = p.Name
		b.path = b.path[:len(b.path)-1]
		kept = append(kept, kid)
	}
	v.Kids = kept
	for i := range s.Props {
		p := &s.Props[i]
		if p.Const == nil || v.Get(p.Name) != nil {
			continue
		}
		if n, err := b.Parse(p.Const); err == nil {
			n.Key = p.Name
			v.Kids = append(v.Kids, n)
			b.path = append(b.path, p.Shown)
			b.fix("const")
			b.path = b.path[:len(b.path)-1]
		}
	}
	return v
}

func (b *backer) pairs(v *node, s *step) *node {
	if v.Kind != jsonschema.Array {
		return v
	}
	out := b.New(jsonschema.Object)
	out.Key = v.Key
	seen := make(map[string]bool, len(v.Kids))
	for i, kid := range v.Kids {
		key := kid.Get("key")
		value := kid.Get("value")
		if key == nil || key.Kind != jsonschema.String || value == nil {
			b.fail("item " + itoa(i) + " has no key and value")
			return v
		}
		if seen[key.Text] {
			b.fail("the key " + quote(key.Text) + " is a duplicate")
			return v
		}
		seen[key.Text] = true
		b.path = append(b.path, itoa(i))
		value = b.below("value", value, s.Item)
		b.path = b.path[:len(b.path)-1]
		value.Key = key.Text
		out.Kids = append(out.Kids, value)
	}
	b.fix("pairs")
	return out
}
