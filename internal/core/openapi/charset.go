package openapi

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	charsets "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// decodeText returns a body as UTF-8, with a note if something was lost. A body in an
// unsupported charset is not text.
func decodeText(body []byte, charset string) (text, note string, ok bool) {
	charset = strings.ToLower(charset)
	var code charsets.Encoding
	switch {
	case bytes.HasPrefix(body, []byte("\xfe\xff")), bytes.HasPrefix(body, []byte("\xff\xfe")):
		code = unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)
	case charset == "utf-16le":
		code = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case slices.Contains([]string{"utf-16", "utf-16be", "ucs-2"}, charset):
		code = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case slices.Contains([]string{"iso-8859-1", "latin1", "iso8859-1", "iso_8859-1", "windows-1252", "cp1252"}, charset):
		code = charmap.Windows1252 // what Latin-1 means in practice
	}
	if code != nil {
		out, err := code.NewDecoder().Bytes(body)
		return string(out), "", err == nil
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

// notUTF8 is the note for text that is declared as UTF-8 but is not.
const notUTF8 = "some bytes were not UTF-8 and have been replaced"

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
