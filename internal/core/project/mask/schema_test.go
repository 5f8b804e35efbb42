package mask_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/core/project/mask"
)

const note = `"_omitted":{"type":"object","description":"What was left out of this result, and the ref to fetch it with."}`

func cuts(t testing.TB, c mask.Cuts, masks ...string) mask.Cuts {
	t.Helper()
	for _, src := range masks {
		m, err := mask.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		c.Masks = append(c.Masks, m)
	}
	c.Note = "_omitted"
	return c
}

func TestSchema(t *testing.T) {
	cases := []struct {
		name, schema string
		cuts         mask.Cuts
		want         string // "": it is dropped
	}{
		{"a property that is always dropped goes", `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}},` +
			`"required":["a","b"],"additionalProperties":false}`, cuts(t, mask.Cuts{}, "a"),
			`{"type":"object","properties":{"a":{"type":"number"},` + note + `},"required":["a"],"additionalProperties":false}`},
		{"one that is sometimes dropped is not required", `{"properties":{"a":{},"b":{}},"required":["a","b"]}`,
			cuts(t, mask.Cuts{Whole: true}, "a"), `{"properties":{"a":{},"b":{},` + note + `},"required":["a"]}`},
		{"of several masks each may apply", `{"properties":{"a":{},"b":{},"c":{}},"required":["a","b","c"]}`,
			cuts(t, mask.Cuts{}, "a,b", "a,c"), `{"properties":{"a":{},"b":{},"c":{},` + note + `},"required":["a"]}`},
		{"rows", `{"properties":{"r":{"type":"array","minItems":3,"items":{"properties":{"x":{},"y":{}},"required":["x","y"]}}}}`,
			cuts(t, mask.Cuts{}, "r[:2](x)"),
			`{"properties":{"r":{"type":"array","items":{"properties":{"x":{}},"required":["x"]}},` + note + `}}`},
		{"a cap relaxes strings below", `{"properties":{"s":{"properties":{"t":{"type":"string","maxLength":9,"pattern":"x",` +
			`"format":"uri"}}}}}`, cuts(t, mask.Cuts{}, "s~5"),
			`{"properties":{"s":{"properties":{"t":{"type":"string"}}},` + note + `}}`},
		{"what is kept whole is the same", `{"properties":{"s":{"minProperties":2,"not":{}},"t":{}}}`, cuts(t, mask.Cuts{}, "s"),
			`{"properties":{"s":{"minProperties":2,"not":{}},` + note + `}}`},
		{"oneOf becomes anyOf", `{"oneOf":[{"properties":{"a":{},"b":{}},"required":["b"],"additionalProperties":false},` +
			`{"required":["a"]}]}`, cuts(t, mask.Cuts{}, "a"),
			`{"anyOf":[{"properties":{"a":{},` + note + `},"required":[],"additionalProperties":false},{"required":["a"],"properties":{` +
				note + `}}],"properties":{` + note + `}}`},
		{"a reference is written anew per view", `{"$defs":{"n":{"properties":{"id":{},"x":{},"next":{"$ref":"#/$defs/n"}},` +
			`"required":["x"]}},"properties":{"n":{"$ref":"#/$defs/n"},"m":{"$ref":"#/$defs/n"}}}`, cuts(t, mask.Cuts{}, "n(id,next),m"),
			`{"$defs":{"n":{"properties":{"id":{},"x":{},"next":{"$ref":"#/$defs/n"}},"required":["x"]},"cut1":{"properties":{"id":{},` +
				`"next":{"$ref":"#/$defs/n"}},"required":[]}},"properties":{"n":{"$ref":"#/$defs/cut1"},"m":{"$ref":"#/$defs/n"},` + note +
				`}}`},
		{"a cycle under a deep exclusion ends", `{"properties":{"x":{},"c":{"$ref":"#"}},"required":["x"]}`, cuts(t, mask.Cuts{}, "!**/x"),
			`{"properties":{"c":{"$ref":"#/$defs/cut1"},` + note +
				`},"required":[],"$defs":{"cut1":{"properties":{"c":{"$ref":"#/$defs/cut1"}},"required":[]}}}`},
		{"a reference into a list is followed", `{"properties":{"a":{"anyOf":[{"properties":{"x":{},"y":{}}}]},` +
			`"b":{"$ref":"#/properties/a/anyOf/0"}}}`, cuts(t, mask.Cuts{}, "b(x)"),
			`{"properties":{"b":{"$ref":"#/$defs/cut1"},` + note + `},"$defs":{"cut1":{"properties":{"x":{}}}}}`},
		{"so is one to an anchor, which stays in its own place",
			`{"properties":{"b":{"$ref":"#n"}},"$defs":{"n":{"$anchor":"n","properties":{"x":{},"y":{}}}}}`, cuts(t, mask.Cuts{}, "b(x)"),
			`{"properties":{"b":{"$ref":"#/$defs/cut1"},` + note +
				`},"$defs":{"n":{"$anchor":"n","properties":{"x":{},"y":{}}},"cut1":{"properties":{"x":{}}}}}`},
		{"what has an id of its own cannot reach what is written anew",
			`{"properties":{"b":{"$ref":"n"}},"$defs":{"n":{"$id":"n","properties":{"x":{}}}}}`, cuts(t, mask.Cuts{}, "b(x)"), ""},
		{"a budget relaxes everywhere", `{"properties":{"a":{"type":"array","maxItems":3,"items":{"type":"string","format":"date",` +
			`"enum":["x"]}}},"required":["a"]}`, cuts(t, mask.Cuts{Budget: true}),
			`{"properties":{"a":{"type":"array","items":{"type":"string","enum":["x"]}},` + note + `}}`},
		{"what depends on missing members is dropped", `{"properties":{"a":{}},"if":{"required":["a"]},"then":{}}`,
			cuts(t, mask.Cuts{}, "!b"), ""},
		{"so is what cannot be found", `{"$ref":"https://example.com/x"}`, cuts(t, mask.Cuts{}, "a"), ""},
		{"no JSON", `{`, cuts(t, mask.Cuts{}, "a"), ""},
		{"true stays true", `true`, cuts(t, mask.Cuts{}, "a"), `true`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := string(mask.Schema([]byte(c.schema), c.cuts)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestWhatIsCutFitsTheCutSchema: a value of the schema, cut by the mask, is one of the new schema.
func TestWhatIsCutFitsTheCutSchema(t *testing.T) {
	const schema = `{"type":"object","required":["id","rows"],"additionalProperties":false,"properties":{"id":{"type":"integer"},"text":{"type":"string","maxLength":20},
		"rows":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/row"}},"map":{"type":"object","additionalProperties":{"$ref":"#/$defs/row"}}},
		"$defs":{"row":{"type":"object","required":["id","name","sub"],"additionalProperties":false,"properties":{"id":{"type":"integer"},"name":{"type":"string","minLength":1},"sub":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/row"}]}}}}}`
	masks := []string{"id", "rows(id)", "rows[1:](name~3)", "rows(sub/sub(id)),text~2", "!**/name", "!rows/sub,!id", "map(*(id)),id",
		"map/a(sub(name)),rows[-1:]", "*~1", "id,!**/sub"}
	var row func(depth int) *rapid.Generator[any]
	row = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			var sub any
			if depth > 0 && rapid.Bool().Draw(t, "deeper") {
				sub = row(depth-1).Draw(t, "sub")
			}
			return map[string]any{"id": rapid.IntRange(0, 9).Draw(t, "id"), "name": rapid.StringMatching(`[a-z中]{1,8}`).Draw(t, "name"),
				"sub": sub}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{
			"id": 1, "text": rapid.StringMatching(`.{0,20}`).Draw(t, "text"),
			"rows": rapid.SliceOfN(row(3), 1, 4).Draw(t, "rows"),
			"map":  rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), row(2), 0, 2).Draw(t, "map"),
		}
		src := rapid.SampledFrom(masks).Draw(t, "mask")
		m, err := mask.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(value)
		out, err := m.Apply(nil, raw, &mask.Tally{})
		if err != nil {
			t.Fatal(err)
		}
		projected := mask.Schema([]byte(schema), mask.Cuts{Masks: []*mask.Mask{m}, Whole: rapid.Bool().Draw(t, "whole"), Note: "_omitted"})
		if projected == nil {
			t.Fatalf("%s drops the schema", src)
		}
		if err := validate(projected, out); err != nil {
			t.Fatalf("%s: %v\nvalue  %s\ncut    %s\nschema %s", src, err, raw, out, projected)
		}
	})
}

func validate(schema, value []byte) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("read %s: %w", schema, err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	return r.Validate(v)
}

func TestCheckFindsMisspelledNames(t *testing.T) {
	const schema = `{"type":"object","properties":{"EnvList":{"type":"array","items":{"$ref":"#/$defs/env"}},"Total":{}},"additionalProperties":false,
		"$defs":{"env":{"type":"object","properties":{"EnvId":{},"Alias":{},"Status":{}}}}}`
	m, err := mask.Parse("EnvList(EnvID,Alais,St*,Wholly),total,!EnvList/Statsu,!**/anything")
	if err != nil {
		t.Fatal(err)
	}
	got := m.Check([]byte(schema))
	want := []mask.Finding{
		{Path: "EnvList/Alais", Near: []string{"Alias"}},
		{Path: "EnvList/EnvID", Near: []string{"EnvId"}},
		{Path: "EnvList/Wholly"},
		{Path: "total", Sure: true, Near: []string{"Total"}},
		{Path: "EnvList/Statsu", Near: []string{"Status"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, schema := range []string{`{}`, `true`, `{`, `{"type":"object"}`, `{"$ref":"#"}`} {
		if got := m.Check([]byte(schema)); len(got) > 0 {
			t.Errorf("%s: %v", schema, got)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add("a(b),!**/c", []byte(`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{"$ref":"#"},{"items":{}}]}}}`))
	f.Add("[1:]~3", []byte(`{"prefixItems":[{}],"items":{"type":"string","maxLength":3}}`))
	f.Fuzz(func(t *testing.T, src string, schema []byte) {
		m, err := mask.Parse(src)
		if err != nil || len(schema) > 1<<12 || strings.Count(string(schema), "$ref") > 20 {
			return
		}
		for _, budget := range []bool{false, true} {
			if out := mask.Schema(schema, mask.Cuts{Masks: []*mask.Mask{m}, Budget: budget, Note: "_omitted"}); out != nil &&
				!json.Valid(out) {
				t.Fatalf("%q became %q", schema, out)
			}
		}
		m.Check(schema)
	})
}
