package tokens

import (
	"bytes"
	"math"
	"sync/atomic"
	"unicode/utf8"
)

// Count returns the number of o200k tokens in text.
func Count(text string) int { return total([]byte(text)) }

func total(text []byte) (n int) {
	w := vocabulary()
	for len(text) > 0 {
		size := split(text)
		n += w.cost(text[:size], math.MaxInt)
		text = text[size:]
	}
	return n
}

// Fits reports whether text has at most n o200k tokens. No byte takes more than one.
func Fits[T string | []byte](text T, n int) bool { return len(text) <= n || Near(text, n) <= n }

// Near is the number of o200k tokens in text while it is at most limit. Beyond, it is only known to be
// more, and about how many. A text that is mostly long rows of one sign may be taken for too long.
func Near[T string | []byte](text T, limit int) int {
	n := 0
	size := 0
	if len(text) <= maxToken*max(0, limit) {
		n, size = count([]byte(text), limit)
		if size == len(text) {
			return n
		}
	}
	return limit + 1 + (len(text)-size)*max(n, 1)/max(size, 4)
}

// Prefix returns how many bytes from the start of text, up to the end of a character, have at most n
// o200k tokens.
func Prefix[T string | []byte](text T, n int) int {
	head := []byte(text[:min(len(text), maxToken*max(0, n))])
	used, size := count(head, n)
	if size == len(head) {
		return size
	}
	rest := head[size:]
	return size + start(rest[:split(rest)], n-used)
}

// start returns how many bytes from the start of a piece have at most n tokens.
func start(piece []byte, n int) int {
	w := vocabulary()
	used, done := w.parts(piece, n)
	n -= used
	part := partOf(piece[done:])
	ends := w.merge(part)
	for k := min(n, len(ends)); k > 0; k-- {
		end := int(ends[k-1])
		if end < len(part) && !utf8.RuneStart(part[end]) {
			continue
		}
		if total(part[:end]) <= n { // what ends there may be taken apart otherwise
			return done + end
		}
	}
	return done
}

const mostOver = 8 // times that an estimate exceeds the count, of anything but long rows of one sign

// count counts pieces of text while they stay within the limit, and returns how long these are. What
// exceeds it is not counted.
func count(text []byte, limit int) (n, size int) {
	w := vocabulary()
	for size < len(text) {
		piece := text[size:]
		piece = piece[:split(piece)]
		if len(piece) > maxRemembered && Estimate(piece) > mostOver*(limit-n) {
			return n, size
		}
		cost := w.cost(piece, limit-n)
		if cost > limit-n {
			return n, size
		}
		n += cost
		size += len(piece)
	}
	return n, size
}

// cost is the number of tokens of a piece; beyond the limit it is only known to be more. Texts repeat their words, and
// looking one up is far cheaper than merging it again: each short piece has two places in memory, which it shares with few
// others.
func (w *words) cost(piece []byte, limit int) int {
	if len(piece) > maxRemembered {
		n, size := w.parts(piece, limit)
		if size < len(piece) {
			return limit + 1
		}
		return n
	}
	hash := hashOf(piece)
	place := hash % uint64(len(memory))
	last := memory[place].Load()
	for _, m := range [2]uint64{last, memory[place^1].Load()} {
		if m != 0 && m|maxRemembered == hash|maxRemembered {
			return int(m & maxRemembered)
		}
	}
	cost := w.mergedCost(piece)
	memory[place^1].Store(last)
	memory[place].Store(hash&^maxRemembered | uint64(cost))
	return cost
}

// maxMerged is how much of a piece is merged at once. A part may have a token more than it has as a part of the whole, but
// counting can then stop in the middle of a long text without anything at which it could be taken apart.
const maxMerged = 4 << 10

// partOf is the first part of a piece.
func partOf(piece []byte) []byte {
	if len(piece) <= maxMerged {
		return piece
	}
	end := maxMerged
	for end > maxMerged-utf8.UTFMax && !utf8.RuneStart(piece[end]) {
		end--
	}
	return piece[:end]
}

// parts adds the parts of a piece that are together within the limit, and returns how long these are.
func (w *words) parts(piece []byte, limit int) (n, size int) {
	var last []byte // long pieces are often rows of one sign
	cost := 0
	for size < len(piece) {
		part := partOf(piece[size:])
		if !bytes.Equal(part, last) {
			cost = w.mergedCost(part)
			last = part
		}
		if cost > limit-n {
			break
		}
		n += cost
		size += len(part)
	}
	return n, size
}

func (w *words) mergedCost(piece []byte) int {
	if w.rank(piece) != noRank {
		return 1
	}
	return len(w.merge(piece))
}

const maxRemembered = 1<<6 - 1 // bytes of a piece, which has no more tokens

// memory holds the cost of a piece in the low bits, and its hash in all others. That two pieces at the
// same place share these is less likely than a fault of the machine.
var memory [1 << 16]atomic.Uint64
