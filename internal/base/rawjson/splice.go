package rawjson

import (
	"bytes"
	"unicode/utf8"
)

// Span is a part of a text: from Start up to End. The zero Span says that there is none.
type Span struct{ Start, End int }

// Edit replaces the bytes from Start to End by New.
type Edit struct {
	Start, End int
	New        []byte
}

// AppendSplice appends data to dst with the edits applied. They are in order and do not overlap.
func AppendSplice(dst, data []byte, edits ...Edit) []byte {
	pos := 0
	for _, e := range edits {
		dst = append(dst, data[pos:e.Start]...)
		dst = append(dst, e.New...)
		pos = e.End
	}
	return append(dst, data[pos:]...)
}

const hex = "0123456789abcdef"

// AppendString appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, '\\', 'n')
			case c < 0x20:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return append(dst, '"')
}

// OneLine returns data with spaces for line breaks, which are insignificant in JSON, for
// transports that end a message at one.
func OneLine(data []byte) []byte {
	if !bytes.ContainsAny(data, "\n\r") {
		return data
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(data, []byte{'\n'}, []byte{' '}), []byte{'\r'}, []byte{' '})
}
