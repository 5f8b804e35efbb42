package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func object(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
}

func TestParseMirror(t *testing.T) {
	for _, c := range []struct {
		name, properties string
		good             bool
	}{
		{"no annotation", `"a":{"type":"string"}`, true},
		{"a text", `"a":{"type":"string","x-mcp-header":"A"}`, true},
		{"deep, through properties alone", `"a":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"B"}}}`, true},
		{"a property that is called so", `"x-mcp-header":{"type":"string"}`, true},
		{"data that looks so", `"a":{"default":{"x-mcp-header":1},"enum":[{"x-mcp-header":2}]}`, true},
		{"an empty name", `"a":{"type":"string","x-mcp-header":""}`, false},
		{"a name that is no text", `"a":{"type":"string","x-mcp-header":1}`, false},
		{"a name with a blank", `"a":{"type":"string","x-mcp-header":"A B"}`, false},
		{"a name that is not ASCII", `"a":{"type":"string","x-mcp-header":"é"}`, false},
		{"a number, which has many forms", `"a":{"type":"number","x-mcp-header":"A"}`, false},
		{"an object", `"a":{"type":"object","x-mcp-header":"A"}`, false},
		{"no type", `"a":{"x-mcp-header":"A"}`, false},
		{"the same name in another case", `"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}`, false},
		{"under items", `"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`, false},
		{"under a choice", `"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}`, false},
		{"under a definition", `"a":{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseMirror(object(c.properties)); (err == nil) != c.good {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := ParseMirror(json.RawMessage(`{"type":"string","x-mcp-header":"Root"}`)); err == nil {
		t.Error("the arguments as a whole have no header")
	}
}

func TestMirrorSaysAndChecksArguments(t *testing.T) {
	m, err := ParseMirror(object(`"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},` +
		`"deep":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	args := json.RawMessage(`{"region":"世","n":42,"deep":{"on":false},"other":1}`)
	h := m.Header(args, http.Header{"Mcp-Param-Unknown": {"kept"}, "Mcp-Param-N": {"41"}})
	want := http.Header{"Mcp-Param-Region": {"=?base64?5LiW?="}, "Mcp-Param-N": {"42"}, "Mcp-Param-On": {"false"}, "Mcp-Param-Unknown": {"kept"}}
	for name := range want {
		if h.Get(name) != want.Get(name) || len(h) != len(want) {
			t.Fatalf("got %v, want %v", h, want)
		}
	}
	if err := m.Check(h, args); err != nil {
		t.Error(err)
	}
	if h := m.Header(json.RawMessage(`{"region":null,"n":{}}`), nil); len(h) != 0 {
		t.Errorf("what is absent, null or no scalar has no header: %v", h)
	}
	for _, c := range []struct {
		name, header, value, args string
		good                      bool
	}{
		{"a number in another form", "N", "42", `{"n":42.0}`, true},
		{"another number", "N", "43", `{"n":42}`, false},
		{"a big number that only rounds to the same", "N", "9007199254740993", `{"n":9007199254740992}`, false},
		{"a text that looks like the number", "Region", "42.0", `{"region":"42"}`, false},
		{"a header without its argument", "Region", "x", `{}`, false},
		{"a header for null", "Region", "x", `{"region":null}`, false},
		{"broken base64", "Region", "=?base64?5LiW", `{"region":"世"}`, false},
		{"a value that only begins like base64", "Region", "=?base64?5LiW", `{"region":"=?base64?5LiW"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := m.Check(http.Header{"Mcp-Param-" + c.header: {c.value}}, json.RawMessage(c.args)); (err == nil) != c.good {
				t.Errorf("got %v", err)
			}
		})
	}
	if m.Check(http.Header{}, json.RawMessage(`{"n":1}`)) == nil {
		t.Error("an argument without its header passed")
	}
	if m.Check(http.Header{"Mcp-Param-N": {"1", "1"}}, json.RawMessage(`{"n":1}`)) == nil {
		t.Error("a header that stands there twice passed")
	}
	var none *Mirror
	if none.Check(nil, args) != nil || none.Header(args, nil) != nil {
		t.Error("no mirror says something")
	}
}

func TestWithoutMirrorKeepsAllElse(t *testing.T) {
	in := `{"x-mcp-header":"R", "type":"object","properties":{"{}":{ "x-mcp-header" : "A" ,"type":"string"},"x-mcp-header":{"type":"string","x-mcp-header":"B"}},` +
		`"anyOf":[{"x-mcp-header":"C"},{"items":{"minimum":1.0,"x-mcp-header":"D"}}],"default":{"x-mcp-header":1}}`
	want := `{ "type":"object","properties":{"{}":{"type":"string"},"x-mcp-header":{"type":"string"}},` +
		`"anyOf":[{},{"items":{"minimum":1.0}}],"default":{"x-mcp-header":1}}`
	if got := string(WithoutMirror(json.RawMessage(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzMirror(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`), []byte(`{"a":"x"}`))
	f.Add([]byte(`{"x-mcp-header":1,"items":[{"x-mcp-header":""}]}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		if !json.Valid(schema) || !json.Valid(args) || len(schema) > 0 && schema[0] != '{' {
			return
		}
		m, err := ParseMirror(schema)
		if err == nil && m.Check(m.Header(args, nil), args) != nil {
			t.Fatalf("what %s says of %s does not hold: %v", schema, args, m.Header(args, nil))
		}
		bare := WithoutMirror(schema)
		if !json.Valid(bare) {
			t.Fatalf("%s became %s", schema, bare)
		}
		if _, err := ParseMirror(bare); err != nil && !strings.Contains(string(bare), mirrorKey) {
			t.Fatalf("%s still has annotations: %v", bare, err)
		}
	})
}
