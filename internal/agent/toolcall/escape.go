package toolcall

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marks are the bytes at which a call, a thought or a result may begin.
const marks = "<`"

// unmarked replaces marks with JSON escapes.
var unmarked = strings.NewReplacer("<", `\u003c`, "`", `\u0060`)

// Escape writes JSON so that a model that repeats any part of it calls nothing.
func Escape(json []byte) string { return unmarked.Replace(string(json)) }

// Plain is a text without blanks and with the escapes of JSON and HTML undone, however often
// they were done. A text and its quotation have the same plain form, whether the model copied
// the escapes, undid them, or broke the lines differently.
//
//	strings.Contains(toolcall.Plain(result), toolcall.Plain(call.Raw))
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\\' || r > 0xffff || r == utf8.RuneError || unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1 // beyond 0xffff escapes are in two halves
		}
		return r
	}, html.UnescapeString(unescaped(text)))
}

// unescaped undoes JSON escapes and drops those of blanks.
func unescaped(text string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '\\')
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at])
		text = strings.TrimLeft(text[at:], `\`)
		switch {
		case text != "" && strings.IndexByte("bfnrt", text[0]) >= 0:
			text = text[1:]
		case len(text) > 4 && text[0] == 'u':
			if code, err := strconv.ParseUint(text[1:5], 16, 16); err == nil {
				out.WriteRune(rune(code))
				text = text[5:]
			}
		}
	}
}
