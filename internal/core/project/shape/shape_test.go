package shape_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/core/project/shape"
)

func TestText(t *testing.T) {
	cases := []struct {
		name string
		mode shape.Mode
		in   string
		want string // "": it stays
	}{
		{"off leaves all", shape.Off, `{ "a": 1 }`, ""},
		{"nothing said leaves all", "", `{ "a": 1 }`, ""},
		{"json drops white space", shape.JSON, "{ \"a\": [1, 2.0] }\n", `{"a":[1,2.0]}`},
		{"what is short stays", shape.JSON, `{"a":1}`, ""},
		{"no JSON stays", shape.Auto, `{"a": NaN}`, ""},
		{"a table with its constants", shape.Auto,
			`{"total":3,"items":[{"id":1,"owner":{"login":"a"},"state":"open"},{"id":2,"owner":{"login":"b"},"state":"open"},{"id":3,` +
				`"owner":{"login":"c, d"},"state":"open"}]}`,
			"total: 3\nitems[3]:\nall rows: state=open\nid,owner.login\n1,a\n2,b\n3,\"c, d\""},
		{"a root array", shape.Table, `[{"id":1,"name":"first one"},{"id":2,"name":"second one"}]`,
			"[2]:\nid,name\n1,first one\n2,second one"},
		{"absent, null and empty differ", shape.Table,
			`[{"id":1,"name":"aaaa","other":null},{"id":2,"name":"","other":1},{"id":3,"other":2}]`,
			"[3]:\nid,name,other\n1,aaaa,null\n2,\"\",1\n3,,2"},
		{"a table inside an object", shape.Table, `{"Data":{"n":2,"List":[{"id":1,"name":"first one"},{"id":2,"name":"second one"}]}}`,
			"Data.n: 2\nData.List[2]:\nid,name\n1,first one\n2,second one"},
		{"strings that read as other values keep their quotes", shape.Table,
			`[{"value":"12","label":"true"},{"value":"1e5","label":" x"}]`, "[2]:\nvalue,label\n\"12\",\"true\"\n\"1e5\",\" x\""},
		{"names with a dot keep their quotes", shape.Table, `[{"first.name":1,"second":2},{"first.name":3,"second":4}]`,
			"[2]:\n\"first.name\",second\n1,2\n3,4"},
		{"unlike rows stay JSON", shape.Auto, `[{"a":1},{"b":2},{"c":3},[4]]`, ""},
		{"double names stay JSON", shape.Table, `[{"name":1,"name":2},{"name":3,"name":4}]`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := shape.Text([]byte(c.in), c.mode)
			if ok != (c.want != "") || ok && string(got) != c.want {
				t.Errorf("got\n%s\n%v, want\n%s", got, ok, c.want)
			}
		})
	}
}

func check(t interface{ Fatalf(string, ...any) }, in []byte, mode shape.Mode) (shaped bool) {
	got, ok := shape.Text(in, mode)
	if !ok {
		return false
	}
	if len(got) >= len(in) {
		t.Fatalf("%s grew to\n%s", in, got)
	}
	want, err := decodeAny(in)
	if err != nil {
		t.Fatalf("%q was shaped: %v", in, err)
	}
	back, err := readBack(string(got))
	if err != nil || !reflect.DeepEqual(back, want) {
		t.Fatalf("%s\nbecame\n%s\nread back %v, %v", in, got, back, err)
	}
	return got[0] != '{' && !json.Valid(got)
}

func decodeAny(in []byte) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(string(in)))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

func TestNothingIsLost(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a,b", `q"`, "x=y", "null", "-1", "[", "a.b", "all rows: ", "中文",
		" s", "l\nm", "\u2028", "k: v", "n[2]:"}))
	name := rapid.OneOf(rapid.SampledFrom([]string{"id", "name", "owner", "state", "a.b", "", "x y", "k=v", "all rows", `q"`, "环境"}), text)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalar := rapid.OneOf(
			rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.Int64(), func(n int64) any { return n }), rapid.Map(text, func(s string) any { return s }))
		if depth == 0 {
			return scalar
		}
		object := rapid.Map(rapid.MapOfN(name, value(depth-1), 0, 4), func(m map[string]any) any { return m })
		array := rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(s []any) any { return s })
		return rapid.OneOf(scalar, object, array)
	}
	tables := 0
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.MapOfN(rapid.SampledFrom([]string{"id", "name", "owner", "a.b", "x y"}), value(2), 1, 5), 0,
			6).Draw(t, "rows")
		root := rapid.SampledFrom([]any{rows, map[string]any{"items": rows, "n": 1},
			map[string]any{"d": map[string]any{"items": rows, "s": "t"}}, map[string]any{"x.y": rows}}).Draw(t, "root")
		in, err := json.MarshalIndent(root, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []shape.Mode{shape.JSON, shape.Table, shape.Auto} {
			if check(t, in, mode) {
				tables++
			}
		}
	})
	if tables == 0 {
		t.Error("no table was ever written")
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(`[{"a":1,"b":"x"},{"a":2,"b":"y,z"},{"a":3,"b":"y,z"}]`))
	f.Add([]byte(`{"a":[{"b":{"c":1}},{"b":{"c":"2"}},{"b":{"d":null}}],"e":"f\ng"}`))
	f.Add([]byte(`{"a":{"b":[{"k=":"=v"},{"k=":"=v"},{"k=":"=v","l":[1,"]"]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || strings.Contains(string(data), "�") || !isUTF8(data) || hasDouble(data) {
			shape.Text(data, shape.Table)
			return
		}
		check(t, data, shape.Table)
	})
}

func isUTF8(data []byte) bool { return strings.ToValidUTF8(string(data), "") == string(data) }

// hasDouble tells whether decoding and encoding loses members or halves of surrogate
// pairs, which a Go map cannot hold: the value could not be compared.
func hasDouble(data []byte) bool {
	v, err := decodeAny(data)
	if err != nil {
		return true
	}
	out, err := json.Marshal(v)
	return err != nil || strings.Count(string(out), `":`) != strings.Count(string(data), `":`) || strings.Contains(string(data), `\u`)
}

func BenchmarkTable50KB(b *testing.B) {
	var rows []string
	for i := range 400 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"item %d","owner":{"login":"user%d"},"state":"open",`+
			`"url":"https://example.com/%d"}`, i, i, i%7, i))
	}
	in := []byte("[" + strings.Join(rows, ",") + "]")
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := shape.Text(in, shape.Auto); !ok {
			b.Fatal("not shaped")
		}
	}
}
