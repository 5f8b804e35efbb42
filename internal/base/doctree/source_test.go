package doctree

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzBytes holds that an edit reaches the file as it was meant, and that the rest keeps its bytes.
func FuzzBytes(f *testing.F) {
	f.Add("a\r\nb\nc\rd", uint(2), uint(1), "x\ny")
	f.Add(bom+"a\r\n\r\n", uint(0), uint(9), "\n")
	f.Fuzz(func(t *testing.T, raw string, at, length uint, added string) {
		src, found := NewSource([]byte(raw))
		if len(found) > 0 || strings.ContainsRune(added, '\r') || !utf8.ValidString(added) {
			return
		}
		if got := string(src.Bytes(src.Text)); got != raw {
			t.Fatalf("without an edit %q became %q", raw, got)
		}
		from := min(int(at%1000), len(src.Text))
		to := min(from+int(length%1000), len(src.Text))
		edited := src.Text[:from] + added + src.Text[to:]
		got := src.Bytes(edited)
		if again, found := NewSource(got); len(found) == 0 && !lonelyCR(raw) && again.Text != edited {
			t.Fatalf("%q with %q became %q", raw, edited, got)
		}
	})
}

// lonelyCR reports whether a text has a \r without \n, which an edit behind it can make a pair.
func lonelyCR(s string) bool { return strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\r") }
