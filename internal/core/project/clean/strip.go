package clean

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// suspect marks the bytes at which strip must look closer.
var suspect = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = c != '\t' && c != '\n' && c != '\r'
	}
	t['<'] = true
	t[0x7f] = true
	for c := 0x80; c < 0x100; c++ {
		t[c] = c >= 0xC2 && !(c >= 0xE3 && c <= 0xED) // most letters of most languages are not
	}
	return t
}()

// blackFlag is what the flags of regions begin with.
const blackFlag = 0x1F3F4

// strip removes what a reader would not see.
func strip(w *rewrite, count *Count) {
	text := w.text
	open := false
	var last rune // kept before
	for i := 0; i < len(text); {
		if !suspect[text[i]] {
			last = rune(text[i])
			i++
			continue
		}
		if !open && bytes.HasPrefix(text[i:], comment) {
			if n := commentLength(text[i:]); n > 0 {
				w.comment(i, i+n)
				count.Comments++
				i += n
				continue
			}
			open = true // no later comment ends either, and searching again would be slow
		}
		if last == blackFlag {
			i += regionLength(text[i:])
			last = 0
			continue
		}
		if n := hiddenLength(text[i:], last); n > 0 {
			w.replace(i, i+n, "")
			count.Characters++
			i += n
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		last = r
		i += n
	}
}

// comment is how one begins.
var comment = []byte("<!--")

// commentLength is the length of the HTML comment at the start of text, as a browser sees it; 0: it
// does not end.
func commentLength(text []byte) int {
	for _, empty := range []string{"<!-->", "<!--->"} {
		if bytes.HasPrefix(text, []byte(empty)) {
			return len(empty)
		}
	}
	for n := len(comment); ; {
		at := bytes.Index(text[n:], []byte("--"))
		if at < 0 {
			return 0
		}
		n += at
		for _, end := range []string{"-->", "--!>"} {
			if bytes.HasPrefix(text[n:], []byte(end)) {
				return n + len(end)
			}
		}
		n++
	}
}

// regionLength is the length of the tag sequence that makes a black flag the flag of a region; 0: it
// is none.
func regionLength(text []byte) int {
	const most = 6 // letters: two of the country, up to four of the region
	n := 0
	for range most + 1 {
		r, size := utf8.DecodeRune(text[n:])
		n += size
		switch {
		case r == 0xE007F:
			return n
		case r >= 0xE0030 && r <= 0xE0039, r >= 0xE0061 && r <= 0xE007A:
		default:
			return 0
		}
	}
	return 0
}

// hiddenLength is how many invisible bytes text starts with: a control or format character, or a
// terminal sequence.
func hiddenLength(text []byte, last rune) int {
	r, n := utf8.DecodeRune(text)
	switch {
	case r == 0x1b:
		return terminalLength(text)
	case r == utf8.RuneError && n == 1:
		return 0 // invalid UTF-8 is left alone
	case r < 0x20 && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0:
		return n
	case isVariation(r):
		if isVariation(last) { // one may follow a character; several carry hidden bytes
			return n
		}
	case r >= 0xE0000 && r <= 0xE007F: // a tag
		return n
	case unicode.Is(unicode.Cf, r) && !isVisibleFormat(r):
		return n
	}
	return 0
}

func isVariation(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }

// isVisibleFormat tells which format characters are needed: joiners, soft hyphen, signs that enclose
// numbers.
func isVisibleFormat(r rune) bool {
	switch r {
	case 0x200C, 0x200D, 0xAD, 0x06DD, 0x070F, 0x08E2, 0x110BD, 0x110CD:
		return true
	}
	return r >= 0x0600 && r <= 0x0605 || r == 0x0890 || r == 0x0891
}

// terminalLength is how long the escape sequence at the start of text is.
func terminalLength(text []byte) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if text[i] >= 0x40 && text[i] <= 0x7e {
				return i + 1
			}
			if text[i] < 0x20 || text[i] > 0x7e {
				break
			}
		}
	case ']':
		for i := 2; i < len(text) && text[i] != '\n'; i++ {
			if text[i] == 0x07 {
				return i + 1
			}
			if text[i] == 0x1b { // which ends it here, or begins another
				if i+1 < len(text) && text[i+1] == '\\' {
					return i + 2
				}
				break
			}
		}
	}
	return 1
}
