package clean

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/project/quoted"
)

// known finds the secrets that are known, however many they are, in one pass over a text.
type known struct {
	secrets [][]byte // in each spelling, the longest first
	begins  [1 << 12]bool
}

func newKnown(secrets []string) *known {
	k := &known{}
	for _, s := range secrets {
		if len(s) >= leastSecret {
			k.secrets = append(k.secrets, spellings(s)...)
		}
	}
	slices.SortFunc(k.secrets, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range k.secrets {
		k.begins[beginning(s)] = true
	}
	return k
}

// beginning stands for the first three bytes of a text.
func beginning(text []byte) uint32 {
	return (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16) * 0x9E3779B1 >> 20
}

// redact strikes the secrets out; nil when there are none.
func (k *known) redact(text []byte, count *Count) []byte {
	if len(k.secrets) == 0 {
		return nil
	}
	var out []byte
	done := 0
	for i := 0; i+leastSecret <= len(text); {
		if !k.begins[beginning(text[i:])] {
			i++
			continue
		}
		at := slices.IndexFunc(k.secrets, func(s []byte) bool { return bytes.HasPrefix(text[i:], s) })
		if at < 0 {
			i++
			continue
		}
		out = append(append(out, text[done:i]...), redacted...)
		i += len(k.secrets[at])
		done = i
		count.Secrets++
	}
	if done == 0 {
		return nil
	}
	return append(out, text[done:]...)
}

// spellings are the ways in which servers give a secret back: as it is, in a URL, as JSON
// writes it, and in base64, as the header of a request has it.
func spellings(secret string) (all [][]byte) {
	add := func(b []byte) {
		if len(b) >= leastSecret && !slices.ContainsFunc(all, func(a []byte) bool { return bytes.Equal(a, b) }) {
			all = append(all, b)
		}
	}
	add([]byte(secret))
	add([]byte(url.QueryEscape(secret)))
	add([]byte(url.PathEscape(secret)))
	add(quoted.AppendInside(nil, []byte(secret)))
	escaped, _ := json.Marshal(secret) // a string; some writers of JSON escape what HTML would read
	add(escaped[1 : len(escaped)-1])
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
func encoded(in *base64.Encoding, secret string, before int) []byte {
	text := in.AppendEncode(nil, append(make([]byte, before), secret...))
	from := []int{0, 2, 3}[before]
	to := len(text)
	if (before+len(secret))%3 != 0 {
		to-- // its last bits are those of what follows
	}
	return text[from:max(from, to)]
}
