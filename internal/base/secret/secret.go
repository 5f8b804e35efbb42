// Package secret finds known secrets in text, however programs write them: as they are, in a
// URL, in JSON, code and HTML, and in the base64 of a header. It does not guess: what only looks like a
// secret passes.
//
//	f := secret.NewFinder([]string{"hunter2hunter2"})
//	out, n := f.Redact([]byte("password=hunter2hunter2"), "***") // password=***, 1
package secret

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// Finder finds secrets, however many they are, in one pass over a text. It may be shared.
type Finder struct {
	begins  [1 << 12]uint16 // 1 + the bucket of those that begin so; 0: none do
	buckets [][]entry
	short   []entry // that may be shorter than three bytes
}

// NewFinder makes a Finder. What has no characters, or white space alone, is no secret.
func NewFinder(secrets []string) *Finder {
	f := &Finder{}
	for _, s := range secrets {
		if strings.TrimSpace(s) == "" {
			continue
		}
		for _, spelling := range spellings(s) {
			f.add(newPattern(spelling))
		}
	}
	return f
}

// entry is a secret that may begin with the lead.
type entry struct {
	lead string
	pattern
}

func (f *Finder) add(p pattern) {
	known := map[string]bool{}
	p.beginnings("", func(lead string) {
		if known[lead] {
			return
		}
		known[lead] = true
		e := entry{p.lead(lead), p}
		if len(lead) < 3 {
			f.short = append(f.short, e)
			return
		}
		at := &f.begins[beginning(lead)]
		if *at == 0 {
			f.buckets = append(f.buckets, nil)
			*at = uint16(len(f.buckets))
		}
		f.buckets[*at-1] = append(f.buckets[*at-1], e)
	})
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

// Next is where the first secret from i on stands, with those that begin in it; to is 0 when
// there is none.
func (f *Finder) Next(text []byte, i int) (from, to int) {
	for i = f.next(text, i); i < len(text); i = f.next(text, i+1) {
		size := f.at(text[i:])
		if size == 0 {
			continue
		}
		from, to = i, i+size
		for i++; i < to; i++ {
			to = max(to, i+f.at(text[i:]))
		}
		return from, to
	}
	return 0, 0
}

// next is where in a text the next secret may begin, from a place on.
func (f *Finder) next(text []byte, i int) int {
	if len(f.short) > 0 {
		return i
	}
	for ; i+3 <= len(text); i++ {
		if f.begins[beginning(text[i:i+3])] > 0 {
			return i
		}
	}
	return len(text)
}

// at is the length of the secret that a text begins with; 0 when it begins with none.
func (f *Finder) at(text []byte) (n int) {
	if len(text) >= 3 {
		if bucket := f.begins[beginning(text)]; bucket > 0 {
			n = longest(f.buckets[bucket-1], text)
		}
	}
	return max(n, longest(f.short, text))
}

func longest(entries []entry, text []byte) (n int) {
	for i := range entries {
		lead := entries[i].lead
		if len(lead) <= len(text) && string(text[:len(lead)]) == lead {
			n = max(n, entries[i].match(text))
		}
	}
	return n
}

// spellings are the secret and what it is read or encoded as, each once.
func spellings(secret string) (all []string) {
	add := func(s string) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	add(secret)
	if read, err := url.QueryUnescape(secret); err == nil && len(read) > len(secret)/2 {
		add(read) // as a server reads it from a URL
	}
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
// its group of three: without the letters that depend on its neighbors.
func encoded(in *base64.Encoding, secret string, before int) string {
	text := in.EncodeToString(append(make([]byte, before), secret...))
	from := []int{0, 2, 3}[before]
	to := len(text)
	if (before+len(secret))%3 != 0 {
		to-- // its last bits are those of what follows
	}
	return text[from:max(from, to)]
}
