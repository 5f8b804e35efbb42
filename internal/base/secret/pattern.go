package secret

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern matches a secret. Each character may be plain or escaped as in JSON, code, HTML and
// URLs. A run of white space matches any other run, and is one character here.
type pattern string

type char struct {
	r     rune
	plain string // not escaped
	space bool   // a run of white space
	vague bool   // can match in several ways
}

// enough is how many characters of a secret are secret themselves, such as half a certificate.
const enough = 128

func newPattern(secret string) pattern {
	kept := make([]byte, 0, len(secret))
	after := false // white space
	for i := 0; i < len(secret); {
		r, size := utf8.DecodeRuneInString(secret[i:])
		space := unicode.IsSpace(r)
		if !space || !after {
			kept = append(kept, secret[i:i+size]...)
		}
		after = space
		i += size
	}
	return pattern(kept)
}

// first is the first character of a pattern that is not empty.
func (p pattern) first() char {
	r, size := utf8.DecodeRuneInString(string(p))
	space := unicode.IsSpace(r)
	return char{r, string(p[:size]), space, space || r == utf8.RuneError || escapes[p[0]]}
}

// match returns how many bytes at the beginning of a text are the secret, or 0.
func (p pattern) match(text []byte) int {
	end := 0
	for i := 0; p != ""; i++ {
		c := p.first()
		switch {
		case end == len(text):
			return half(i, end)
		case c.vague || escapes[text[end]]:
			return p.matchAny(i, text, end)
		case text[end] != c.plain[0] || !bytes.HasPrefix(text[end:], []byte(c.plain)):
			return half(i, end)
		}
		end += len(c.plain)
		p = p[len(c.plain):]
	}
	return end
}

// escapes are what escaped forms begin with.
var escapes = [256]bool{'%': true, '&': true, '\\': true}

// half returns the length of a partial match that ends before the i-th character, or 0.
func half(i, end int) int {
	if i < enough {
		return 0
	}
	return end
}

// matchAny continues a match at the i-th character, where the text can match in several ways.
func (p pattern) matchAny(i int, text []byte, end int) int {
	ends := []int{end} // possible ends of the characters so far
	for ; p != ""; i++ {
		c := p.first()
		var next []int
		for _, end := range ends {
			next = c.appendEnds(next, text, end)
		}
		if len(next) == 0 {
			return half(i, ends[len(ends)-1])
		}
		ends = next
		p = p[len(c.plain):]
	}
	return ends[len(ends)-1]
}

// appendEnds adds the possible ends of a character that begins at from, in order and each once.
func (c char) appendEnds(ends []int, text []byte, from int) []int {
	add := func(end int) {
		if len(ends) == 0 || end > ends[len(ends)-1] {
			ends = append(ends, end)
		}
	}
	if c.space {
		for size := spaceSize(text[from:]); size > 0; size = spaceSize(text[from:]) {
			from += size
			add(from)
		}
		return ends
	}
	if bytes.HasPrefix(text[from:], []byte(c.plain)) {
		add(from + len(c.plain))
	} else if replaced := string(c.r); bytes.HasPrefix(text[from:], []byte(replaced)) { // was not UTF-8
		add(from + len(replaced))
	}
	if from+1 < len(text) && !c.isPlain() {
		c.escaped(text[from:], func(size int) { add(from + size) })
	}
	return ends
}

// isPlain reports whether the character is never escaped.
func (c char) isPlain() bool {
	return c.r < utf8.RuneSelf && (unicode.IsLetter(c.r) || unicode.IsDigit(c.r))
}

// escaped reports the sizes of escaped forms at the beginning of a text, the shortest first.
func (c char) escaped(text []byte, found func(size int)) {
	switch text[0] {
	case '%':
		form := percents(c.plain)
		if len(text) >= len(form) && strings.EqualFold(string(text[:len(form)]), form) {
			found(len(form))
		}
	case '&':
		for _, name := range entities[c.r] {
			if bytes.HasPrefix(text[1:], []byte(name)) {
				found(1 + len(name))
			}
		}
	case '\\':
		signs := len(text) - len(bytes.TrimLeft(text, `\`))
		if c.r == '\\' {
			for size := 2; size <= signs; size++ {
				found(size)
			}
		}
		after := text[signs:]
		switch {
		case len(after) > 0 && (c.r < utf8.RuneSelf && rune(after[0]) == c.r || c.r == '\b' && after[0] == 'b'):
			found(signs + 1)
		case len(after) >= 5 && after[0] == 'u' && c.r < 0x10000 && strings.EqualFold(string(after[1:5]), hex4(c.r)):
			found(signs + 5)
		}
	}
}

// entities are how HTML escapes characters.
var entities = map[rune][]string{
	'&': {"amp;", "#38;"}, '<': {"lt;", "#60;"}, '>': {"gt;", "#62;"}, '"': {"quot;", "#34;"}, '\'': {"apos;", "#39;", "#x27;"},
}

const digits = "0123456789abcdef"

func percents(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.Write([]byte{'%', digits[s[i]>>4], digits[s[i]&15]})
	}
	return b.String()
}

func hex4(r rune) string {
	return string([]byte{digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
}

// spaceSize returns the length of one white space at the beginning of a text, plain or escaped;
// 0 for none.
func spaceSize(text []byte) int {
	r, size := utf8.DecodeRune(text)
	switch {
	case unicode.IsSpace(r), r == '+':
		return size
	case r == '%':
		for _, size := range []int{3, 6, 9} {
			if read, err := url.PathUnescape(string(text[:min(size, len(text))])); err == nil && strings.TrimSpace(read) == "" {
				return size
			}
		}
	case r == '&' && bytes.HasPrefix(text, []byte("&nbsp;")):
		return len("&nbsp;")
	case r == '\\':
		after := bytes.TrimLeft(text, `\`)
		signs := len(text) - len(after)
		if len(after) > 0 && strings.IndexByte("nrtfv", after[0]) >= 0 {
			return signs + 1
		}
		if len(after) >= 5 && after[0] == 'u' {
			n, err := strconv.ParseUint(string(after[1:5]), 16, 16)
			if err == nil && unicode.IsSpace(rune(n)) {
				return signs + 5
			}
		}
	}
	return 0
}

// beginnings reports the first three bytes of all that the pattern matches, some repeatedly; fewer
// where it is shorter, or has white space there.
func (p pattern) beginnings(before string, found func(string)) {
	if len(before) >= 3 || p == "" || p.first().space {
		found(before[:min(3, len(before))])
		return
	}
	c := p.first()
	for _, form := range c.forms() {
		p[len(c.plain):].beginnings(before+form, found)
	}
}

// lead extends an unescaped beginning of the secret by the characters that are never escaped.
func (p pattern) lead(begin string) string {
	for rest := begin; rest != ""; {
		if p == "" {
			return begin
		}
		c := p.first()
		after, found := strings.CutPrefix(rest, c.plain)
		if !found || c.vague {
			return begin
		}
		rest = after
		p = p[len(c.plain):]
	}
	end := 0
	for end < len(p) && p[end:].first().isPlain() {
		end++
	}
	return begin + string(p[:end])
}

// forms returns the ways to write a character, at least their beginnings.
func (c char) forms() (list []string) {
	backslashes := func(after ...string) {
		for _, s := range after {
			list = append(list, `\`+s, `\\`+s)
		}
		list = append(list, `\\\`)
	}
	if c.isPlain() {
		return []string{c.plain}
	}
	escape := percents(c.plain)
	mixed := escape[:1] + strings.ToUpper(escape[1:2])
	list = append(list, c.plain, string(c.r), escape, strings.ToUpper(escape), mixed+escape[2:], escape[:2]+strings.ToUpper(escape[2:]))
	for _, name := range entities[c.r] {
		list = append(list, "&"+name)
	}
	backslashes("u" + hex4(c.r))
	if c.r < utf8.RuneSelf {
		backslashes(c.plain, "b")
	}
	return list
}
