package snapshot_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

func TestLinesAreReadInEveryFormTheServerWrites(t *testing.T) {
	for _, test := range []struct {
		rule, line string
		want       snapshot.Node
	}{
		{"a bare role", `- alert`, snapshot.Node{Role: "alert"}},
		{"role and ref", `- textbox [ref=e8]`, snapshot.Node{Role: "textbox", Ref: "e8"}},
		{"name and attributes", `- checkbox "记住我" [checked] [disabled] [ref=f1e2]`,
			snapshot.Node{Role: "checkbox", Name: "记住我", Checked: snapshot.On, Disabled: true, Ref: "f1e2"}},
		{"a mixed state", `- checkbox "a" [checked=mixed] [pressed=mixed]`,
			snapshot.Node{Role: "checkbox", Name: "a", Checked: snapshot.Mixed, Pressed: snapshot.Mixed}},
		{"a level", `- heading "T" [level=12] [ref=e1]`, snapshot.Node{Role: "heading", Name: "T", Level: 12, Ref: "e1"}},
		{"own text", `- generic [ref=e1] [cursor=pointer]: Upgrade: now`,
			snapshot.Node{Role: "generic", Ref: "e1", Pointer: true, Text: "Upgrade: now"}},
		{"quoted text", `- spinbutton "n": "1"`, snapshot.Node{Role: "spinbutton", Name: "n", Text: "1"}},
		{"escapes in text", `- text: "a\"b\\x41\x41\n"`, snapshot.Node{Role: "text", Text: "a\"b\\x41A\n"}},
		{"a colon in the name", `- button "note: x" [ref=e1]: ×`, snapshot.Node{Role: "button", Name: "note: x", Ref: "e1", Text: "×"}},
		{"brackets in the name", `- button "a [ref=e9] \"b\"" [ref=e1]`, snapshot.Node{Role: "button", Name: `a [ref=e9] "b"`, Ref: "e1"}},
		{"a key in single quotes", `- 'link "Tab #1, it''s" [ref=e37] [cursor=pointer]': x`,
			snapshot.Node{Role: "link", Name: "Tab #1, it's", Ref: "e37", Pointer: true, Text: "x"}},
		{"an unknown attribute is kept", `- row [box=1,2,3,4] [new]`,
			snapshot.Node{Role: "row", Attrs: []snapshot.Attr{{Key: "box", Value: "1,2,3,4"}, {Key: "new"}}}},
		{"an unclosed name", `- button "a`, snapshot.Node{Role: "button", Name: "a"}},
		{"bytes that are no text", "- button \"a\xff\"", snapshot.Node{Role: "button", Name: "a\ufffd"}},
	} {
		page := snapshot.Parse(test.line + "\n")
		if page.Len() != 1 {
			t.Errorf("%s: %d nodes", test.rule, page.Len())
			continue
		}
		test.want.End = 1
		if got, want := text(*page.Node(0)), text(test.want); got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.rule, got, want)
		}
	}
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

const small = `- generic [ref=e1]:
  - link "Home" [ref=e2]:
    - /url: "#h"
    - /extra: x
  - textbox "A" [ref=e3]:
    - /placeholder: type here
    - text: admin
  - row:
    - cell "x"
    - cell:
      - button "Go" [ref=e4]
not a line
  - status
`

func TestTheTreeKeepsOrderAndPropertyLines(t *testing.T) {
	page := snapshot.Parse(small)
	if page.Len() != 9 || page.Partial {
		t.Fatalf("%d nodes, partial %v", page.Len(), page.Partial)
	}
	link, field, row := byRef(page, "e2"), byRef(page, "e3"), page.Node(4)
	if len(link.Attrs) != 2 || !slices.Contains(link.Attrs, snapshot.Attr{Key: "/url", Value: "#h"}) ||
		field.Placeholder != "type here" || field.First.Text != "admin" {
		t.Errorf("properties: %+v %+v", link, field)
	}
	if row.Role != "row" || row.End != 8 || !row.Holds(byRef(page, "e4")) || row.Holds(field) || row.Next.Role != "status" {
		t.Errorf("row: %+v", row)
	}
	if got := page.Content(row, 100); got != "x Go" {
		t.Errorf("content: %q", got)
	}
	if byRef(page, "") != nil || byRef(page, "e99") != nil {
		t.Error("a ref that is not there was found")
	}
	if n := page.Node(0); n.Parent != nil || n.End != page.Len() {
		t.Errorf("root: %+v", n)
	}
}

func TestIncrementalFormsAreMarked(t *testing.T) {
	for _, text := range []string{"- <changed> button \"Ask\" [ref=e2]\n", "- generic [ref=e1]:\n  - ref=e2 [unchanged]\n"} {
		if !snapshot.Parse(text).Partial {
			t.Errorf("not marked: %q", text)
		}
	}
}

func TestDepthAndSizeDoNotMatter(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		b.WriteString(strings.Repeat("  ", i) + "- generic:\n")
	}
	page := snapshot.Parse(b.String())
	if page.Len() != 3000 || page.Node(0).End != 3000 {
		t.Errorf("%d nodes", page.Len())
	}
	if got := snapshot.Parse(""); got.Len() != 0 {
		t.Error("nodes out of nothing")
	}
}

func TestRecordedSnapshotsKeepEveryRef(t *testing.T) {
	for _, path := range corpora.Glob(t, "browser/snapshots/*.yaml") {
		data := corpora.Read(t, path)
		want := strings.Count(string(data), "[ref=")
		got := 0
		for n := range snapshot.Parse(string(data)).All() {
			if n.Ref != "" {
				got++
			}
		}
		if got != want || got == 0 {
			t.Errorf("%s: %d refs, want %d", path, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add("- 'link \"a''b\" [ref=e1]': \"x\\x41\"\n  - text: 中文\n- <changed> x\n- ref=e1 [unchanged]")
	f.Fuzz(func(t *testing.T, text string) {
		page := snapshot.Parse(text)
		for i := range page.Len() {
			n := page.Node(i)
			if n.Index != i || n.End <= i || n.End > page.Len() || n.Parent != nil && !n.Parent.Holds(n) {
				t.Fatalf("node %d: %+v", i, n)
			}
			page.Content(n, 100)
		}
	})
}

func BenchmarkParse500Rows(b *testing.B) {
	data, err := fs.ReadFile(corpora.Data(), "browser/snapshots/list500.yaml")
	if err != nil {
		b.Skip("needs the whole sets: set TOOLFIT_DATA")
	}
	text := string(data)
	b.ReportAllocs()
	for b.Loop() {
		snapshot.Parse(text)
	}
}

// byRef is the node with the ref, or nil.
func byRef(page *snapshot.Page, ref string) *snapshot.Node {
	for n := range page.All() {
		if n.Ref == ref && ref != "" {
			return n
		}
	}
	return nil
}
