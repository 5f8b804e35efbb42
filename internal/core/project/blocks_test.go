package project_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// blocks is a list as many servers write it: one text for each row.
func blocks(n int, row func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = `{"type":"text","text":` + string(rawjson.AppendString(nil, row(i))) + `}`
	}
	return `{"content":[` + strings.Join(list, " ,\n") + `]}`
}

func jsonRow(i int) string {
	return fmt.Sprintf(`{"id":%d,"title":"number %d","body":"%s"}`, i, i, strings.Repeat("some words ", 30))
}

func TestABudgetKeepsTheFirstOfManyBlocks(t *testing.T) {
	for name, row := range map[string]func(int) string{
		"rows":        jsonRow,
		"lines":       func(i int) string { return fmt.Sprintf("line %d of prose, with some words", i) },
		"short words": func(int) string { return "hi" },
		"a long one first": func(i int) string {
			if i == 0 {
				return strings.Repeat("a long line\n", 5000)
			}
			return "a short line"
		},
	} {
		t.Run(name, func(t *testing.T) {
			raw := blocks(3000, row)
			cut := project.Plan(context.Background(), []byte(raw), project.How{Budget: 2000})
			out := cut.Apply("r_abc")
			shown := project.Text(out)
			if n := tokens.Estimate(shown); !json.Valid(out) || n > 2060 || n < 900 {
				t.Fatalf("%d tokens: %.300s", n, out)
			}
			if first, _, _ := strings.Cut(row(0), "\n"); !strings.HasPrefix(shown, first) {
				t.Errorf("the first row is %.100s", shown)
			}
			if !strings.Contains(shown, `"rows":`) || !strings.Contains(shown, "r_abc") || !cut.Leaves() {
				t.Errorf("no note: %s", shown[len(shown)-100:])
			}
		})
	}
}

func TestBlocksBetweenThoseThatGoStay(t *testing.T) {
	image := `{"type":"image","data":"AAAA","mimeType":"image/png"}`
	note := strings.Repeat("a word ", 25)
	text := `{"type":"text","text":"` + note + `"}`
	raw := `{"content":[` + image + `, ` + strings.Repeat(text+","+image+" , ", 20) + text + `]}`
	out := project.Plan(context.Background(), []byte(raw), project.How{Budget: 150}).Apply("r_abc")
	if !json.Valid(out) || strings.Count(string(out), image) != 21 || strings.Count(string(out), note) != 2 {
		t.Errorf("%d images, %d texts in %s", strings.Count(string(out), image), strings.Count(string(out), note), out)
	}
}

func TestSeveralBlocksHaveOneNote(t *testing.T) {
	raw := blocks(40, jsonRow)
	out := project.Plan(context.Background(), []byte(raw), project.How{Mask: parse(t, "id")}).Apply("r_abc")
	if n := strings.Count(string(out), project.Omitted); n != 1 {
		t.Errorf("%d notes: %s", n, out)
	}
	if !strings.HasPrefix(string(out), `{"content":[{"type":"text","text":"{\"id\":0}"} ,`) {
		t.Errorf("got %s", out)
	}
}

func TestABudgetCutsTheTextOfAResource(t *testing.T) {
	file := strings.Repeat("A line of a file.\n", 2000)
	resource := `{"type":"resource","resource":{"uri":"repo://f","mimeType":"text/plain","text":` +
		string(rawjson.AppendString(nil, file)) + `,"x":1.0}}`
	binary := `{"type":"resource","resource":{"uri":"repo://b","blob":"` + blob(9000) + `"}}`
	raw := `{"content":[{"type":"text","text":"two files"},` + resource + `,` + binary + `]}`
	out := string(project.Plan(context.Background(), []byte(raw), project.How{Budget: 300}).Apply("r_abc"))
	if !json.Valid([]byte(out)) || !strings.Contains(out, "…[+") || !strings.Contains(out, `,"x":1.0}}`) ||
		!strings.Contains(out, binary) || strings.Count(out, "A line") > 60 {
		t.Errorf("got %.1000s", out)
	}
	if !strings.Contains(out, `{\"_omitted\":{\"cut\":1,\"ref\":\"r_abc\"`) {
		t.Errorf("no note: %.1000s", out)
	}
	masked := project.Plan(context.Background(), []byte(`{"content":[`+strings.Replace(resource, `"A`, `"{\"id\":1}`, 1)+`]}`),
		project.How{Mask: parse(t, "id")})
	if masked.Outcome != project.Whole {
		t.Errorf("a file is no answer to be masked: %s", masked.Outcome)
	}
}

func TestAFieldIsFetchedFromEveryBlock(t *testing.T) {
	row := func(i int) string { return fmt.Sprintf(`{"id":%d,"x":"value %d"}`, i, i) }
	rows := `[{"x":"value 0"},{"x":"value 1"}]`
	for name, c := range map[string]struct{ raw, mask, want string }{
		"blocks alone": {blocks(2, row), "x", rows},
		"one that has it": {blocks(2, func(i int) string {
			return strings.Replace(row(i), `"x"`, fmt.Sprintf(`"x%d"`, i),
				1)
		}), "x1", `{"x1":"value 1"}`},
		"beside structuredContent": {strings.TrimSuffix(blocks(2, row), "}") + `,"structuredContent":{"result":[` + row(0) + `,` +
			row(1) + `]}}`, "x", `{"result":` + rows + `}`},
		"what structuredContent says": {strings.TrimSuffix(blocks(2, row), "}") + `,"structuredContent":{"result":[` + row(0) + `,` +
			row(1) + `]}}`, "result/x", `{"result":` + rows + `}`},
	} {
		if got, err := project.Fetch([]byte(c.raw), project.Wanted{c.mask}); err != nil || string(got.Value) != c.want {
			t.Errorf("%s: got %s, %v; want %s", name, got.Value, err, c.want)
		}
	}
	if _, err := project.Fetch([]byte(blocks(2, row)), project.Wanted{"y"}); err == nil ||
		!strings.Contains(err.Error(), "there are: id, x") {
		t.Errorf("the names that there are: %v", err)
	}
}

func TestAPageKeepsToItsBudgetBesideALongText(t *testing.T) {
	long := strings.Repeat("some words of a log, ", 20_000)
	for name, value := range map[string]string{
		"before the rows": `{"log":"` + long + `","items":[{"id":1},{"id":2},{"id":3}]}`,
		"after the rows":  `{"items":[{"id":1},{"id":2},{"id":3}],"log":"` + long + `"}`,
		"in objects":      `{"a":{"b":{"log":"` + long + `"}},"items":[{"id":1},{"id":2},{"id":3}],"c":{"d":"` + long + `"}}`,
		"in many members": `{"items":[{"id":1},{"id":2},{"id":3}],"a":{` +
			strings.TrimSuffix(strings.Repeat(`"k":"some words",`, 20_000), ",") + `}}`,
		"in a number": `{"n":` + strings.Repeat("7", 40_000) + `,"items":[1,2,3]}`,
	} {
		page, err := project.PageOf([]byte(value), 0, 0, 1000)
		if err != nil || exact(t, page.Value) > 1000 || !json.Valid(page.Value) || !page.Cut && page.Next == 0 {
			t.Errorf("%s: %d tokens, next %d, cut %v, %v", name, exact(t, page.Value), page.Next, page.Cut, err)
		}
		if page.Rows && !strings.Contains(string(page.Value), `"items":[{"id":1},{"id":2},{"id":3}]`) {
			t.Errorf("%s: %.200s", name, page.Value)
		}
	}
	if page, err := project.PageOf([]byte(`"ab\ud800cd"`), 0, 3, 0); err != nil || string(page.Value) != `"ab\ud800"` {
		t.Errorf("half of a pair was split: %q, %v", page.Value, err)
	}
}
