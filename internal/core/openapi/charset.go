package openapi

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeText returns a body as UTF-8, with a note if something was lost. A body in an
// unsupported charset is not text.
func decodeText(body []byte, charset string) (text, note string, ok bool) {
	charset = strings.ToLower(charset)
	switch {
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return decodeUTF16(body[2:], binary.BigEndian), "", true
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return decodeUTF16(body[2:], binary.LittleEndian), "", true
	case charset == "utf-16le":
		return decodeUTF16(body, binary.LittleEndian), "", true
	case slices.Contains([]string{"utf-16", "utf-16be", "ucs-2"}, charset):
		return decodeUTF16(body, binary.BigEndian), "", true
	case slices.Contains([]string{"iso-8859-1", "latin1", "iso8859-1", "iso_8859-1", "windows-1252", "cp1252"}, charset):
		return decodeLatin(body), "", true
	}
	text = strings.TrimPrefix(string(body), "\ufeff")
	isUTF8 := charset == "utf-8" || charset == "utf8"
	switch {
	case utf8.ValidString(text) && (isUTF8 || charset == "" || isASCII(text)):
		return text, "", true
	case isUTF8:
		return strings.ToValidUTF8(text, "\uFFFD"), notUTF8, true
	case charset == "":
		return "", "the text names no charset and is not UTF-8", false
	}
	return "", "the charset " + strings.ToValidUTF8(charset, "?") + " is not supported", false
}

// decodeUTF16 puts U+FFFD in the place of what is not UTF-16, as of a byte that is left over.
func decodeUTF16(body []byte, order binary.ByteOrder) string {
	units := make([]uint16, 0, len(body)/2+1)
	for ; len(body) > 1; body = body[2:] {
		units = append(units, order.Uint16(body))
	}
	if len(body) > 0 {
		units = append(units, utf8.RuneError)
	}
	return string(utf16.Decode(units))
}

// latin is what the bytes from 0x80 to 0x9F mean in Windows-1252, which is what Latin-1 means in practice.
var latin = []rune("€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ")

func decodeLatin(body []byte) string {
	var b strings.Builder
	for _, c := range body {
		if 0x80 <= c && c < 0xA0 {
			b.WriteRune(latin[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}

// notUTF8 is the note for text that is declared as UTF-8 but is not.
const notUTF8 = "some bytes were not UTF-8 and have been replaced"

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
