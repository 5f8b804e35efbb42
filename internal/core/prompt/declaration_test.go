package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTypeOf(t *testing.T) {
	wide := make([]string, 100)
	for i := range wide {
		wide[i] = fmt.Sprintf(`"member_number_%d":{"properties":{"a":{"properties":{"b":{"properties":{"c":{"type":"string"}}}}}}}`, i)
	}
	for name, c := range map[string]struct{ schema, want string }{
		"an object":          {`{"type":"object","properties":{"id":{"type":"integer"},"b":{"type":"string"}},"required":["id"]}`, "{id: integer, b?: string}"},
		"several kinds":      {`{"type":["object","array","null"],"properties":{"a":{}},"items":{"type":["string","null"]}}`, "{a?: any}|(string|null)[]|null"},
		"a dictionary":       {`{"type":"object","additionalProperties":{"type":"number"}}`, "Record<string, number>"},
		"a text":             {`{"type":"string"}`, "string"},
		"nothing":            {``, "any"},
		"no schema":          {`{"type":`, "any"},
		"anything":           {`{}`, "any"},
		"a reference":        {`{"$ref":"#/$defs/a","$defs":{"a":{"type":"boolean"}}}`, "boolean"},
		"it stays on a line": {"{\"properties\":{\"a\\nb\":{\"type\":\"str\\ning\"}}}", `{"a\nb"?: str ing}`},
	} {
		if got := TypeOf([]byte(c.schema)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	if got := TypeOf([]byte(`{"properties":{` + strings.Join(wide, ",") + `}}`)); !strings.Contains(got, "b?: object}") {
		t.Errorf("a long type is not cut: %s", got)
	}
}

func TestDeclarationOf(t *testing.T) {
	order := json.RawMessage(`{"properties":{"id":{"type":"integer","description":"Its id."}},"required":["id"]}`)
	for _, c := range []struct {
		name           string
		tool           Tool
		object, method string
		want           string
	}{
		{"a declared result has its comments", Tool{Description: "Read.", Schema: order, Result: order, Example: json.RawMessage(`{"id":7}`)}, "shop", "get",
			"declare const shop: {\n/** Read. */\n// Example: {\"id\":7}\nget(args: {\n// Its id.\nid: number\n}): Promise<{\n// Its id.\nid: number\n}>;\n};\n"},
		{"one that was seen is on one line", Tool{Schema: order, Result: order, Seen: 12}, "shop", "get",
			"declare const shop: {\nget(args: {\n// Its id.\nid: number\n}): Promise<{id: number}>; // seen in 12 results\n};\n"},
		{"nothing is known", Tool{}, "tools", "odd-name", "declare const tools: {\n\"odd-name\"(): Promise<any>;\n};\n"},
		{"arguments that may be left out", Tool{Schema: json.RawMessage(`{"properties":{"a":{"type":"array"}}}`)}, "s", "m",
			"declare const s: {\nm(args?: {\na?: any[]\n}): Promise<any>;\n};\n"},
		{"a description ends where we end it", Tool{Description: "one */ x\n\n  two\u2028three"}, "s", "m",
			"declare const s: {\n/** one * / x\ntwo three */\nm(): Promise<any>;\n};\n"},
	} {
		if diff := cmp.Diff(c.want, DeclarationOf(&c.tool, c.object, c.method)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestResultsInListsAreShort(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"a":{"properties":{"b":{"properties":{"c":{"properties":{"d":{"type":"string"}}}}}}}}}`)
	for seen, note := range map[int]string{0: "", 3: " // seen in 3+ results", 9: " // seen in 3+ results", 12: " // seen in 10+ results", 50: " // seen in 50+ results"} {
		want := "type t = () => {a?: {b?: {c?: object}}};" + note + "\n"
		if got := TypeScriptOf(&Tool{Name: "t", Result: schema, Seen: seen}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
