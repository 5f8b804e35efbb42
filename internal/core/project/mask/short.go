package mask

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendShort appends a JSON string cut to limit characters, and how many are missing: "0123…[+6]". It
// never splits a character or an escape. False: it is not longer, and nothing is appended.
func AppendShort(dst, literal []byte, limit int) ([]byte, bool) {
	inner := literal[1 : len(literal)-1]
	count := 0
	at := len(inner)
	for i := 0; i < len(inner); count++ {
		if count == limit {
			at = i
		}
		i += charLength(inner[i:])
	}
	if count <= limit {
		return dst, false
	}
	dst = append(append(dst, '"'), inner[:at]...)
	dst = append(dst, "…[+"...)
	dst = strconv.AppendInt(dst, int64(count-limit), 10)
	return append(dst, `]"`...), true
}

// charLength is how many bytes of a valid literal its first character takes.
func charLength(b []byte) int {
	if b[0] < utf8.RuneSelf && b[0] != '\\' {
		return 1
	}
	if b[0] != '\\' {
		_, n := utf8.DecodeRune(b)
		return n
	}
	if b[1] != 'u' {
		return 2
	}
	if isSurrogate(b, "89abAB") && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' && isSurrogate(b[6:], "cdefCDEF") {
		return 12
	}
	return 6
}

// isSurrogate reports whether b starts with \ud and one of the third digits.
func isSurrogate(b []byte, third string) bool {
	return b[2]|0x20 == 'd' && strings.IndexByte(third, b[3]) >= 0
}
