package fields_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/project/fields"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

const list = `{"total":2,"items":[{"id":1,"name":"a","owner":{"login":"x","id":7}},{"id":2,"tags":["p","q"],"owner":null}],"odd ` +
	`name":"","空":{}}`

// paths writes a tree, one field on each line.
func paths(n *fields.Node, indent string) (lines []string) {
	for _, c := range n.Children {
		line := fmt.Sprintf("%s%d %s %s x%d %s", indent, c.ID, c.Name, c.Kind, c.Count, c.Sample)
		if c.Many {
			line += " many"
		}
		lines = append(append(lines, strings.TrimRight(line, " ")), paths(c, indent+"  ")...)
	}
	return lines
}

func TestElementsOfArraysLieOnEachOther(t *testing.T) {
	want := `1 total number x1 2
2 items object x1  many
  3 id number x2 1
  4 name text x1 "a"
  5 owner object x2 null
    6 login text x1 "x"
    7 id number x1 7
  8 tags text x1 "p" many
9 odd name text x1 ""
10 空 object x1`
	if got := strings.Join(paths(fields.Of([]byte(list)), ""), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTreeOfOtherValues(t *testing.T) {
	for value, want := range map[string]string{
		`[{"a":1},{"b":2}]`:  "1 a number x1 1\n2 b number x1 2",
		`[[[{"a":[[1]]}]]]`:  "1 a number x1 1 many",
		`"text"`:             "",
		`{"a":`:              "",
		``:                   "",
		`{"a":1} {"b":2}`:    "1 a number x1 1",
		`{"a":null,"a":[1]}`: "1 a number x2 1 many",
		"{\"\xff\":1}":       "1 \xff number x1 1",
	} {
		if got := strings.Join(paths(fields.Of([]byte(value)), ""), "\n"); got != want {
			t.Errorf("%s gives\n%s", value, got)
		}
	}
	two := fields.Of([]byte(`{"a":1}`), []byte(`no JSON`), []byte(`{"a":"x","b":1}`))
	if got := strings.Join(paths(two, ""), "\n"); got != "1 a number x2 1\n2 b number x1 1" {
		t.Errorf("two values give\n%s", got)
	}
}

func TestTreeIsBounded(t *testing.T) {
	var wide strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&wide, `,"k%d":{"a":%d,"b":"%s"}`, i, i, strings.Repeat("长", 200))
	}
	tree := fields.Of([]byte("{" + wide.String()[1:] + "}"))
	if n := len(paths(tree, "")); n > 500 || !tree.Cut || len(tree.Children) != 120 {
		t.Errorf("%d nodes, %d at the top, cut %v", n, len(tree.Children), tree.Cut)
	}
	if s := tree.Children[0].Children[1].Sample; !strings.HasSuffix(s, "长…") || len(s) > 200 {
		t.Errorf("sample %q", s)
	}
	deep := fields.Of([]byte(strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400)))
	if n := len(paths(deep, "")); n != 12 {
		t.Errorf("%d levels", n)
	}
}

func TestOnlyTheBeginningOfALongValueIsLookedAt(t *testing.T) {
	row := `{"id":1,"text":"` + strings.Repeat("x", 1000) + `"},`
	tree := fields.Of([]byte(`{"rows":[` + strings.Repeat(row, 3000) + `{"late":1}],"after":true}`))
	if got := strings.Join(paths(tree, ""), "\n"); !strings.Contains(got, "text") || strings.Contains(got, "late") ||
		strings.Contains(got, "after") || !tree.Cut {
		t.Errorf("cut %v:\n%s", tree.Cut, got)
	}
	if s := tree.Children[0].Share(tree); s < .9 {
		t.Errorf("the rows are %.2f of it", s)
	}
}

func TestChoiceIsAMaskAndBack(t *testing.T) {
	tree := fields.Of([]byte(list))
	for _, c := range []struct {
		ids  []int
		mask string
	}{
		{[]int{1}, "total"},
		{[]int{3, 4}, "items(id,name)"},
		{[]int{2}, "items"},
		{[]int{6}, "items/owner/login"},
		{[]int{1, 3, 6, 7}, "total,items(id,owner(login,id))"},
		{[]int{9, 10}, `"odd name",空`},
		{nil, ""},
		{[]int{99, -1, 0}, ""},
	} {
		ticked := map[int]bool{}
		for _, id := range c.ids {
			ticked[id] = true
		}
		text := tree.Mask(ticked)
		if text != c.mask {
			t.Errorf("%v gives %q, want %q", c.ids, text, c.mask)
		}
		if text == "" {
			continue
		}
		m, err := mask.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := tree.Kept(m); err != nil || tree.Mask(kept) != text {
			t.Errorf("%q comes back as %v, %v", text, kept, err)
		}
	}
}

func TestKeptTellsAllFromAllThatIsKnown(t *testing.T) {
	tree := fields.Of([]byte(list))
	for text, want := range map[string][]int{
		"items(id,name,owner,tags)": {3, 4, 5, 6, 7, 8},
		"items":                     {2, 3, 4, 5, 6, 7, 8},
		"*,!items/owner":            {1, 3, 4, 8, 9, 10},
		"items[:1](n*)":             {4},
		"**/id":                     nil,
	} {
		m, err := mask.Parse(text)
		if err != nil {
			continue
		}
		kept, err := tree.Kept(m)
		var ids []int
		for id := range kept {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("%s keeps %v, %v; want %v", text, ids, err, want)
		}
	}
	m, _ := mask.Parse("nothing")
	if _, err := tree.Kept(m); !errors.Is(err, mask.ErrMismatch) {
		t.Errorf("a mask that fits nowhere: %v", err)
	}
}

func FuzzTree(f *testing.F) {
	f.Add(list, 3)
	f.Add(`[{"a\u0000":1},{"\"(,/":[[]]}]`, 1)
	f.Add("{\"\xff\":{\"*\":1,\"**\":2}}", 2)
	f.Fuzz(func(t *testing.T, value string, id int) {
		tree := fields.Of([]byte(value))
		text := tree.Mask(map[int]bool{id: true})
		if text == "" {
			return
		}
		m, err := mask.Parse(text)
		if err != nil {
			t.Fatalf("%q is no mask: %v", text, err)
		}
		if kept, err := tree.Kept(m); err == nil && tree.Mask(kept) != text && !strings.ContainsRune(text, utf8.RuneError) {
			t.Errorf("%q comes back as %q", text, tree.Mask(kept))
		}
	})
}

func BenchmarkTree5MB(b *testing.B) {
	row := `{"id":"env-12345","name":"some name of it","list":[{"a":1.5,"b":"text","c":null},{"a":2,"b":"more text","c":true}],` +
		`"url":"https://example.com/a/b/c"},`
	value := []byte("[" + strings.TrimSuffix(strings.Repeat(row, 5<<20/len(row)), ",") + "]")
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		fields.Of(value)
	}
}
