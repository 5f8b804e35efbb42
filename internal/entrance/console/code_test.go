package console

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzColor(f *testing.F) {
	f.Add(`{"a": "b\"", "c": [1.0, true]}`)
	f.Add(`"</pre><script>` + "\u202e")
	f.Add("\"\xff\\")
	f.Fuzz(func(t *testing.T, text string) {
		html := string(color(text))
		for _, class := range []string{"k", "s", "v"} {
			html = strings.ReplaceAll(html, `<span class="`+class+`">`, "")
		}
		if html = strings.ReplaceAll(html, "</span>", ""); strings.ContainsAny(html, "<>\u202e") {
			t.Errorf("%q gives %q", text, html)
		}
	})
}

func TestLongTextsAreShortenedForWhatStandsBehindThem(t *testing.T) {
	long := strings.Repeat(`a\n云`, 300)
	for name, c := range map[string]struct{ raw, want string }{
		"short texts stay":         {`{"a": "b", "c": [1.0, "\"x\""]}`, `{"a": "b", "c": [1.0, "\"x\""]}`},
		"between letters":          {`{"a": "` + long + `", "b": 2}`, `{"a": "` + long[:597] + `…", "b": 2}`},
		"not within an escape":     {`["` + strings.Repeat(`\u4e91`, 200) + `"]`, `["` + strings.Repeat(`\u4e91`, 99) + `…"]`},
		"what ends within a text":  {`{"a": "bc`, `{"a": "bc`},
		"a text that never closes": {`"` + strings.Repeat("x", 900), `"` + strings.Repeat("x", 599) + `…"`},
	} {
		if got := string(shortTexts([]byte(c.raw), 600, 1<<20)); got != c.want {
			t.Errorf("%s: %.80s … %s", name, got, got[max(0, len(got)-40):])
		}
	}
	if got := shortTexts([]byte(`["`+strings.Repeat(long+`","`, 100)+`"]`), 600, 5000); len(got) > 5700 {
		t.Errorf("%d bytes for a limit of 5,000", len(got))
	}
}

func TestTextsAreShownAsFarAsThereIsPlace(t *testing.T) {
	of := func(bytes int, behind string) block {
		return brief("n", []byte(`{"text":"`+strings.Repeat("a", bytes)+`",`+behind+`}`), 16_000)
	}
	if b := of(9000, `"b":1`); b.Cut || strings.Count(string(b.HTML), "a") < 9000 {
		t.Error("a text is shortened although there is place")
	}
	if b := of(20_000, `"behind":"it"`); !b.Cut || strings.Count(string(b.HTML), "a") < 7900 || !strings.Contains(string(b.HTML), "behind") {
		t.Error("a long text is cut too far, hides what is behind it, or it is not said")
	}
}

func FuzzShortTexts(f *testing.F) {
	f.Add([]byte(`{"a": "\u4e91` + strings.Repeat(`\\云`, 400) + `"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if short := shortTexts(raw, 600, 1<<20); json.Valid(raw) && !json.Valid(short) {
			t.Errorf("%q became %q", raw, short)
		}
	})
}
