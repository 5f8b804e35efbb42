package jsonschema

import (
	"fmt"
	"strings"
	"testing"
)

// at is the node to which a pointer leads.
func at(t testing.TB, root *Node, pointer string) *Node {
	t.Helper()
	if pointer == "" {
		return root
	}
	n := NewIndex(root, Draft2020).walkPointer(root, Names(pointer))
	if n == nil {
		t.Fatalf("there is no %s", pointer)
	}
	return n
}

func TestLookup(t *testing.T) {
	wide := `"$defs":{`
	for i := range 100 {
		wide += fmt.Sprintf(`"d%d":{},`, i)
	}
	wide += `"last":{"x":[]}}`
	for _, c := range []struct {
		name, schema, from, ref string
		want                    string // a pointer; "none" and "external" for what is not found
		repaired                bool
	}{
		{"the root", `{"a":{}}`, "/a", "#", "", false},
		{"a definition", `{"$defs":{"a":{}}}`, "", "#/$defs/a", "/$defs/a", false},
		{"no definition", `{"$defs":{"a":{}}}`, "", "#/$defs/b", "none", false},
		{"a tilde and a slash", `{"$defs":{"a/b~c":{}}}`, "", "#/$defs/a~1b~0c", "/$defs/a~1b~0c", false},
		{"percent signs", `{"$defs":{"中 %":{}}}`, "", "#/$defs/%E4%B8%AD%20%25", "/$defs/中 %", false},
		{"a percent sign that is none", `{"$defs":{"100%":{}}}`, "", "#/$defs/100%", "/$defs/100%", false},
		{"an escaped slash in a name", `{"$defs":{"a/b":{}}}`, "", "#/$defs/a%2Fb", "/$defs/a~1b", true},
		{"a slash in a name", `{"$defs":{"a/b":{"c":{}}}}`, "", "#/$defs/a/b/c", "/$defs/a~1b/c", true},
		{"an empty name", `{"$defs":{"":{}}}`, "", "#/$defs/", "/$defs/", false},
		{"an element", `{"anyOf":[{},{"items":[{}]}]}`, "", "#/anyOf/1/items/0", "/anyOf/1/items/0", false},
		{"no such element", `{"anyOf":[{}]}`, "", "#/anyOf/1", "none", false},
		{"a name where an element is", `{"anyOf":[{}]}`, "", "#/anyOf/x", "none", false},
		{"a wide object", `{` + wide + `}`, "", "#/$defs/last/x", "/$defs/last/x", false},
		{"a name that a wide object has not", `{` + wide + `}`, "", "#/$defs/first", "none", false},
		{"another document", `{}`, "", "https://example.com/a#/b", "external", false},

		{"an anchor", `{"properties":{"a":{"$anchor":"x"}}}`, "", "#x", "/properties/a", false},
		{"an anchor with escapes", `{"properties":{"a":{"$anchor":"é"}}}`, "", "#%C3%A9", "/properties/a", false},
		{"no anchor", `{}`, "", "#x", "none", false},
		{"a dynamic anchor is one too", `{"$defs":{"a":{"$dynamicAnchor":"x"}}}`, "", "#x", "/$defs/a", false},
		{"of two anchors the first", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "", "#x", "/$defs/a", false},
		{"an anchor in data is none", `{"default":{"$anchor":"x"},"enum":[{"$anchor":"x"}],"x-own":{"$anchor":"x"}}`, "", "#x", "none", false},
		{"an anchor of another resource", `{"$defs":{"a":{"$id":"a","$anchor":"x"}}}`, "", "#x", "none", false},
		{"by its address", `{"$defs":{"a":{"$id":"a","$anchor":"x"}}}`, "", "a#x", "/$defs/a", false},

		{"the id of the root", `{"$id":"https://example.com/s","$defs":{"a":{}}}`, "/$defs/a", "https://example.com/s#/$defs/a", "/$defs/a", false},
		{"a relative id", `{"$id":"https://example.com/s/root","$defs":{"a":{"$id":"part"}}}`, "", "https://example.com/s/part", "/$defs/a", false},
		{"an id as it is written", `{"$id":"https://example.com/s/root","$defs":{"a":{"$id":"part"}}}`, "", "part", "/$defs/a", false},
		{"a relative reference in a resource", `{"$defs":{"a":{"$id":"https://x.org/d/a","items":{}},"b":{"$id":"https://x.org/d/b"}}}`, "/$defs/a/items", "b", "/$defs/b", false},
		{"a pointer in a resource", `{"$defs":{"a":{"$id":"a","$defs":{"b":{}},"items":{}},"b":{}}}`, "/$defs/a/items", "#/$defs/b", "/$defs/a/$defs/b", false},
		{"a pointer that is meant for the document", `{"$defs":{"a":{"$id":"a","items":{}},"b":{}}}`, "/$defs/a/items", "#/$defs/b", "/$defs/b", true},
		{"an id in data is none", `{"const":{"$id":"a"},"properties":{"$id":{"type":"string"}}}`, "", "a", "external", false},
		{"an id that is no URL", `{"$id":"https://x.org/","$defs":{"a":{"$id":"::"}}}`, "", "::", "/$defs/a", false},

		{"draft 4 says id", `{"$schema":"http://json-schema.org/draft-04/schema#","definitions":{"a":{"id":"a"}}}`, "", "a", "/definitions/a", false},
		{"later drafts do not", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"id":"a"}}}`, "", "a", "external", false},
		{"older drafts write an anchor as an id", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$id":"#x"}}}`, "", "#x", "/definitions/a", false},
		{"beside a $ref older drafts have no id", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$id":"a","$ref":"#"}}}`, "", "a", "external", false},
		{"newer drafts have", `{"$defs":{"a":{"$id":"a","$ref":"#"}}}`, "", "a", "/$defs/a", false},
		{"components of an OpenAPI document", `{"components":{"schemas":{"A":{"$anchor":"x"}}}}`, "", "#x", "/components/schemas/A", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := parse(t, c.schema)
			x := NewIndex(root, DraftOf(root))
			from := at(t, root, c.from)
			for range 2 { // the second time it is known
				found := x.Lookup(from, c.ref)
				got := "none"
				if found.Node != nil {
					got = found.Node.Pointer()
				} else if found.External {
					got = "external"
				}
				if got != c.want || found.Repaired != c.repaired {
					t.Errorf("got %s, repaired: %v; want %s, %v", got, found.Repaired, c.want, c.repaired)
				}
			}
		})
	}
}

func TestResourceIsTheNearestOneAround(t *testing.T) {
	root := parse(t, `{"$defs":{"a":{"$id":"a","items":{"not":{}}},"b":{"not":{}}}}`)
	x := NewIndex(root, Draft2020)
	for pointer, want := range map[string]string{"": "", "/$defs/b/not": "", "/$defs/a": "/$defs/a", "/$defs/a/items/not": "/$defs/a"} {
		if got := x.Resource(at(t, root, pointer)).Pointer(); got != want {
			t.Errorf("%s: got %s, want %s", pointer, got, want)
		}
	}
}

func TestADynamicReferenceMeansTheOutermostAnchorOfItsName(t *testing.T) {
	root := parse(t, `{"$dynamicAnchor":"node","$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","items":{"$dynamicRef":"#node"}},"plain":{"$anchor":"p"}}}`)
	x := NewIndex(root, Draft2020)
	ref := at(t, root, "/$defs/tree/items/$dynamicRef")
	inner := x.Lookup(ref, ref.Text).Node
	if inner.Pointer() != "/$defs/tree" || x.Outermost(inner) != root {
		t.Errorf("got %s, then %s", inner.Pointer(), x.Outermost(inner).Pointer())
	}
	if plain := at(t, root, "/$defs/plain"); x.Outermost(plain) != plain {
		t.Error("what has no dynamic anchor is itself")
	}
	count := 0
	x.Dynamic("node", func(resource, at *Node) {
		count++
		if resource != at {
			t.Errorf("the resource of %s is %s", at.Pointer(), resource.Pointer())
		}
	})
	if count != 2 {
		t.Errorf("%d anchors", count)
	}
}

func TestPointersThatCanBeReadInTooManyWaysLeadNowhere(t *testing.T) {
	schema := `{"end":{}}`
	for range 12 {
		schema = `{"a":` + schema + `,"a/a":` + schema + `}`
	}
	root := parse(t, schema)
	x := NewIndex(root, Draft2020)
	for i := range 20 {
		if found := x.Lookup(root, "#"+strings.Repeat("/a", 13+i)+"/x"); found.Node != nil {
			t.Errorf("found %s", found.Node.Pointer())
		}
	}
	if x.tries > maxTries+1000 {
		t.Errorf("%d names were tried", x.tries)
	}
}

func FuzzLookup(f *testing.F) {
	f.Add([]byte(`{"$defs":{"a/b":{"$anchor":"x"},"c":{"$id":"c","$defs":{"%":[{}]}}}}`), "#/$defs/a~1b")
	f.Add([]byte(`{"$defs":{"a":{"$id":"https://x.org/a"}}}`), "a#/b/0")
	f.Add([]byte(`{"$schema":"draft-04","definitions":{"a":{"id":"#x"}}}`), "#%78")
	f.Fuzz(func(t *testing.T, raw []byte, ref string) {
		root, err := Parse(raw)
		if err != nil || len(raw) > 1<<12 {
			return
		}
		x := NewIndex(root, DraftOf(root))
		var visit func(n *Node)
		visit = func(n *Node) {
			x.Lookup(n, ref)
			pointer := strings.ReplaceAll(n.Pointer(), "%", "%25")
			if found := x.Lookup(root, "#"+pointer); found.Node != n || found.Repaired {
				t.Fatalf("%s: %s leads to %v", raw, pointer, found)
			}
			for _, kid := range n.Kids {
				visit(kid)
			}
		}
		visit(root)
	})
}
