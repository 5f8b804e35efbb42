// Package quoted reads and writes the text in JSON strings, and finds the JSON in texts:
// results often carry a JSON document as text. It keeps what JSON can say and UTF-8 cannot,
// half of a surrogate pair. It never checks: what it is given has been scanned before.
//
//	text := quoted.AppendText(nil, literal)
//	if start, end, ok := quoted.JSON(text); ok { … text[start:end] … }
//	literal = quoted.Append(nil, text)
package quoted

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

const hexDigits = "0123456789abcdef"

// plain marks the bytes that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 256; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// AppendText appends the text of a valid JSON string. Half a surrogate pair becomes three bytes, which
// Append can write back.
func AppendText(dst, literal []byte) []byte {
	dst, _ = ReadText(dst, literal)
	return dst
}

// ReadText is AppendText for a string that data starts with, which it checks, and returns its end; 0:
// it is invalid.
func ReadText(dst, data []byte) (text []byte, end int) {
	if len(data) == 0 || data[0] != '"' {
		return dst, 0
	}
	dst = slices.Grow(dst, len(data))
	n := len(dst)
	out := dst[:n+len(data)]
	for i := 1; i < len(data); {
		c := data[i]
		if plain[c] {
			out[n] = c
			i = i + 1
			n = n + 1
			continue
		}
		if c == '"' {
			return out[:n], i + 1
		}
		if c != '\\' || i+1 >= len(data) {
			break
		}
		c = escaped[data[i+1]]
		if c != 0 {
			out[n] = c
			i = i + 2
			n = n + 1
			continue
		}
		if rawjson.EscapeLength(data[i:]) == 0 {
			break
		}
		size := 0
		n, size = appendUnicode(out[:n], data[i:])
		i += size
	}
	return out[:n], 0
}

// escaped is what a sign after a backslash stands for.
var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendUnicode appends the character of a \u escape, and returns the lengths of the text and of the
// escape.
func appendUnicode(dst, in []byte) (length, size int) {
	r := hexRune(in[2:6])
	if r&^0x3FF == 0xD800 && len(in) >= 12 && in[6] == '\\' && in[7] == 'u' && rawjson.EscapeLength(in[6:]) > 0 {
		if low := hexRune(in[8:12]); low&^0x3FF == 0xDC00 {
			return len(utf8.AppendRune(dst, 0x10000+(r&0x3FF)<<10+low&0x3FF)), 12
		}
	}
	if r&^0x7FF == 0xD800 {
		return len(append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)), 6
	}
	return len(utf8.AppendRune(dst, r)), 6
}

func hexRune(digits []byte) (r rune) {
	for _, d := range digits {
		switch {
		case d <= '9':
			r = r<<4 + rune(d-'0')
		default:
			r = r<<4 + rune(d|0x20-'a') + 10
		}
	}
	return r
}

// Append appends a text, given in pieces, as a JSON string. Bytes that are not UTF-8 stay as they are.
func Append(dst []byte, pieces ...[]byte) []byte {
	dst = append(dst, '"')
	for _, text := range pieces {
		dst = AppendInside(dst, text)
	}
	return append(dst, '"')
}

// AppendInside appends a text as it is written inside a JSON string.
func AppendInside(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && plain[text[i]] && text[i] != 0xED {
			i++
		}
		dst = append(dst, text[start:i]...)
		if i == len(text) {
			break
		}
		switch c := text[i]; {
		case IsHalf(text[i:]):
			dst = append(dst, '\\', 'u', 'd', hexDigits[text[i+1]>>2&15], hexDigits[text[i+1]&3<<2|text[i+2]>>4&3], hexDigits[text[i+2]&15])
			i += 2
		case c == 0xED:
			dst = append(dst, c)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
	}
	return dst
}

// IsHalf reports whether a text starts with half of a surrogate pair, as AppendText writes it.
func IsHalf(text []byte) bool {
	return len(text) > 2 && text[0] == 0xED && text[1]&^0x1F == 0xA0 && text[2]&^0x3F == 0x80
}

var fence = []byte("```")

// JSON finds the JSON document that is the whole text, or in one ```json fence, judging by its ends
// alone.
func JSON(text []byte) (start, end int, ok bool) {
	start, end = Trim(text, 0, len(text))
	if body := text[start:end]; bytes.HasPrefix(body, fence) && bytes.HasSuffix(body, fence) && len(body) > 2*len(fence) {
		line := bytes.IndexByte(body, '\n')
		if line < 0 || string(bytes.TrimSpace(body[len(fence):line])) != "json" {
			return 0, 0, false
		}
		start, end = Trim(text, start+line, end-len(fence))
	}
	if start >= end {
		return 0, 0, false
	}
	first := text[start]
	last := text[end-1]
	return start, end, first == '{' && last == '}' || first == '[' && last == ']'
}

// Opens reports whether data starts with a string whose text begins as a JSON document does.
func Opens(data []byte) bool {
	if len(data) == 0 || data[0] != '"' {
		return false
	}
	for i := 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '{' || c == '[':
			return true
		case c == '\\' && i+1 < len(data) && (data[i+1] == 'n' || data[i+1] == 'r' || data[i+1] == 't'):
			i++
		case c != ' ':
			return false
		}
	}
	return false
}

// Trim is the part of text from start to end without its outer white space.
func Trim(text []byte, start, end int) (int, int) {
	for start < end && isSpace(text[start]) {
		start++
	}
	for end > start && isSpace(text[end-1]) {
		end--
	}
	return start, end
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }
