// Package secret finds known secrets in text, however programs write them: as they are, in a
// URL, in JSON, and in the base64 of a header. It does not guess: what only looks like a
// secret passes.
//
//	f := secret.NewFinder([]string{"hunter2hunter2"})
//	out, n := f.Redact([]byte("password=hunter2hunter2"), "***") // password=***, 1
package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// Finder finds secrets, however many they are, in one pass over a text. It may be shared.
type Finder struct {
	begins  [1 << 12]uint16 // 1 + the bucket of those that begin so; 0: none do
	buckets [][]string      // in each the longest first, so that none is left in part
	short   []string        // without a beginning of three bytes
}

// NewFinder makes a Finder. An empty text is no secret.
func NewFinder(secrets []string) *Finder {
	f := &Finder{}
	for _, s := range secrets {
		for _, spelling := range spellings(s) {
			f.add(spelling)
		}
	}
	for _, list := range append(f.buckets, f.short) {
		slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return f
}

func (f *Finder) add(spelling string) {
	if len(spelling) < 3 {
		f.short = append(f.short, spelling)
		return
	}
	at := &f.begins[beginning(spelling)]
	if *at == 0 {
		f.buckets = append(f.buckets, nil)
		*at = uint16(len(f.buckets))
	}
	f.buckets[*at-1] = append(f.buckets[*at-1], spelling)
}

// beginning stands for the first three bytes of a text.
func beginning[T string | []byte](text T) uint32 {
	return (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16) * 0x9E3779B1 >> 20
}

// Empty tells whether there is nothing to find.
func (f *Finder) Empty() bool { return len(f.buckets) == 0 && len(f.short) == 0 }

// Redact puts the mark where secrets stand, and counts them; nil when there are none.
func (f *Finder) Redact(text []byte, mark string) (out []byte, n int) {
	done := 0
	for {
		from, to := f.Next(text, done)
		if to == 0 {
			break
		}
		out = append(append(out, text[done:from]...), mark...)
		done = to
		n++
	}
	if n == 0 {
		return nil, 0
	}
	return append(out, text[done:]...), n
}

// Next is where the first secret from i on stands; to is 0 when there is none.
func (f *Finder) Next(text []byte, i int) (from, to int) {
	if f.Empty() {
		return 0, 0
	}
	for ; i < len(text); i++ {
		if size := f.at(text[i:]); size > 0 {
			return i, i + size
		}
	}
	return 0, 0
}

// at is the length of the secret that a text begins with; 0 when it begins with none.
func (f *Finder) at(text []byte) int {
	if len(text) >= 3 {
		if bucket := f.begins[beginning(text)]; bucket > 0 {
			if n := longest(f.buckets[bucket-1], text); n > 0 {
				return n
			}
		}
	}
	return longest(f.short, text)
}

func longest(spellings []string, text []byte) int {
	for _, s := range spellings {
		if len(s) <= len(text) && string(text[:len(s)]) == s {
			return len(s)
		}
	}
	return 0
}

// spellings are the ways in which programs give a secret back, each once.
func spellings(secret string) (all []string) {
	add := func(s string) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	add(secret)
	add(url.QueryEscape(secret))
	add(url.PathEscape(secret))
	if read, err := url.QueryUnescape(secret); err == nil && len(read) > len(secret)/2 {
		add(read) // as a server reads it from a URL
	}
	written := rawjson.AppendString(nil, secret)
	add(string(written[1 : len(written)-1]))
	escaped, _ := json.Marshal(secret) // a string always can; some writers escape what HTML would read
	add(string(escaped[1 : len(escaped)-1]))
	for before := range 3 {
		for _, in := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if core := encoded(in, secret, before); len(core) >= leastEncoded {
				add(core)
			}
		}
	}
	return all
}

// leastEncoded keeps chance from striking out a piece of an image.
const leastEncoded = 10

// encoded is what a secret always looks like in base64 when so many bytes stand before it in
// its group of three: without the letters that depend on its neighbours.
func encoded(in *base64.Encoding, secret string, before int) string {
	text := in.EncodeToString(append(make([]byte, before), secret...))
	from := []int{0, 2, 3}[before]
	to := len(text)
	if (before+len(secret))%3 != 0 {
		to-- // its last bits are those of what follows
	}
	return text[from:max(from, to)]
}
