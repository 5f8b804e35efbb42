package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func parse(t testing.TB, text string) *Node {
	t.Helper()
	n, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// keys are the names of an object's members, in their order.
func keys(n *Node) string {
	var names []string
	for _, kid := range n.Members() {
		names = append(names, kid.Key)
	}
	return strings.Join(names, " ")
}

func TestMembersKeepTheirOrder(t *testing.T) {
	if got := keys(parse(t, `{"z":1,"a":2,"m":{},"$b":[]}`)); got != "z a m $b" {
		t.Errorf("got %s", got)
	}
}

func TestOfEqualNamesTheLastCountsAtThePlaceOfTheFirst(t *testing.T) {
	many := ""
	for i := range 20 { // so many that they are found by a map
		many += fmt.Sprintf(`,"k%d":0`, i)
	}
	for _, rest := range []string{"", many} {
		var tree Tree
		n, err := tree.Parse([]byte(`{"a":1,"b":2,"\u0061":3` + rest + `}`))
		if err != nil {
			t.Fatal(err)
		}
		a := n.Get("a")
		if !strings.HasPrefix(keys(n), "a b") || a.Text != "3" || !a.Twice || tree.Twice != a || n.Get("b").Twice {
			t.Errorf("got %s", n)
		}
	}
}

func TestValuesKeepTheirBytes(t *testing.T) {
	n := parse(t, ` { "n" : 1.50e+2 , "big":123456789012345678901234567890, "l":[ 1,  2 ], "s":"a\/\u00e9\n", "t":true, "z":null } `)
	for key, want := range map[string]string{
		"n": "1.50e+2", "big": "123456789012345678901234567890", "l": "[ 1,  2 ]", "s": `"a/é\n"`, "t": "true", "z": "null",
	} {
		if got := string(n.Get(key).Raw()); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	if n.Str("s") != "a/é\n" {
		t.Errorf("got %q", n.Str("s"))
	}
	if want := `{"n":1.50e+2,"big":123456789012345678901234567890,"l":[1,2],"s":"a/é\n","t":true,"z":null}`; n.String() != want {
		t.Errorf("got %s", n)
	}
}

func TestAWrongKindHasNoMembers(t *testing.T) {
	var none *Node
	for _, n := range []*Node{none, parse(t, `5`), parse(t, `["a"]`), parse(t, `"a"`)} {
		if n.Get("a") != nil || n.Str("a") != "" || n.Strings("a") != nil || n.Members() != nil || n.IsTrue() || n.IsFalse() {
			t.Errorf("%v has members", n)
		}
	}
	if none.Elements() != nil || parse(t, `{"a":1}`).Elements() != nil {
		t.Error("what is no array has elements")
	}
	n := parse(t, `{"one":"a","list":["a",1,"b"],"none":5}`)
	if !slices.Equal(n.Strings("one"), []string{"a"}) || !slices.Equal(n.Strings("list"), []string{"a", "b"}) || n.Strings("none") != nil {
		t.Error("strings are read wrongly")
	}
}

func TestWhatIsNotOneJSONValueIsRefused(t *testing.T) {
	for _, text := range []string{``, `{`, `{"a":}`, `{} {}`, `{'a':1}`, `nul`} {
		if n, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s became %s", text, n)
		}
	}
	deep := strings.Repeat("[", rawjson.MaxDepth+1) + strings.Repeat("]", rawjson.MaxDepth+1)
	if _, err := Parse([]byte(deep)); !errors.Is(err, rawjson.ErrDepth) {
		t.Errorf("depth: %v", err)
	}
}

func TestPointerLeadsToTheNode(t *testing.T) {
	n := parse(t, `{"a/b":{"~c":[0,{"":1}]}}`)
	at := n.Get("a/b").Get("~c").Kids[1].Get("")
	if got := at.Pointer(); got != "/a~1b/~0c/1/" {
		t.Errorf("got %s", got)
	}
	if got := ParseAt([]byte(`{"x":1}`), "/part").Get("x").Pointer(); got != "/part/x" {
		t.Errorf("got %s", got)
	}
}

func TestAppendWithoutLeavesOutKeywordsAndKeepsProperties(t *testing.T) {
	in := `{ "title":"T", "properties":{"title":{"title":"x","type":"string"},"p":{"enum":[{"title":1}]}}, "items":[{"title":"y"}],
		"anyOf":[{"title":"z"},true], "default":{"title":"kept"}, "components":{"schemas":{"title":{"title":"w"}}}, "x-own":{"title":"kept"} }`
	want := `{"properties":{"title":{"type":"string"},"p":{"enum":[{"title":1}]}},"items":[{}],"anyOf":[{},true],` +
		`"default":{"title":"kept"},"components":{"schemas":{"title":{}}},"x-own":{"title":"kept"}}`
	if got := string(parse(t, in).AppendWithout(nil, "title")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(parse(t, `true`).AppendWithout(nil, "title")); got != "true" {
		t.Errorf("got %s", got)
	}
}

func TestAResetTreeReadsAsANewOne(t *testing.T) {
	var tree Tree
	for _, text := range []string{
		`{"a":[1,2,{"b":"x"}],"a":{}}`, `{"$ref":"#"}`, `[` + strings.Repeat(`{"k":[0]},`, 300) + `0]`, `{}`, `{"a":"b","c":[[],{}]}`,
		`[` + strings.Repeat(`{"k":[0]},`, 200) + `0]`, `7`,
	} {
		tree.Reset()
		n, err := tree.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var fresh Tree
		want, _ := fresh.Parse([]byte(text))
		if n.String() != want.String() || tree.Count != fresh.Count || tree.Named != fresh.Named || (tree.Twice == nil) != (fresh.Twice == nil) {
			t.Errorf("%.60s is read as %.60s", text, n)
		}
		checkTree(t, n)
	}
}

// checkTree holds what every tree must: each node has its own id and knows its parent.
func checkTree(t testing.TB, root *Node) {
	t.Helper()
	seen := map[int32]bool{}
	var visit func(n *Node)
	visit = func(n *Node) {
		if seen[n.ID] {
			t.Fatalf("two nodes have the id %d", n.ID)
		}
		seen[n.ID] = true
		for _, kid := range n.Kids {
			if kid.Parent != n {
				t.Fatalf("%s has another parent", kid)
			}
			visit(kid)
		}
	}
	visit(root)
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.50,"\u00e9\\",{"a":null,"a":true}]}`, `"\ud800"`, ` [ ] `, `{"$id":"x","":{}}`, `-0e5`, `{`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := Parse(raw)
		if (err == nil) != (rawjson.Check(raw) == nil) {
			t.Fatalf("%q: %v", raw, err)
		}
		if err != nil {
			return
		}
		checkTree(t, n)
		out := n.Append(nil)
		if utf8.Valid(raw) && !reflect.DeepEqual(decode(t, raw), decode(t, out)) {
			t.Fatalf("%q became %q", raw, out)
		}
		if again := parse(t, string(out)); !bytes.Equal(again.Append(nil), out) {
			t.Fatalf("%q is not read as it is written", out)
		}
		if bare := n.AppendWithout(nil, "a"); !json.Valid(bare) {
			t.Fatalf("%q became %q", raw, bare)
		}
	})
}

func decode(t testing.TB, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}
