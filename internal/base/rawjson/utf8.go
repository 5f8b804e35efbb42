package rawjson

import (
	"bytes"
	"unicode/utf8"
)

// ToValidUTF8 returns data with U+FFFD for each run of bytes that are not UTF-8, and how many
// bytes these were. No byte of JSON syntax is ever replaced.
func ToValidUTF8(data []byte) (valid []byte, wrong int) {
	if utf8.Valid(data) {
		return data, 0
	}
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			wrong++
		}
		rest = rest[size:]
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD")), wrong
}
