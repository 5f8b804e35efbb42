package openapi

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeText gives a body as UTF-8, with a note where something was lost. What is written
// in a charset that is not supported is no text for us.
func decodeText(body []byte, charset string) (text, note string, ok bool) {
	charset = strings.ToLower(charset)
	switch {
	case len(body) >= 2 && body[0] == 0xfe && body[1] == 0xff:
		return fromUTF16(body[2:], binary.BigEndian), "", true
	case len(body) >= 2 && body[0] == 0xff && body[1] == 0xfe:
		return fromUTF16(body[2:], binary.LittleEndian), "", true
	}
	switch charset {
	case "utf-16le":
		return fromUTF16(body, binary.LittleEndian), "", true
	case "utf-16", "utf-16be", "ucs-2":
		return fromUTF16(body, binary.BigEndian), "", true
	case "iso-8859-1", "latin1", "iso8859-1", "iso_8859-1", "windows-1252", "cp1252":
		return fromLatin1(body), "", true
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

// notUTF8 is the note for text that says it is UTF-8 and is not.
const notUTF8 = "some bytes were not UTF-8 and have been replaced"

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func fromUTF16(body []byte, order binary.ByteOrder) string {
	units := make([]uint16, 0, len(body)/2)
	for ; len(body) >= 2; body = body[2:] {
		units = append(units, order.Uint16(body))
	}
	return string(utf16.Decode(units))
}

// windows is what Windows puts where Latin-1 has control characters. Everybody who says
// Latin-1 means it.
const windows = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

func fromLatin1(body []byte) string {
	table := []rune(windows)
	out := make([]rune, 0, len(body))
	for _, c := range body {
		if c >= 0x80 && c < 0xa0 {
			out = append(out, table[c-0x80])
		} else {
			out = append(out, rune(c))
		}
	}
	return string(out)
}
