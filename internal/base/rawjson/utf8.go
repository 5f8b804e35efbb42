package rawjson

import (
	"bytes"
	"unicode/utf8"
)

// ToValidUTF8 is data with U+FFFD in place of each run of bytes that are not UTF-8, and how
// many bytes these were. Valid data is returned as it is. It leaves JSON the JSON it was:
// no byte of its syntax is ever replaced.
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
