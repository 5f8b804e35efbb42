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

// Fits reports whether text has at most n o200k tokens. No byte takes more than one.
func Fits[T string | []byte](text T, n int) bool { return len(text) <= n || Near(text, n) <= n }

// Near is the number of o200k tokens in text while it is at most limit. Beyond, it is only known to be
// more, and about how many. A text that is mostly long rows of one sign may be taken for too long.
func Near[T string | []byte](text T, limit int) int {
	n := 0
	size := 0
	if len(text) <= maxToken*max(0, limit) {
		var err error
		n, size, err = count([]byte(text), limit)
		switch {
		case err != nil:
			return len(text)
		case size == len(text):
			return n
		}
	}
	return limit + 1 + (len(text)-size)*max(n, 1)/max(size, 4)
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

const (
	maxToken = 128 // bytes of the longest token of the vocabulary
	mostOver = 8   // times that an estimate exceeds the count, of anything but long rows of one sign
)

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
		if len(piece) > maxRemembered && Estimate(piece) > mostOver*(limit-n) {
			return n, size, nil
		}
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
// than splitting it again: each short piece has two places in memory, which it shares with few others.
func costOf(codec tokenizer.Codec, piece []byte) (int, error) {
	if len(piece) > maxRemembered {
		return codec.Count(string(piece))
	}
	hash := hashOf(piece)
	place := hash % uint64(len(memory))
	last := memory[place].Load()
	for _, m := range [2]uint64{last, memory[place^1].Load()} {
		if m != 0 && m|maxRemembered == hash|maxRemembered {
			return int(m & maxRemembered), nil
		}
	}
	cost, err := codec.Count(string(piece))
	if err != nil {
		return 0, err
	}
	memory[place^1].Store(last)
	memory[place].Store(hash&^maxRemembered | uint64(cost))
	return cost, nil
}

// hashOf is a hash of a piece. Most are so short that they are all in it.
func hashOf(piece []byte) uint64 {
	if len(piece) > 7 {
		return maphash.Bytes(seed, piece)
	}
	word := uint64(len(piece))
	for _, b := range piece {
		word = word<<8 | uint64(b)
	}
	const prime = 0x9E3779B97F4A7C15
	word *= prime
	word ^= word >> 32
	return word * prime
}

const maxRemembered = 1<<6 - 1 // bytes of a piece, which has no more tokens

// memory holds the cost of a piece in the low bits, and its hash in all others. That two pieces at the
// same place share these is less likely than a fault of the machine.
var (
	memory [1 << 16]atomic.Uint64
	seed   = maphash.MakeSeed()
)

// chunk is the length of the first piece of text that can be counted by itself. It ends where the
// vocabulary splits any text: behind a run of ASCII letters, digits or signs, before what can belong
// neither to it nor to its end. All else stays together.
func chunk(text []byte) int {
	last := other
	for i, b := range text {
		last = moves[last&kindBits][b]
		if last&split != 0 {
			return i
		}
	}
	return len(text)
}

type kind byte

const (
	other kind = iota // not ASCII, or nothing yet
	letter
	digit
	sign
	signs // more than one
	blank

	kindBits kind = 7
	split    kind = 8 // before this byte
)

// moves holds, per kind of the last byte and next byte, the kind of that.
var moves = func() (t [kindBits + 1][256]kind) {
	for before := range blank + 1 {
		for b := range 256 {
			t[before][b] = move(before, byte(b))
		}
	}
	return t
}()

func move(before kind, b byte) kind {
	after := other
	ends := false
	switch {
	case b >= 127: // of control characters, one that the vocabulary lacks
	case isLetter(b):
		after = letter
		ends = before == digit || before == signs // one sign belongs to the word
	case b >= '0' && b <= '9':
		after = digit
		ends = before == letter || before == sign || before == signs
	case b == ' ' || b >= '\t' && b <= '\r':
		after = blank
		ends = before == letter || before == digit || b == ' ' && (before == sign || before == signs)
	case before == sign || before == signs:
		after = signs
	default:
		after = sign
		ends = before == letter && b != '\'' || before == digit
	}
	if ends {
		after |= split
	}
	return after
}
