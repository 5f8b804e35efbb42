// Package secret finds known secrets in text in any encoding: plain, in a URL, JSON, code or HTML,
// or in base64. It does not guess: what only looks like a secret is not found.
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

// Finder finds any number of secrets in one pass. It may be used concurrently.
type Finder struct {
	begins  [1 << 12]uint16 // by a hash of the first three bytes: 1 + the bucket; 0: none
	buckets [][]entry
	short   []entry // those that may be shorter than three bytes
}

// NewFinder makes a Finder. Blank secrets are ignored.
func NewFinder(secrets []string) *Finder { return (&Finder{}).With(secrets) }

// With makes a Finder that finds more, too. It costs little however many are known.
func (f *Finder) With(secrets []string) *Finder {
	both := &Finder{begins: f.begins, buckets: slices.Clone(f.buckets), short: slices.Clip(f.short)}
	for i := range both.buckets {
		both.buckets[i] = slices.Clip(both.buckets[i]) // what is added goes into a copy
	}
	for _, s := range secrets {
		if strings.TrimSpace(s) == "" {
			continue
		}
		for _, spelling := range spellings(s) {
			both.add(newPattern(spelling))
		}
	}
	return both
}

// entry is a secret in a form that begins with the lead.
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

// beginning hashes the first three bytes of a text.
func beginning[T string | []byte](text T) uint32 {
	return (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16) * 0x9E3779B1 >> 20
}

// Empty reports whether there is nothing to find.
func (f *Finder) Empty() bool { return len(f.buckets) == 0 && len(f.short) == 0 }

// Redact replaces secrets by the mark and counts them; nil when there are none.
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

// Next returns the range of the first secret from i on, with those that overlap it; to is 0 when
// there is none.
func (f *Finder) Next(text []byte, i int) (from, to int) {
	for i = f.next(text, i); i < len(text); i = f.next(text, i+1) {
		size := f.at(text[i:])
		if size == 0 {
			continue
		}
		from = i
		to = i + size
		for i++; i < to; i++ {
			to = max(to, i+f.at(text[i:]))
		}
		return from, to
	}
	return 0, 0
}

// next returns where the next secret may begin.
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

// at returns the length of the secret at the beginning of a text, or 0.
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

// spellings returns the secret and its decoded and encoded forms.
func spellings(secret string) (all []string) {
	add := func(s string) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	add(secret)
	if read, err := url.QueryUnescape(secret); err == nil && len(read) > len(secret)/2 {
		add(read) // as a server decodes it from a URL
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

// leastEncoded avoids accidental matches in images.
const leastEncoded = 10

// encoded returns the base64 of a secret after so many bytes of its group of three, without the
// letters that depend on its neighbors.
func encoded(in *base64.Encoding, secret string, before int) string {
	text := in.EncodeToString(append(make([]byte, before), secret...))
	from := []int{0, 2, 3}[before]
	to := len(text)
	if (before+len(secret))%3 != 0 {
		to-- // it depends on what follows
	}
	return text[from:max(from, to)]
}
