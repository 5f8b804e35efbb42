package project_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

func TestBody(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"structuredContent that the text repeats": {`{"content":[{"type":"text","text":"{ \"b\":2,\"a\":1 }"}],` +
			`"structuredContent":{"a":1,"b":2}}`, `{"a":1,"b":2}`},
		"structuredContent in other escapes": {`{"content":[{"type":"text","text":"{\"a\":\"\\u540d\"}"}],"structuredContent":{"a":"名"}}`,
			`{"a":"名"}`},
		"structuredContent alone": {`{"structuredContent":[1]}`, `[1]`},
		"text that says more": {`{"content":[{"type":"text","text":"see"}],"structuredContent":{"a":1}}`,
			`{"content":[{"type":"text","text":"see"}],"structuredContent":{"a":1}}`},
		"JSON as text": {text(`{"a":1}`), `{"a":1}`},
		"JSON Lines":   {text("{\"a\":1}\n[2]\n{}"), `[{"a":1},[2],{}]`},
		"prose":        {text("a\n\"b\""), `"a\n\"b\""`},
		"several blocks": {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
			`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		"an image": {`{"content":[{"type":"image","data":""},{"type":"text","text":"b"}]}`,
			`{"content":[{"type":"image","data":""},{"type":"text","text":"b"}]}`},
		"no result": {`[1]`, `[1]`},
	} {
		if got := project.Body([]byte(c.in)); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestWhatANoteNamesCanBeSelected(t *testing.T) {
	for _, c := range []struct{ name, mask, in, want string }{
		{"beside text that says more", "a/b", `{"content":[{"type":"text","text":"see"}],"structuredContent":{"a":{"b":1,"c":2}}}`,
			`{"a":{"b":1}}`},
		{"beside an image", "a", `{"content":[{"type":"image","data":""},{"type":"text","text":"{\"a\":1,\"b\":2}"}]}`, `{"a":1}`},
		{"in the second text", "b", `{"content":[{"type":"text","text":"{\"a\":1}"},{"type":"text","text":"{\"b\":2,\"c\":3}"}]}`,
			`{"b":2}`},
		{"the result itself", "content/text", `{"content":[{"type":"text","text":"see"}],"structuredContent":{"a":1}}`,
			`{"content":[{"text":"see"}]}`},
	} {
		if got, err := project.Fetch([]byte(c.in), project.Wanted{c.mask}); err != nil || string(got.Value) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got.Value, err, c.want)
		}
	}
	_, err := project.Fetch([]byte(`{"content":[{"type":"text","text":"see"}],"structuredContent":{"a":1}}`), project.Wanted{"x"})
	if err == nil || !strings.Contains(err.Error(), "none of the fields x occurs") {
		t.Errorf("%v", err)
	}
}

func TestPageOf(t *testing.T) {
	cases := []struct {
		name                  string
		value                 string
		offset, limit, budget int
		want                  string
		next                  int
	}{
		{"rows of an array", `[1,2,3,4,5]`, 1, 2, 0, `[2,3]`, 3},
		{"rows of the one array in an object", `{"n":3,"items":[ {"a":1},{"a":2},{"a":3} ]}`, 0, 2, 0, `{"n":3,"items":[{"a":1},{"a":2}]}`,
			2},
		{"the last rows", `[1,2,3]`, 2, 5, 0, `[3]`, 0},
		{"no limit, no budget: all", `[1,2,3]`, 0, 0, 0, `[1,2,3]`, 0},
		{"rows that fit the budget", `["one word","two words","three"]`, 0, 0, 6, `["one word"]`, 1},
		{"two arrays: characters", `{"a":[1,2],"b":[3,4]}`, 0, 5, 0, `"{\"a\":"`, 5},
		{"characters of a string", `"个人版 and more"`, 1, 3, 0, `"人版 "`, 4},
		{"a small value whole", `{"a":1}`, 0, 0, 50, `{"a":1}`, 0},
		{"one row: its characters", `[{"a":"0123456789"}]`, 7, 4, 0, `"0123"`, 11},
		{"one character at least", `"` + strings.Repeat("字", 9) + `"`, 0, 0, 1, `"字"`, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := project.PageOf([]byte(c.value), c.offset, c.limit, c.budget)
			if err != nil || string(got.Value) != c.want || got.Next != c.next {
				t.Errorf("got %s, next %d, %v; want %s, next %d", got.Value, got.Next, err, c.want, c.next)
			}
		})
	}
	for _, offset := range []int{-1, 3, 1 << 40} {
		if _, err := project.PageOf([]byte(`[1,2,3]`), offset, 1, 0); !fault.Is(err, fault.BadRequest) {
			t.Errorf("offset %d: %v", offset, err)
		}
	}
}

func TestAFetchTakesWhatANotePrints(t *testing.T) {
	const result = `{"structuredContent":{"EnvList":[{"EnvId":"a","Tags":[1],"o d":2,"a/b":3,"Db":{"Status":"R","Id":1}},{"EnvId":"b",` +
		`"Status":"N"}],"TotalCount":2}}`
	for _, c := range []struct{ name, fields, want, mask string }{
		{"a list of names", `["Tags","Db"]`, `{"EnvList":[{"Tags":[1],"Db":{"Status":"R","Id":1}},{}]}`, "EnvList/Tags,EnvList/Db"},
		{"a name as text", `"Tags"`, `{"EnvList":[{"Tags":[1]},{}]}`, "EnvList/Tags"},
		{"names in a text", `"Tags, TotalCount"`, `{"EnvList":[{"Tags":[1]},{}],"TotalCount":2}`, "EnvList/Tags,TotalCount"},
		{"a mask", `"EnvList[1:](EnvId)"`, `{"EnvList":[{"EnvId":"b"}]}`, "EnvList[1:](EnvId)"},
		{"masks in a list", `["EnvList/EnvId","TotalCount"]`, `{"EnvList":[{"EnvId":"a"},{"EnvId":"b"}],"TotalCount":2}`,
			"EnvList/EnvId,TotalCount"},
		{"a mask below the root", `"Db(Id)"`, `{"EnvList":[{"Db":{"Id":1}},{}]}`, "EnvList/Db(Id)"},
		{"odd names, as they are", `["o d","a/b"]`, `{"EnvList":[{"o d":2,"a/b":3},{}]}`, `EnvList/"o d",EnvList/"a/b"`},
		{"an exclusion", `"!EnvList"`, `{"TotalCount":2}`, "!EnvList"},
		{"the root wins", `["TotalCount"]`, `{"TotalCount":2}`, "TotalCount"},
	} {
		var w project.Wanted
		if err := json.Unmarshal([]byte(c.fields), &w); err != nil {
			t.Fatal(err)
		}
		got, err := project.Fetch([]byte(result), w)
		if err != nil || string(got.Value) != c.want || got.Mask != c.mask || got.Unknown != nil {
			t.Errorf("%s: got %s by %s, unknown %q, %v; want %s", c.name, got.Value, got.Mask, got.Unknown, err, c.want)
		}
	}
	got, err := project.Fetch([]byte(result), project.Wanted{"Tags", "Nope"})
	if err != nil || string(got.Value) != `{"EnvList":[{"Tags":[1]},{}]}` || !slices.Equal(got.Unknown, []string{"Nope"}) ||
		strings.Join(got.Known, " ") != `EnvList TotalCount EnvList/EnvId EnvList/Tags EnvList/"o d" EnvList/"a/b" EnvList/Db `+
			`EnvList/Status EnvList/Db/Status EnvList/Db/Id` {
		t.Errorf("one of two is unknown: %+v, %v", got, err)
	}
	for fields, want := range map[string]string{
		"Nope":     "none of the fields Nope occurs (there are: EnvList, TotalCount, EnvList/EnvId",
		"Status":   "there is more than one Status (name one: EnvList/Status, EnvList/Db/Status)",
		"EnvList(": "/fields: mask, at byte",
	} {
		if _, err := project.Fetch([]byte(result), project.Wanted{fields}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
	if got, err := project.Fetch([]byte(text("prose")), project.Wanted{"a"}); err != nil || string(got.Value) != `"prose"` ||
		got.Unknown != nil {
		t.Errorf("a mask is ignored on a string: %+v, %v", got, err)
	}
}

// FuzzFetch: whatever is wanted of whatever, what comes is JSON and the mask that found it is one.
func FuzzFetch(f *testing.F) {
	f.Add(`{"a":[{"b":1,"c d":{"b":2}}]}`, "b")
	f.Add(`{"a":[{"x/y":1}]}`, "x/y")
	f.Add(`[{"a":1},{"b":[[2]]}]`, `a,!b,"c"`)
	f.Fuzz(func(t *testing.T, value, fields string) {
		if !json.Valid([]byte(value)) {
			return
		}
		got, err := project.Fetch([]byte(`{"structuredContent":`+value+`}`), project.Wanted{fields})
		if err != nil {
			return
		}
		if _, err := mask.Parse(got.Mask); err != nil || !json.Valid(got.Value) {
			t.Errorf("%q of %s gives %s by %q: %v", fields, value, got.Value, got.Mask, err)
		}
	})
}

// TestPagesPutTogetherAreTheWhole: whatever the page size and budget, no piece is lost or
// given twice.
func TestPagesPutTogetherAreTheWhole(t *testing.T) {
	prose := strings.Repeat("A line, 一行 \"quoted\" \\ 😀\n", 12)
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 30).Draw(t, "limit")
		budget := rapid.SampledFrom([]int{0, 60, 500}).Draw(t, "budget")
		var all []any
		for offset, first := 0, true; first || offset > 0; first = false {
			page, err := project.PageOf([]byte(rows(9)), offset, limit, budget)
			if err != nil || page.Cut {
				t.Fatalf("%+v, %v", page, err)
			}
			all = append(all, decode(t, page.Value).(map[string]any)["items"].([]any)...)
			offset = page.Next
		}
		if want := decode(t, []byte(rows(9))).(map[string]any)["items"]; !reflect.DeepEqual(all, want) {
			t.Fatalf("%d rows", len(all))
		}
		var text strings.Builder
		for offset, first := 0, true; first || offset > 0; first = false {
			page, err := project.PageOf(rawjson.AppendString(nil, prose), offset, limit*5, budget)
			if err != nil {
				t.Fatal(err)
			}
			s, _ := rawjson.String(page.Value)
			text.WriteString(s)
			offset = page.Next
		}
		if text.String() != prose {
			t.Fatalf("got %q", text.String())
		}
	})
}

func decode(t interface{ Fatalf(string, ...any) }, raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}

func BenchmarkPlan(b *testing.B) {
	value := rows(500)
	keep := parse(b, "items(id,title)")
	for name, c := range map[string]struct {
		raw string
		how project.How
	}{
		"masked text": {text(value), project.How{Mask: keep}},
		"masked both": {`{"content":[{"type":"text","text":` + string(rawjson.AppendString(nil, value)) + `}],"structuredContent":` +
			value + `}`, project.How{Mask: keep}},
		"masked, budget": {text(value), project.How{Mask: keep, Budget: 6500}},
		"budget alone":   {text(value), project.How{Budget: 6500}},
		"under budget":   {text(rows(20)), project.How{Budget: 6500}},
		"prose":          {text(strings.Repeat("a line of a log that says little\n", 1500)), project.How{Mask: keep, Budget: 20_000}},
		"JSON Lines": {text(strings.Repeat("{\"id\":1,\"title\":\"a title\",\"body\":\"some words that say little\"}\n", 800)),
			project.How{Mask: parse(b, "id,title")}},
		"nothing": {text(value), project.How{}},
	} {
		b.Run(name, func(b *testing.B) {
			raw := []byte(c.raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				project.Plan(context.Background(), raw, c.how).Apply("r_7f3kq2")
			}
		})
	}
}
