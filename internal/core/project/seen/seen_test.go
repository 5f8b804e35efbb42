package seen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func infer(values ...string) *Type {
	list := make([][]byte, len(values))
	for i, v := range values {
		list[i] = []byte(v)
	}
	return Infer(list)
}

// short writes a type in a few characters.
func short(t *Type) string {
	if t == nil {
		return "none"
	}
	var parts []string
	for _, w := range words {
		switch {
		case t.kinds&w.kind == 0, w.kind == integer && t.kinds&number != 0:
		case w.kind == object && t.record != nil:
			parts = append(parts, "{[]: "+short(t.record)+"}")
		case w.kind == object:
			var in []string
			for _, name := range slices.Sorted(maps.Keys(t.members)) {
				mark := ""
				if t.members[name].count < t.objects {
					mark = "?"
				}
				in = append(in, name+mark+": "+short(&t.members[name].Type))
			}
			parts = append(parts, "{"+strings.Join(in, ", ")+"}")
		case w.kind == array && t.items == nil:
			parts = append(parts, "[]")
		case w.kind == array:
			parts = append(parts, "["+short(t.items)+"]")
		default:
			parts = append(parts, w.word)
		}
	}
	return strings.Join(parts, "|")
}

func TestInfer(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   string
	}{
		{"nothing gives nothing", nil, "none"},
		{"invalid values are left out", []string{`{"a":`, `7`, ``, `1 2`}, "integer"},
		{"a member that some lack is optional", []string{`{"a":1,"b":"x"}`, `{"a":2,"b":"y"}`, `{"a":3}`}, "{a: integer, b?: string}"},
		{"kinds are joined", []string{`{"a":1}`, `{"a":null}`, `{"a":"x"}`}, "{a: string|integer|null}"},
		{"an integer beside a number is one", []string{`1`, `1.5`, `1e3`}, "number"},
		{"one value names all its members", []string{`{"a":1,"b":{"c":true}}`}, "{a: integer, b: {c: boolean}}"},
		{"a name that one of several values has is left out", []string{`{"a":1}`, `{"a":1,"secret":1}`, `{"a":1}`}, "{a: integer}"},
		{"elements of arrays lie on each other", []string{`[{"a":1},{"a":2,"b":[]}]`, `[{"a":1,"b":[[1],["x"]]}]`},
			"[{a: integer, b?: [[string|integer]]}]"},
		{"an empty array says nothing of its elements", []string{`{"a":[]}`, `{"a":[]}`}, "{a: []}"},
		{"a name given twice counts once", []string{`{"a":1,"a":"x"}`, `{}`, `{"a":1}`}, "{a?: string|integer}"},
		{"white space around values", []string{" \n{\"a\" : 1}\t"}, "{a: integer}"},
		{"escaped names are the same names", []string{`{"\u0061":1}`, `{"a":2}`}, "{a: integer}"},
		{"words that servers use are names",
			[]string{`{"@type":1,"og:title":1,"content-type":"","First Name":"","sha256":"","姓名":"","$id":""}`},
			"{$id: string, @type: integer, First Name: string, content-type: string, og:title: integer, sha256: string, 姓名: string}"},
		{"uuids are data", []string{`{"0b6e1b2c-9d1f-4a6e-8b57-0d2c7f0e9a11":{"n":1}}`}, "{[]: {n: integer}}"},
		{"dates are data", []string{`{"2026-11-01":1,"2026-11-02":2}`}, "{[]: integer}"},
		{"addresses, files and sentences are data",
			[]string{`{"a@b.com":1,"/etc/x":1,"x.txt":1,"how are you today":1,"https://x":1,"":1}`}, "{[]: integer}"},
		{"random names are data", []string{`{"aB3dE9xK":1,"sk-1a2b3c4d":2}`}, "{[]: integer}"},
		{"hidden characters are data", []string{"{\"a\u200bb\":1,\"c\u202ed\":1}"}, "{[]: integer}"},
		{"numbered names are a list", []string{`{"env-1":1,"env-2":1,"env-3":1}`}, "{[]: integer}"},
		{"two numbered names are names", []string{`{"line1":"","line2":""}`}, "{line1: string, line2: string}"},
		{"a few names beside data are named", []string{`{"id":1,"name":"","123456":true}`}, "{id: integer, name: string}"},
		{"more data than names: neither is", []string{`{"total":5,"2026-11-01":1,"2026-11-02":"x"}`}, "{[]: string|integer}"},
		{"names that vary over values of one kind are data", []string{`{"ann":1,"bob":2}`, `{"bob":1,"cid":2}`, `{"ann":1,"cid":4}`},
			"{[]: integer}"},
		{"many objects with the same members are a dictionary",
			[]string{`{"ann":{"x":1,"y":2},"bob":{"x":1,"y":2},"cid":{"x":1,"y":2},"dan":{"x":1,"y":2},"eve":{"x":1,"y":2}}`},
			"{[]: {x: integer, y: integer}}"},
		{"two objects with the same members are not", []string{`{"from":{"x":1,"y":2},"to":{"x":1,"y":2}}`},
			"{from: {x: integer, y: integer}, to: {x: integer, y: integer}}"},
		{"names inside a dictionary count over the given values", []string{`{"1":{"a":1,"b":1},"2":{"a":1,"c":1}}`, `{"3":{"a":1}}`},
			"{[]: {a: integer}}"},
		{"a text is a string", []string{`"hello"`, `"{\"a\":1}"`}, "string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := short(infer(c.values...)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestManyNamesAreADictionary(t *testing.T) {
	for _, count := range []int{65, 90, 300} {
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, `,"%c%c":{"n":%d}`, 'a'+i%26, 'a'+i/26, i)
		}
		if got := short(infer("{" + b.String()[1:] + "}")); got != "{[]: {n: integer}}" {
			t.Errorf("%d names give %s", count, got)
		}
	}
}

func TestTypeIsBounded(t *testing.T) {
	deep := short(infer(strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400)))
	if strings.Count(deep, "a") != maxDepth {
		t.Errorf("deep: %s", deep)
	}
	var wide func(depth int) string
	wide = func(depth int) string {
		if depth == 0 {
			return "1"
		}
		var parts []string
		for i := range 40 {
			parts = append(parts, fmt.Sprintf(`"%c%c":%s`, 'a'+i%26, 'a'+i/26, wide(depth-1)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	if n := len(infer(wide(3)).Schema()); n > 1<<20 {
		t.Errorf("wide: %d bytes", n)
	}
}

func TestSchema(t *testing.T) {
	for want, values := range map[string][]string{
		`{"type":"object","properties":{"id":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]}`: {
			`{"id":1}`, `{"id":2,"tags":["a"]}`, `{"tags":[],"id":3}`},
		`{"type":["object","null"],"additionalProperties":{"type":"number"}}`: {`{"1":1}`, `null`, `{"2":1.5}`},
		`{"type":"array"}`: {`[]`},
	} {
		if got := string(infer(values...).Schema()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// meets tells whether a value is of the type.
func meets(t *Type, raw []byte) bool {
	k := kindOf(raw)
	if t.kinds&k == 0 {
		return false
	}
	had := map[string]bool{}
	for w := rawjson.Object(raw); w.Next(); {
		had[string(w.Key)] = true
		in := t.record
		if m := t.members[string(w.Key)]; m != nil {
			in = &m.Type
		}
		if in != nil && !meets(in, w.Value) {
			return false
		}
	}
	for name, m := range t.members {
		if k == object && m.count >= t.objects && !had[name] {
			return false
		}
	}
	for w := rawjson.Array(raw); w.Next(); {
		if t.items != nil && !meets(t.items, w.Value) {
			return false
		}
	}
	return true
}

// anyValue makes values in which each string, and each name that is data, has the word VALUE in it.
func anyValue(depth int) *rapid.Generator[any] {
	hidden := rapid.SampledFrom([]string{"VALUE", "VALUE@example.com", "a VALUE of it"})
	scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int(), func(n int) any { return n }), rapid.Just[any](1.5), rapid.Map(hidden, func(s string) any { return s }))
	if depth == 0 {
		return scalar
	}
	name := rapid.SampledFrom([]string{"id", "name", "owner", "items", "first name", "VALUE-2026-11-01", "VALUE@example.com", "/VALUE", "12345 VALUE"})
	object := rapid.Map(rapid.MapOfN(name, anyValue(depth-1), 0, 5), func(m map[string]any) any { return m })
	array := rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 4), func(s []any) any { return s })
	return rapid.OneOf(scalar, object, array)
}

func TestEveryValueMeetsItsTypeAndNoneIsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values [][]byte
		for _, v := range rapid.SliceOfN(anyValue(4), 1, 6).Draw(t, "values") {
			values = append(values, rawjson.Encode(v))
		}
		typ := Infer(values)
		for _, v := range values {
			if !meets(typ, v) {
				t.Fatalf("%s is not %s", v, short(typ))
			}
		}
		schema := typ.Schema()
		if strings.Contains(string(schema), "VALUE") || !json.Valid(schema) {
			t.Fatalf("got %s", schema)
		}
		slices.Reverse(values)
		if again := Infer(values).Schema(); string(again) != string(schema) {
			t.Fatalf("in another order\n%s\nand\n%s", again, schema)
		}
	})
}

func FuzzInfer(f *testing.F) {
	f.Add(`{"a":1,"b":[{"c":null}]}`, `{"a":"x","a":1}`, `[1.5,[]]`)
	f.Add(`{"1":{"a":1},"2":{"a":[]}}`, `{"\ud800":1}`, "{\"\xff\":1}")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		values := [][]byte{[]byte(a), []byte(b), []byte(c)}
		typ := Infer(values)
		if typ == nil {
			return
		}
		if schema := typ.Schema(); !json.Valid(schema) {
			t.Fatalf("got %s", schema)
		}
		for _, v := range values {
			if rawjson.Check(v) == nil && !meets(typ, []byte(strings.TrimSpace(string(v)))) {
				t.Fatalf("%s is not %s", v, short(typ))
			}
		}
	})
}

func BenchmarkInfer8MB(b *testing.B) {
	row := `{"id":"env-12345","name":"some name of it","list":[{"a":1.5,"b":"text","c":null},{"a":2,"b":"more text","c":true}],` +
		`"url":"https://example.com/a/b/c"},`
	value := []byte(`{"rows":[` + strings.TrimSuffix(strings.Repeat(row, 160<<10/len(row)), ",") + `]}`)
	values := slices.Repeat([][]byte{value}, 50)
	b.SetBytes(int64(50 * len(value)))
	b.ReportAllocs()
	for b.Loop() {
		Infer(values)
	}
}
