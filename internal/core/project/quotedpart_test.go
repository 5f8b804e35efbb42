package project

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/tokens"
)

func TestTokensOfAQuotedTextAreNearThoseOfTheText(t *testing.T) {
	for name, row := range map[string]string{
		"rows":     `{"id":17,"title":"a title of some words","url":"https://example.com/a/b?c=d","tags":["x","y"],"n":null},`,
		"indented": "\n  {\n    \"id\": 17,\n    \"title\": \"a title\"\n  },",
		"Chinese":  `{"名称":"个人版","区域":"上海","说明":"这是一个环境"},`,
		"numbers":  `[1,2.5,-3e7],`,
		"escapes":  `{"log":"line\nline \"quoted\" C:\\dir\\u00e9"},`,
		"words":    `{"text":"` + strings.Repeat("word ", 400) + `"},`,
	} {
		for _, size := range []int{100, 5000, 60_000} {
			text := `[` + strings.Repeat(row, size/len(row)+1) + `0]`
			literal, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			got := quotedTokens(literal)
			want := tokens.Estimate(text)
			if got*100 < want*80 || got*100 > want*120 {
				t.Errorf("%s of %d bytes: %d tokens, want about %d", name, size, got, want)
			}
		}
	}
}
