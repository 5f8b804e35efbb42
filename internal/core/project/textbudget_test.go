package project_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// A TextBudget limits texts, leaves all else byte for byte, and changes nothing that is within it.
func FuzzTextBudget(f *testing.F) {
	f.Add("a line\nof \"text\"\t中文 \\ /", `{"a":[1,2,3]}`, 3, 40)
	f.Add(`[{"id":1,"name":"x"},{"id":2,"name":"y"}]`, `"text"`, 2, 200)
	f.Add("\u0001\u2028 <b> &amp; 😀 9007199254740993", "[]", 1, 4)
	f.Add("\n\n\t\r\\n", "null", 9, 1)
	f.Fuzz(func(t *testing.T, text, structured string, times, budget int) {
		if !utf8.ValidString(text) || rawjson.Check([]byte(structured)) != nil || budget <= 0 || times < 0 || times > 1000 || len(text) > 1000 {
			t.Skip()
		}
		text = strings.Repeat(text, times)
		structured = strings.TrimSpace(structured)
		const image = `{"type":"image","data":"AAAAAAAAAAAAAAAAAAAA","mimeType":"image/png"}`
		raw := []byte(`{"content":[` + image + `,{"type":"text","text":` + string(rawjson.AppendString(nil, text)) + `}],"structuredContent":` +
			structured + `}`)
		how := project.How{TextBudget: budget}
		out := project.Plan(t.Context(), raw, how).Apply("r_abc")
		within := tokens.Estimate(text) <= budget
		if within != (string(out) == string(raw)) {
			t.Errorf("%d of %d tokens: %s", tokens.Estimate(text), budget, out)
		}
		if how.Passes(raw) && !within {
			t.Errorf("%d of %d tokens pass: %s", tokens.Estimate(text), budget, raw)
		}
		if string(rawjson.Get(out, "structuredContent")) != structured {
			t.Errorf("structuredContent: %s", out)
		}
		blocks := rawjson.Array(rawjson.Get(out, "content"))
		blocks.Next()
		if string(blocks.Value) != image {
			t.Errorf("image: %s", out)
		}
	})
}
