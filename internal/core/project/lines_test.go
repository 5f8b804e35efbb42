package project_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/shape"
)

// firstText is the text of a result's first block.
func firstText(t testing.TB, result []byte) string {
	t.Helper()
	for w := rawjson.Array(rawjson.Get(result, "content")); w.Next(); {
		s, _ := rawjson.String(rawjson.Get(w.Value, "text"))
		return s
	}
	t.Fatalf("no text in %s", result)
	return ""
}

func TestJSONLinesAreCutRowByRow(t *testing.T) {
	const lines = "{\"id\":1,\"x\":[2]}\r\n\n  {\"id\":3, \"x\":null}\n"
	for name, c := range map[string]struct {
		how      project.How
		in, want string
		outcome  project.Outcome
	}{
		"a mask holds for each": {project.How{Mask: parse(t, "id")}, lines, "{\"id\":1}\n{\"id\":3}", project.Projected},
		"arrays": {project.How{Mask: parse(t, "a")}, "[[{\"a\":1,\"b\":1}],2]\n[]", "[[{\"a\":1}],2]\n[]",
			project.Projected},
		"in a fence": {project.How{Mask: parse(t, "id")}, "```json\n" + lines + "```", "{\"id\":1}\n{\"id\":3}",
			project.Projected},
		"a program makes an array of lines": {project.How{JQ: jq(t, "map({n: .id})")}, lines, "{\"n\":1}\n{\"n\":3}", project.Projected},
		"a program makes something else":    {project.How{JQ: jq(t, "map(.id)")}, lines, "[1,3]", project.Projected},
		"a page":                            {project.How{Offset: 1, Limit: 1}, lines, "{\"id\":3,\"x\":null}", project.Projected},
		"no white space": {project.How{Shape: shape.JSON}, lines, "{\"id\":1,\"x\":[2]}\n{\"id\":3,\"x\":null}",
			project.Projected},
		"a table": {project.How{Shape: shape.Table}, strings.Repeat("{\"id\":1,\"name\":\"x\"}\n", 4),
			"[4]:\nall rows: name=x\nid\n1\n1\n1\n1", project.Projected},
		"nothing is left out":        {project.How{Mask: parse(t, "*")}, lines, lines, project.Whole},
		"no name of the mask occurs": {project.How{Mask: parse(t, "y")}, lines, lines, project.Mismatch},
		"one of them is no JSON":     {project.How{Mask: parse(t, "id")}, lines + "{id}", lines + "{id}", project.Failed},
		"one of them is a number": {project.How{Mask: parse(t, "id")}, "{\"id\":1,\"x\":2}\n7\n{}", "{\"id\":1,\"x\":2}\n7\n{}",
			project.Failed},
		"one is too deep": {project.How{Mask: parse(t, "id")}, lines + strings.Repeat("[", 512) + strings.Repeat("]", 512) + "\n{}",
			lines + strings.Repeat("[", 512) + strings.Repeat("]", 512) + "\n{}", project.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			cut := project.Plan(t.Context(), []byte(text(c.in)), c.how)
			out := cut.Apply("r_abc")
			if got := firstText(t, out); got != c.want || cut.Outcome != c.outcome || !json.Valid(out) {
				t.Errorf("%s, %v\ngot  %q\nwant %q", cut.Outcome, cut.Err, got, c.want)
			}
			if cut.Leaves() != strings.Contains(string(out), "r_abc") {
				t.Errorf("leaves %v: %s", cut.Leaves(), out)
			}
		})
	}
}

func TestABudgetLeavesOutWholeJSONLines(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"the words of line %d\"}\n", i, i)
	}
	full := []byte(text(b.String()))
	cut := project.Plan(t.Context(), full, project.How{Budget: 600})
	out := cut.Apply("r_abc")
	kept := strings.Split(firstText(t, out), "\n")
	for i, line := range kept {
		if want := fmt.Sprintf("{\"id\":%d,\"text\":\"the words of line %d\"}", i, i); line != want {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	if n := len(kept); !strings.Contains(string(out), fmt.Sprintf(`\"rows\":%d`, 400-n)) || !strings.Contains(string(out), `[10,\"the words`) {
		t.Errorf("%d lines are left: %s", n, out)
	}
	got, err := project.Fetch(full, project.Wanted{"id"})
	if err != nil || !bytes.HasPrefix(got.Value, []byte(`[{"id":0},{"id":1}`)) {
		t.Errorf("fetch: %.80s, %v", got.Value, err)
	}
	page, err := project.PageOf(project.Body(full), 398, 0, 0)
	if err != nil || string(page.Value) != `[{"id":398,"text":"the words of line 398"},{"id":399,"text":"the words of line 399"}]` {
		t.Errorf("page: %s, %v", page.Value, err)
	}
}

// FuzzJSONLines holds that lines are cut as the array of them is.
func FuzzJSONLines(f *testing.F) {
	for _, m := range []string{"id", "!**/a", "[:1](a~2)", "*~3", "x"} {
		f.Add(m, "{\"id\":1,\"a\":\"中文字\"}\n{\"a\":[{\"x\":1}]}", 0)
		f.Add(m, "[1,{\"id\":2}]\r\n\n [\"\\ud800\"]\n", 30)
		f.Add(m, "{\n\"id\":1}\n{}", 1)
		f.Add(m, "[1\n2]\n[3]", 0)
	}
	f.Fuzz(func(t *testing.T, src, lines string, budget int) {
		m, err := mask.Parse(src)
		if err != nil || len(lines) > 4000 {
			return
		}
		var rows []string
		for line := range strings.Lines(lines) {
			switch line = strings.TrimSpace(line); {
			case line == "":
			case line[0] != '{' && line[0] != '[' || !json.Valid([]byte(line)):
				return
			default:
				rows = append(rows, line)
			}
		}
		if len(rows) < 2 || rows[0][0]+2 != rows[len(rows)-1][len(rows[len(rows)-1])-1] {
			return
		}
		how := project.How{Mask: m, Budget: max(0, budget)}
		got := project.Plan(t.Context(), []byte(text(lines)), how)
		want := project.Plan(t.Context(), []byte(text("["+strings.Join(rows, ",")+"]")), how)
		out := firstText(t, got.Apply("r_1"))
		array := firstText(t, want.Apply("r_1"))
		if got.Leaves() != want.Leaves() || got.Outcome != want.Outcome {
			t.Fatalf("%s of %q: %s, want %s", src, lines, got.Outcome, want.Outcome)
		}
		if got.Outcome == project.Projected && out != array && "["+strings.ReplaceAll(out, "\n", ",")+"]" != array {
			t.Fatalf("%s of %q gave %q, want %q", src, lines, out, array)
		}
	})
}
