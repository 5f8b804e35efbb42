package visible

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatATerminalWouldObeyOrNotShowIsWrittenOut(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain text stays":              {"a\tb\nü 中文 😀 e\u0301 \\u202e", "a\tb\nü 中文 😀 e\u0301 \\u202e"},
		"an escape sequence":            {"\x1b[2J\x1b]0;title\x07", `\u001b[2J\u001b]0;title\u0007`},
		"a sequence in one character":   {"\u009b2J", `\u009b2J`},
		"the same in one byte":          {"\x9b2J", "\uFFFD2J"},
		"a carriage return":             {"good\rbad ", `good\u000dbad `},
		"a line end of Windows stays":   {"a\r\nb\r\n", "a\r\nb\r\n"},
		"two returns before a line":     {"a\r\r\n", "a\\u000d\r\n"},
		"a return at the end":           {"a\r", `a\u000d`},
		"backspace, delete, NUL":        {"a\b\x7f\x00", `a\u0008\u007f\u0000`},
		"text that is turned around":    {"\u202etxt.exe\u202c\u2066x\u2069\u061c", `\u202etxt.exe\u202c\u2066x\u2069\u061c`},
		"zero width":                    {"a\u200bb\u200cc\u200dd\u2060\ufeff\u00ad", `a\u200bb\u200cc\u200dd\u2060\ufeff\u00ad`},
		"joined emoji":                  {"👩\u200d💻", `👩\u200d💻`},
		"tags, as a pair of surrogates": {"a\U000e0041", `a\udb40\udc41`},
		"variation selectors for data":  {"a\U000e0100", `a\udb40\udd00`},
		"other line breaks":             {"a\u0085b\u2028c\u2029", `a\u0085b\u2028c\u2029`},
		"blank letters":                 {"\u3164\u115f\u1160\uffa0", `\u3164\u115f\u1160\uffa0`},
		"signs around Arabic numbers":   {"\u0600\u06dd", "\u0600\u06dd"},
		"half a character":              {"a\xe4\xb8", "a\uFFFD\uFFFD"},
	} {
		if got := Text(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for size := 1; size < 5; size++ {
			var out strings.Builder
			w := NewWriter(&out)
			for at := 0; at < len(c.text); at += size {
				if n, err := io.WriteString(w, c.text[at:min(at+size, len(c.text))]); n == 0 || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil || out.String() != c.want {
				t.Errorf("%s, %d bytes at a time: %q, want %q", name, size, out.String(), c.want)
			}
		}
	}
}

func TestOurOwnSequencesAndRawOutputPass(t *testing.T) {
	var out strings.Builder
	w := NewWriter(&out)
	w.Control("\r\x1b[K")
	io.WriteString(w, "\x1b[1m")
	w.Raw()
	io.WriteString(w, "\x1b[1m\xff")
	if out.String() != "\r\x1b[K\\u001b[1m\x1b[1m\xff" {
		t.Errorf("%q", out.String())
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[2Jb\r\nc\xff\u202e", 3)
	f.Fuzz(func(t *testing.T, text string, at int) {
		var out strings.Builder
		w := NewWriter(&out)
		at = max(0, min(at, len(text)))
		io.WriteString(w, text[:at])
		io.WriteString(w, text[at:])
		w.Flush()
		got := out.String()
		if !utf8.ValidString(got) || strings.ContainsFunc(strings.ReplaceAll(got, "\r\n", "\n"), Hidden) {
			t.Fatalf("%q became %q", text, got)
		}
		// As JSON nothing is lost.
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back, want string
		if err := json.Unmarshal([]byte(Text(string(quoted))), &back); err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(quoted, &want); back != want {
			t.Fatalf("%q became %q", want, back)
		}
		if !strings.ContainsFunc(text, unicode.IsControl) && utf8.ValidString(text) && !strings.ContainsFunc(text, Hidden) && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
