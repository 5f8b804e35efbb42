package rawjson

import "unicode/utf8"

// Edit replaces the bytes from Start to End by New.
type Edit struct {
	Start, End int
	New        []byte
}

// AppendSplice appends data to dst with the edits made. Edits are in order and do not overlap.
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

// OneLine returns data without line breaks, for transports that end a message at one.
// In JSON a raw line break is always insignificant, so a blank takes its place.
func OneLine(data []byte) []byte {
	for i, c := range data {
		if c == '\n' || c == '\r' {
			out := append([]byte(nil), data...)
			for ; i < len(out); i++ {
				if out[i] == '\n' || out[i] == '\r' {
					out[i] = ' '
				}
			}
			return out
		}
	}
	return data
}
