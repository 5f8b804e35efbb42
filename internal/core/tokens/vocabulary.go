package tokens

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"hash/maphash"
	"io"
	"sync"
)

// packed is the o200k vocabulary: its tokens by rank, each behind a byte with its length, compressed.
//
//go:embed o200k.bin
var packed []byte

const (
	maxToken = 128     // bytes of the longest token
	noRank   = 1 << 31 // of what is no token
)

// words are the tokens of the vocabulary.
type words struct {
	text   []byte
	ends   []uint32 // of each token, by rank
	places []uint32 // the rank of a token, plus 1, at its hash or behind it
}

// vocabulary is unpacked on the first exact count: it takes 5 MB and tens of milliseconds,
// which a gateway that only estimates never pays.
var vocabulary = sync.OnceValue(func() *words {
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic("the vocabulary is damaged") // it is part of the program
	}
	w := &words{text: make([]byte, 0, len(raw)), places: make([]uint32, 1<<19)}
	for len(raw) > 0 {
		token := raw[1:][:raw[0]]
		raw = raw[1+len(token):]
		w.text = append(w.text, token...)
		w.ends = append(w.ends, uint32(len(w.text)))
		at := w.place(token)
		w.places[at] = uint32(len(w.ends))
	}
	return w
})

// place is where a token is, or where it would be.
func (w *words) place(token []byte) uint64 {
	last := uint64(len(w.places) - 1)
	for at := hashOf(token) & last; ; at = (at + 1) & last {
		if n := w.places[at]; n == 0 || bytes.Equal(w.token(n-1), token) {
			return at
		}
	}
}

func (w *words) token(rank uint32) []byte {
	from := uint32(0)
	if rank > 0 {
		from = w.ends[rank-1]
	}
	return w.text[from:w.ends[rank]]
}

// rank is the rank of a token, or noRank.
func (w *words) rank(token []byte) uint32 {
	if len(token) > maxToken {
		return noRank
	}
	if n := w.places[w.place(token)]; n > 0 {
		return n - 1
	}
	return noRank
}

var seed = maphash.MakeSeed()

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
