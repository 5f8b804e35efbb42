package project_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// What servers send and encoders of one language do not make: drawn as bytes, not as values.
var (
	oddNames = rapid.SampledFrom([]string{`"id"`, `"name"`, `"items"`, `"big"`, `"a.b"`, `"a/b"`, `"say \"hi\""`, `"\u0069d"`, `"环境"`,
		`""`, `"*"`, `"[:1]~3"`, `"_omitted"`, "\"\xff\"", `"\ud83d"`})
	oddPlain = rapid.SampledFrom([]string{`1`, `-0`, `1.0`, `1e400`, `9007199254740993`, strings.Repeat("7", 400), `true`, `null`, `""`,
		`[]`, `{ }`, `"word"`,
		`"\n\"\\\/"`, `"\ud83d\ude00"`, `"half \ud83d"`, "\"\xed\xc3\xa9 \xff\"", `"中文，字"`, `"{\"id\":1}"`, `"` +
			strings.Repeat("many words, ", 60) + `"`, `"` + blob(1500) + `"`})
	oddMasks = []string{"id", "items(id,name)", "items(name),id", "!big", "!**/big", "items(!big,!name/id)", `"a/b",id`, "*,name(id)",
		`环境,""`, "a.b,big/*", `"*"`, `!"*"`}
)

// oddJSON draws a JSON text of so many levels.
func oddJSON(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		if depth == 0 || kind == 0 {
			return oddPlain.Draw(t, "plain")
		}
		inner := rapid.SliceOfN(oddJSON(depth-1), 1, 4).Draw(t, "inner")
		comma := rapid.SampledFrom([]string{",", " ,\n\t"}).Draw(t, "comma")
		if kind == 1 {
			return "[" + strings.Join(inner, comma) + "]"
		}
		for i, v := range inner {
			inner[i] = oddNames.Draw(t, "name") + ": " + v
		}
		return "{" + strings.Join(inner, comma) + "}"
	})
}

// oddResult draws a result that carries such texts in every way that there is.
func oddResult() *rapid.Generator[string] {
	block := func(s string) string { return `{"type":"text","text":` + string(quoted.Append(nil, []byte(s))) + `}` }
	return rapid.Custom(func(t *rapid.T) string {
		one := oddJSON(4).Draw(t, "one")
		two := oddJSON(3).Draw(t, "two")
		return rapid.SampledFrom([]string{
			`{"structuredContent":` + one + `}`,
			`{"content":[` + block(one) + `]}`,
			`{"content":[` + block(one) + `],"structuredContent":` + one + `,"_meta":{"x":1}}`,
			`{"content":[` + block("```json\n"+one+"\n```") + `]}`,
			`{"content":[` + block(one) + `,` + block(two) + `]}`,
			`{"content":[` + block(one) + `,` + block(one) + `],"structuredContent":{"result":[` + one + `,` + one + `]}}`,
			`{"content":[{"type":"image","data":"` + blob(2000) + `","mimeType":"image/png"},` + block(one) +
				`,{"type":"resource_link","uri":"x","name":"y"}]}`,
			`{"content":[` + block("prose, "+one+"\n"+two) + `]}`,
			`{"content":[` + block(`{"id":NaN,"x":`+one+`}`) + `]}`,
			`{"content":[` + block(one+"\n"+two) + `]}`,
			`{"structuredContent":` + strings.Repeat("[", 700) + one + strings.Repeat("]", 700) + `}`,
		}).Draw(t, "result")
	})
}

// TestNothingIsOutOfReach: whatever is left out of whatever result, fetches give it back.
func TestNothingIsOutOfReach(t *testing.T) {
	programs := []*project.Program{nil, nil, nil, jq(t, ".. | numbers"), jq(t, "keys"), jq(t, "empty")}
	rapid.Check(t, func(t *rapid.T) {
		full := []byte(oddResult().Draw(t, "result"))
		how := project.How{
			Budget: rapid.SampledFrom([]int{0, 0, 20, 200}).Draw(t, "budget"),
			Shape:  rapid.SampledFrom([]shape.Mode{"", shape.JSON, shape.Table, shape.Auto}).Draw(t, "shape"),
			Filled: rapid.Bool().Draw(t, "filled"), Limit: rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "limit"),
			Offset: rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "offset"),
		}
		switch rapid.IntRange(0, 3).Draw(t, "way") {
		case 0, 1:
			how.Mask, _ = mask.Parse(rapid.SampledFrom(append(oddMasks, "items[:1](id)", "**~2", "*~4", "[1:]")).Draw(t, "mask"))
		case 2:
			how.JQ = rapid.SampledFrom(programs).Draw(t, "program")
		}
		checkReach(t, full, how)
	})
}

// TestNothingOfRealDataIsOutOfReach does the same with what servers and people really wrote.
func TestNothingOfRealDataIsOutOfReach(t *testing.T) {
	masks := []*mask.Mask{nil, parse(t, "name,tools(name,description~80)"), parse(t, "!**/description"), parse(t, "id,name,method,path"),
		parse(t, "*[:2]")}
	for _, file := range corpora.Glob(t, "*/*.json*") {
		lines := slices.Collect(bytes.Lines(corpora.Read(t, file)))
		for i := 0; i < len(lines); i += 1 + len(lines)/20 {
			value := bytes.TrimSpace(lines[i])
			if !json.Valid(value) || len(value) > 1<<20 {
				continue
			}
			how := project.How{Mask: masks[i%len(masks)], Budget: []int{0, 500}[i%2], Shape: []shape.Mode{shape.Auto, ""}[i/2%2]}
			checkReach(t, slices.Concat([]byte(`{"structuredContent":`), value, []byte("}")), how)
			checkReach(t, slices.Concat([]byte(`{"content":[{"type":"text","text":`), quoted.Append(nil, value), []byte("}]}")), how)
		}
	}
}

// fatal is what tests of both kinds have.
type fatal interface{ Fatalf(string, ...any) }

// checkReach cuts a result and fetches it.
func checkReach(t fatal, full []byte, how project.How) {
	before := bytes.Clone(full)
	cut := project.Plan(context.Background(), full, how)
	out := cut.Apply("r_abcdefgh")
	switch {
	case !bytes.Equal(full, before):
		t.Fatalf("the full bytes were changed to %q", full)
	case json.Valid(out) != json.Valid(full):
		t.Fatalf("%q\nbecame %q", full, out)
	case cut.Leaves() && !bytes.Contains(out, []byte("r_abcdefgh")):
		t.Fatalf("%q\nwas cut and does not say so: %q", full, out)
	}
	want := compact(t, project.Body(full))
	for _, budget := range []int{0, 150 + len(want)/50} {
		checkPages(t, want, budget)
	}
}

// checkPages tells whether the pages of a value are together the value, unless a row was too
// long for that.
func checkPages(t fatal, want []byte, budget int) {
	got, whole := fetchAll(t, want, budget)
	if whole && want[0] == '"' { // which may be written with other escapes
		got = quoted.AppendText(nil, got)
		want = quoted.AppendText(nil, want)
	}
	if whole && !bytes.Equal(got, want) {
		t.Fatalf("pages of %d tokens of %q\ngave %q", budget, want, got)
	}
}

func compact(t fatal, value []byte) []byte {
	out, err := mask.Compact(nil, value)
	if err != nil {
		t.Fatalf("%q: %v", value, err)
	}
	return out
}

// fetchAll puts the pages of a value together. False: a row was too long for that.
func fetchAll(t fatal, value []byte, budget int) (all []byte, whole bool) {
	var text []byte
	for offset, first := 0, true; first || offset > 0; first = false {
		page, err := project.PageOf(value, offset, 0, budget)
		if err != nil || page.Next != 0 && page.Next <= offset {
			t.Fatalf("page %d of %q: %+v, %v", offset, value, page, err)
		}
		switch {
		case page.Cut:
			return nil, false
		case first && page.Next == 0:
			return page.Value, true
		case !page.Rows:
			text = quoted.AppendText(text, page.Value)
		case first:
			all = page.Value
		default:
			all = joinRows(all, page.Value)
		}
		offset = page.Next
	}
	if text == nil {
		return all, true
	}
	if value[0] == '"' {
		text = quoted.Append(nil, text)
	}
	return text, true
}

// joinRows puts the rows of the second page behind those of the first.
func joinRows(first, second []byte) []byte {
	place := func(page []byte) (start, end int) {
		if page[0] == '[' {
			return 0, len(page)
		}
		for w := rawjson.Object(page); w.Next(); {
			if w.Value[0] == '[' {
				start = w.Start
				end = w.End
			}
		}
		return start, end
	}
	_, end := place(first)
	from, to := place(second)
	return slices.Concat(first[:end-1], []byte{','}, second[from+1:to-1], first[end-1:])
}

// TestWhatAMaskLeavesOutIsPutBackByItsPaths: what is left of a value, and what each path of
// the list fetches, are together the value, byte for byte in its plain values.
func TestWhatAMaskLeavesOutIsPutBackByItsPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := mask.Parse(rapid.SampledFrom(oddMasks).Draw(t, "mask"))
		if err != nil {
			t.Fatal(err)
		}
		value := `{"id":1,"items":[` + oddJSON(3).Draw(t, "row") + `,` + oddJSON(3).Draw(t, "row") + `],"big":` +
			oddJSON(2).Draw(t, "big") + `}`
		checkPaths(t, `{"structuredContent":`+value+`}`, m)
		checkPaths(t, `{"content":[{"type":"text","text":`+string(quoted.Append(nil, []byte(value)))+`}]}`, m)
	})
}

func checkPaths(t fatal, full string, m *mask.Mask) {
	cut := project.Plan(context.Background(), []byte(full), project.How{Mask: m})
	if !cut.Leaves() {
		return
	}
	out := cut.Apply("r_abc")
	list := rawjson.Get(out, "_meta", "toolfit/omitted")
	whole := map[string]string{}
	flatten(whole, "", project.Body(out))
	for w := rawjson.Array(rawjson.Get(list, "fields")); w.Next(); {
		path, _ := rawjson.String(rawjson.Get(w.Value, "path"))
		part, err := project.Fetch([]byte(full), project.Wanted{path})
		if err != nil {
			t.Fatalf("fetch %s from %q: %v", path, full, err)
		}
		flatten(whole, "", part.Value)
	}
	if rawjson.Get(list, "others") != nil { // which have no path; a fetch of all gives them
		return
	}
	want := map[string]string{}
	flatten(want, "", project.Body([]byte(full)))
	for at, v := range want {
		if whole[at] != v {
			t.Fatalf("mask %s on %q\n%s is %q, want %q\nin %s", m, full, at, whole[at], v, out)
		}
	}
}

// flatten notes each plain value under the way to it: names, of like names which one, and
// places in arrays.
func flatten(into map[string]string, at string, value []byte) {
	value = bytes.TrimSpace(value)
	switch value[0] {
	case '{':
		seen := map[string]int{}
		for w := rawjson.Object(value); w.Next(); {
			seen[string(w.Key)]++
			flatten(into, fmt.Sprintf("%s/%q#%d", at, w.Key, seen[string(w.Key)]), w.Value)
		}
	case '[':
		i := 0
		for w := rawjson.Array(value); w.Next(); i++ {
			flatten(into, fmt.Sprintf("%s/%d", at, i), w.Value)
		}
	default:
		into[at] = string(value)
	}
}

func FuzzPageOf(f *testing.F) {
	for _, s := range []string{`{"n":1,"rows":[{"a":"x y"},{"a":"中文"},3]}`, `["a\ud83d","\ud83d\ude00",null]`, "\"text\xed\xa0\x80\xff\"",
		`{"a":"long text","b":[1,2],"c":{"d":[3]}}`} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, value []byte, budget int) {
		if budget < 0 || len(value) > 4<<10 {
			return
		}
		all, err := mask.Compact(nil, value)
		if err != nil {
			return
		}
		checkPages(t, all, budget)
	})
}
