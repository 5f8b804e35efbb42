package tokens_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// long are texts of a size without anything at which they could be taken apart.
func long(size int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	fill := func(next func() string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(next())
		}
		return strings.ToValidUTF8(b.String()[:size], "")
	}
	blob := func() string {
		var raw [48]byte
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		return base64.StdEncoding.EncodeToString(raw[:])
	}
	return map[string]string{
		"letters":  fill(func() string { return string(rune('a' + r.IntN(26))) }),
		"one sign": fill(func() string { return "=" }),
		"one word": fill(func() string { return "word" }),
		"signs":    fill(func() string { return string("!#$%&()*+-./:;<=>?@[]^_{|}~"[r.IntN(27)]) }),
		"Chinese":  fill(func() string { return string(rune(0x4E00 + r.IntN(3000))) }),
		"base64":   fill(blob),
		"blanks":   fill(func() string { return string(" \t\n"[r.IntN(3)]) }),
	}
}

func TestLongPiecesAreCountedAsShortOnes(t *testing.T) {
	for name, text := range long(2 << 10) {
		want := tokens.Naive(text)
		if got := tokens.Count(text); got != want {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
		for _, n := range []int{1, 7, 100, want / 2, want - 1, want} {
			checkPrefix(t, name, text, n)
		}
	}
}

func TestAPartOfALongPieceCostsWhatItWouldAlone(t *testing.T) {
	for name, text := range long(20 << 10) {
		all := tokens.Count(text)
		want := 0 // of pieces that are merged as a whole
		for rest := text; rest != ""; {
			part := strings.ToValidUTF8(rest[:min(len(rest), 2000)], "")
			want += tokens.Count(part)
			rest = rest[len(part):]
		}
		if all > want+want/50 || all < want-want/50-40 {
			t.Errorf("%s: %d tokens, and %d in small parts", name, all, want)
		}
		for _, n := range []int{1, 100, all / 3, all - 1} {
			checkPrefix(t, name, text, n)
		}
		if name != "one sign" && (!tokens.Fits(text, all) || tokens.Fits(text, all-1)) {
			t.Errorf("%s: %d tokens fit in fewer, or do not fit", name, all)
		}
	}
}

// library is another reader of the same vocabulary. It passes over \x7f, and takes "\n \n" for two pieces.
var library = codec.NewO200kBase()

func TestRealTextsAreCountedAsByTheLibrary(t *testing.T) {
	var files []string
	for _, pattern := range []string{"schemas/*.jsonl", "browser/snapshots/*", "retrieval/*.json*"} {
		files = append(files, corpora.Glob(t, pattern)...)
	}
	for _, name := range files {
		text := string(corpora.Read(t, name))
		text = strings.ToValidUTF8(text[:min(len(text), 30<<10)], "")
		want, err := library.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tokens.Count(text); got != want {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
		for _, n := range []int{1, 2, 3, 50, 133, 1000} {
			checkPrefix(t, name, text, n)
		}
	}
}

// checkPrefix checks that a prefix has as many tokens as it may, but for one of a character in parts.
func checkPrefix(t *testing.T, name, text string, n int) {
	t.Helper()
	size := tokens.Prefix(text, n)
	got := tokens.Count(text[:size])
	if got > n || size < len(text) && got < n-3 || !utf8.ValidString(text[:size]) {
		t.Errorf("%s: the prefix for %d tokens is %d bytes with %d", name, n, size, got)
	}
}

func BenchmarkLong(b *testing.B) {
	const size = 1 << 20
	for name, text := range long(size) {
		b.Run("Prefix/"+name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				tokens.Prefix(text, 8000)
			}
		})
		b.Run("Fits/"+name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				tokens.Fits(text, 50000)
			}
		})
		b.Run("Count/"+name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				tokens.Count(text)
			}
		})
	}
}
