package tokens

import (
	"fmt"
	"hash/maphash"
	"sort"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// vocabulary is loaded on the first exact count: it takes 16 MB and tens of milliseconds,
// which a gateway that only estimates never pays.
var vocabulary = sync.OnceValues(func() (tokenizer.Codec, error) {
	return tokenizer.Get(tokenizer.O200kBase)
})

// Count returns the number of o200k tokens in text. It takes about a second for 30 megabytes of ordinary
// text, and for 5 of text without words.
func Count(text string) (int, error) {
	n, _, err := count([]byte(text), len(text))
	return n, err
}

// Fits reports whether text has at most n o200k tokens. It counts only where an estimate does not
// decide.
func Fits[T string | []byte](text T, n int) bool {
	if len(text) <= n { // no byte takes more than one token
		return true
	}
	estimate := Estimate(text)
	if estimate > mostOver*n {
		return false
	}
	if (estimate+1)*mostUnder <= n && (estimate+1)*mostUnder+foreign(text) <= n {
		return true
	}
	_, size, err := count([]byte(text), n)
	return err == nil && size == len(text)
}

// How far an estimate may be off. Random capitals cost four times as much, and bytes beyond ASCII up to a
// token each. Long rows of one sign cost almost nothing: a text that is mostly such rows may be taken
// for too long.
const (
	mostUnder = 4
	mostOver  = 8
)

// foreign is the number of bytes beyond ASCII.
func foreign[T string | []byte](text T) (n int) {
	for i := range len(text) {
		n += int(text[i] >> 7)
	}
	return n
}

// Prefix returns how many bytes from the start of text, up to the end of a character, have at most n
// o200k tokens.
func Prefix[T string | []byte](text T, n int) int {
	head := []byte(text[:min(len(text), maxToken*max(0, n))])
	used, size, err := count(head, n)
	if err != nil || size == len(head) {
		return size
	}
	rest := head[size:]
	rest = rest[:min(chunk(rest), maxToken*(n-used))]
	fits := func(i int) bool {
		_, done, err := count(rest[:i], n-used)
		return err == nil && done == i
	}
	more := sort.Search(len(rest), func(i int) bool { return !fits(i + 1) })
	for more > 0 && (size+more < len(text) && !utf8.RuneStart(text[size+more]) || !fits(more)) { // longer texts may cost less
		more--
	}
	return size + more
}

// maxToken is the length of the longest token of the vocabulary.
const maxToken = 128

// count counts pieces of text while they stay within the limit, and returns how long these are. What
// exceeds it is not counted.
func count(text []byte, limit int) (n, size int, err error) {
	codec, err := vocabulary()
	if err != nil {
		return 0, 0, fmt.Errorf("load the o200k vocabulary: %w", err)
	}
	for size < len(text) {
		piece := text[size:]
		piece = piece[:chunk(piece)]
		cost, err := costOf(codec, piece)
		if err != nil {
			return 0, 0, fmt.Errorf("count tokens: %w", err)
		}
		if n+cost > limit {
			return n, size, nil
		}
		n += cost
		size += len(piece)
	}
	return n, size, nil
}

// costOf is the number of tokens of a piece. Texts repeat their words, and looking one up is far cheaper
// than splitting it again: each short piece has a place in memory, which it shares with few others.
func costOf(codec tokenizer.Codec, piece []byte) (int, error) {
	if len(piece) > maxRemembered {
		return codec.Count(string(piece))
	}
	place := &memory[maphash.Bytes(seed, piece)%uint64(len(memory))]
	if m := place.Load(); m != nil && m.piece == string(piece) {
		return m.cost, nil
	}
	cost, err := codec.Count(string(piece))
	if err != nil {
		return 0, err
	}
	place.Store(&remembered{string(piece), cost})
	return cost, nil
}

type remembered struct {
	piece string
	cost  int
}

const maxRemembered = 40 // bytes of a piece

var (
	memory [1 << 14]atomic.Pointer[remembered]
	seed   = maphash.MakeSeed()
)

// chunk is the length of the first piece of text that can be counted by itself. It ends where the
// vocabulary splits any text: behind a run of ASCII letters, digits or signs, before what can belong
// neither to it nor to its end. All else stays together.
func chunk(text []byte) int {
	for i := 1; i < len(text); i++ {
		before := kinds[text[i-1]]
		after := kinds[text[i]]
		switch {
		case before == letter && (after == digit || after == blank || after == sign && text[i] != '\''),
			before == digit && (after == letter || after == blank || after == sign),
			before == sign && after == blank && text[i] == ' ':
			return i
		}
	}
	return len(text)
}

type kind byte

const (
	other kind = iota // not ASCII
	letter
	digit
	sign
	blank
)

var kinds = func() (t [256]kind) {
	for b := range 128 {
		switch c := byte(b); {
		case isLetter(c):
			t[b] = letter
		case c >= '0' && c <= '9':
			t[b] = digit
		case c == ' ' || c >= '\t' && c <= '\r':
			t[b] = blank
		default:
			t[b] = sign
		}
	}
	return t
}()
