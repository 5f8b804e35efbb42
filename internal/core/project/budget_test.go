package project_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

func blob(n int) string {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

// exact is the number of o200k tokens of a text.
func exact[T string | []byte](t testing.TB, text T) int {
	t.Helper()
	return tokens.Count(string(text))
}

func TestBudgetKeepsJSONValid(t *testing.T) {
	many := func(n int, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(format, i))
		}
		return strings.Join(parts, ",")
	}
	for name, value := range map[string]string{
		"many rows":            rows(500),
		"one long string":      `{"id":7,"log":` + fmt.Sprintf("%q", strings.Repeat("a line of a log\n", 1500)) + `}`,
		"many long strings":    `{` + many(20, `"k%d":"`+strings.Repeat("words ", 300)+`"`) + `}`,
		"rows of long strings": `[` + many(20, `{"id":%d,"text":"`+strings.Repeat("字", 1000)+`"}`) + `]`,
		"a map of many":        `{` + many(2000, `"key%d":{"a":1}`) + `}`,
		"many small arrays":    `{` + many(200, `"k%d":[1,2,3,4,5,6,7,8,9,10]`) + `}`,
		"rows in rows":         `{"a":[` + many(3, `{"n":%d,"b":[`+many(200, `{"c":%d}`)+`]}`) + `]}`,
		"base64":               `{"id":7,"image":"` + blob(20_000) + `","url":"data:image/png;base64,` + blob(4000) + `"}`,
		"deep":                 strings.Repeat(`{"a":[`, 200) + rows(200) + strings.Repeat(`]}`, 200),
		"a string alone":       `"` + strings.Repeat("word ", 4_000) + `"`,
	} {
		for _, budget := range []int{300, 2000} {
			t.Run(fmt.Sprint(name, " in ", budget), func(t *testing.T) {
				raw := []byte(`{"content":[{"type":"text","text":` + string(rawjson.AppendString(nil, value)) + `}],"structuredContent":` +
					value + `}`)
				cut := project.Plan(context.Background(), raw, project.How{Budget: budget})
				out := cut.Apply("r_abc")
				if !json.Valid(out) || !cut.Leaves() {
					t.Fatalf("leaves %v: %.300s", cut.Leaves(), out)
				}
				structured := rawjson.Get(out, "structuredContent")
				if n := exact(t, structured); n > budget {
					t.Errorf("%d tokens: %.300s", n, structured)
				}
				first := rawjson.Array(rawjson.Get(out, "content"))
				first.Next()
				inner, _ := rawjson.String(rawjson.Get(first.Value, "text"))
				if value[0] != '"' && name != "deep" && inner != string(structured) {
					t.Errorf("text and structuredContent differ:\n%.200s\n%.200s", inner, structured)
				}
			})
		}
	}
}

func TestBudgetUsesWhatItHas(t *testing.T) {
	raw := []byte(text(rows(2000)))
	out := project.Plan(context.Background(), raw, project.How{Budget: 3000}).Apply("r_abc")
	w := rawjson.Array(rawjson.Get(out, "content"))
	w.Next()
	inner, _ := rawjson.String(rawjson.Get(w.Value, "text"))
	if n := exact(t, inner); n < 2700 || n > 3000 {
		t.Errorf("%d tokens of 3000 are used", n)
	}
	if !strings.Contains(inner, `"total":2000`) || !strings.Contains(inner, `"rows":`) {
		t.Errorf("got %.100s … %s", inner, inner[len(inner)-100:])
	}
}

func TestBudgetCutsProseAtALine(t *testing.T) {
	prose := strings.Repeat("A line of prose, 一行文字.\n", 2000)
	out := project.Plan(context.Background(), []byte(text(prose)), project.How{Budget: 100}).Apply("r_abc")
	w := rawjson.Array(rawjson.Get(out, "content"))
	w.Next()
	inner, _ := rawjson.String(rawjson.Get(w.Value, "text"))
	head, _, ok := strings.Cut(inner, "…[+")
	if !ok || !strings.HasPrefix(prose, head+"\n") || exact(t, inner) > 100 {
		t.Errorf("got %q", inner)
	}
	if !w.Next() || !strings.Contains(string(w.Value), "r_abc") {
		t.Errorf("no note: %s", out)
	}
	for _, odd := range []string{strings.Repeat("字", 5000), "\xff\xfe" + strings.Repeat("字\xff", 3000), strings.Repeat("a", 1<<17),
		"data:image/png;base64," + blob(9000) + " end"} {
		raw := []byte(`{"content":[{"type":"text","text":"` + odd + `"}]}`)
		out := project.Plan(context.Background(), raw, project.How{Budget: 50}).Apply("r_abc")
		if !json.Valid(out) || len(out) > 2000 || utf8.Valid(raw) && !utf8.Valid(out) {
			t.Errorf("%.20q became %.300q", odd, out)
		}
	}
}

func TestSeveralTextsShareABudget(t *testing.T) {
	block := func(s string) string {
		return `{"type":"text","text":` + string(rawjson.AppendString(nil, s)) + `}`
	}
	short := "a short text"
	long := strings.Repeat("a long line\n", 1000)
	raw := `{"content":[` + block(short) + "," + block(long) + "," + block(long) + `]}`
	out := project.Plan(context.Background(), []byte(raw), project.How{Budget: 400}).Apply("r_abc")
	if !strings.Contains(string(out), short) || exact(t, project.Text(out)) > 400 || strings.Count(string(out), "…[+") != 2 {
		t.Errorf("%d tokens: %s", exact(t, project.Text(out)), out)
	}
}

func TestABudgetedTableKeepsWholeRows(t *testing.T) {
	out := project.Plan(context.Background(), []byte(text(rows(2000))), project.How{Budget: 1000, Shape: shape.Auto}).Apply("r_abc")
	w := rawjson.Array(rawjson.Get(out, "content"))
	w.Next()
	inner, _ := rawjson.String(rawjson.Get(w.Value, "text"))
	if !strings.HasPrefix(inner, "total: 2000\nitems[") || exact(t, inner) > 1000 || exact(t, inner) < 800 {
		t.Errorf("%d tokens: %.200s", exact(t, inner), inner)
	}
	if last := inner[strings.LastIndexByte(inner, '\n')+1:]; !strings.Contains(last, "number ") {
		t.Errorf("the last row is %q", last)
	}
}

func TestDeepValuesAreNotLost(t *testing.T) {
	for _, depth := range []int{500, 600, 900, 1100, 10_000} {
		deep := `{"items":[{"id":1,"name":"first one"},{"id":2,"name":"second one"},` + strings.Repeat("[", depth) + rows(300) +
			strings.Repeat("]", depth) + `]}`
		raw := []byte(text(deep))
		for _, how := range []project.How{{Budget: 500}, {Shape: shape.Table}, {Budget: 500, Shape: shape.Auto, Limit: 2}} {
			cut := project.Plan(context.Background(), raw, how)
			out := cut.Apply("r_1")
			if !json.Valid(out) && json.Valid(raw) || how.Budget > 0 && exact(t, project.Text(out)) > how.Budget || how.Budget == 0 &&
				cut.Leaves() {
				t.Errorf("depth %d, %+v: %d tokens, leaves %v", depth, how, tokens.Estimate(out), cut.Leaves())
			}
			if how.Budget == 0 && !strings.Contains(string(out), "number 299") {
				t.Errorf("depth %d: shaping lost a row", depth)
			}
		}
		if _, err := project.PageOf(project.Body(raw), 0, 1, 100); err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

// TestRecordedPagesFitTheBudget runs on what a browser's server really answered.
func TestRecordedPagesFitTheBudget(t *testing.T) {
	for _, file := range corpora.Glob(t, "browser/snapshots/*") {
		page := corpora.Read(t, file)
		out := project.Plan(context.Background(), []byte(text(string(page))), project.How{Budget: 2000}).Apply("r_7f3kq2")
		if n := exact(t, project.Text(out)); !json.Valid(out) || n > 2000 {
			t.Errorf("%s: %d tokens", file, n)
		}
	}
}
