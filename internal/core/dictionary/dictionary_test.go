package dictionary

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestIsTheOneThatWasMade fails if words.txt.gz is not what lab/dictionary made last.
func TestIsTheOneThatWasMade(t *testing.T) {
	const want = "1d83a5e9a83da68258e021c5722d29983a58ae6463916e6b3bb27b1df9b62e7e"
	if got := fmt.Sprintf("%x", sha256.Sum256(packed)); got != want {
		t.Errorf("the hash is %s", got)
	}
}

func TestTranslate(t *testing.T) {
	for word, want := range map[string]string{
		"天气": "weather", "火车票": "train ticket", "exchange rate": "", "weather": "天气", "下载": "download",
		"": "", "\t": "", "zzzz": "", "天": "", "天气\tweather": "", "\xff": "", "龘龘": "",
	} {
		got := Translate(word)
		if want == "" && got != nil || want != "" && !slices.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestEveryWordIsFound(t *testing.T) {
	n := 0
	for line := range strings.Lines(words()) {
		n++
		if n%97 > 0 { // enough of them
			continue
		}
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if got := strings.Join(Translate(word), "\t"); got != rest || got == "" {
			t.Fatalf("%q: got %q, want %q", word, got, rest)
		}
	}
	if n < 50_000 {
		t.Errorf("%d words", n)
	}
}

func BenchmarkTranslate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Translate("天气")
	}
}
