package project_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// A TextBudget limits texts, leaves all else byte for byte, and changes nothing that is well within it.
func FuzzTextBudget(f *testing.F) {
	f.Add("a line\nof \"text\"\t中文 \\ /", `{"a":[1,2,3]}`, 3, 60)
	f.Add(`[{"id":1,"name":"x"},{"id":2,"name":"y"}]`, `"text"`, 2, 200)
	f.Add("\u0001\u2028 <b> &amp; 😀 9007199254740993", "[]", 30, 54)
	f.Add("\n\n\t\r\\n", "null", 90, 51)
	f.Fuzz(func(t *testing.T, text, structured string, times, budget int) {
		if !utf8.ValidString(text) || rawjson.Check([]byte(structured)) != nil || budget < 50 || times < 0 || times > 1000 || len(text) > 1000 {
			t.Skip()
		}
		text = strings.Repeat(text, times)
		structured = strings.TrimSpace(structured)
		const image = `{"type":"image","data":"AAAAAAAAAAAAAAAAAAAA","mimeType":"image/png"}`
		raw := []byte(`{"content":[` + image + `,{"type":"text","text":` + string(rawjson.AppendString(nil, text)) + `}],"structuredContent":` +
			structured + `}`)
		how := project.How{TextBudget: budget}
		out := project.Plan(t.Context(), raw, how).Apply("r_abc")
		n := tokens.Count(text)
		if n > budget && string(out) == string(raw) || n <= budget/2 && string(out) != string(raw) {
			t.Errorf("%d of %d tokens: %s", n, budget, out)
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
