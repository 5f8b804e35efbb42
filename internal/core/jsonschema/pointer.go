package jsonschema

import (
	"net/url"
	"strings"
)

var tokenText = strings.NewReplacer("~1", "/", "~0", "~")

// Pointer joins the tokens of a JSON pointer.
func Pointer(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(EscapeToken(token))
	}
	return b.String()
}

// Names are the names that a pointer such as "/a~1b/0" leads along.
func Names(pointer string) []string {
	names := strings.Split(pointer[1:], "/")
	for i, token := range names {
		names[i] = UnescapeToken(token)
	}
	return names
}

// EscapeToken is a name as a token of a JSON pointer.
func EscapeToken(name string) string {
	if strings.IndexByte(name, '~') < 0 && strings.IndexByte(name, '/') < 0 {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// UnescapeToken is the name that a token of a JSON pointer stands for.
func UnescapeToken(token string) string {
	if strings.IndexByte(token, '~') < 0 {
		return token
	}
	return tokenText.Replace(token)
}

// Unescape takes the percent signs out of a URL's fragment.
func Unescape(fragment string) string {
	if strings.IndexByte(fragment, '%') < 0 {
		return fragment
	}
	out, err := url.PathUnescape(fragment)
	if err != nil {
		return fragment
	}
	return out
}

// Readings are the names that a fragment such as "/$defs/a~1b" leads along: as the
// standard reads it, and with %2F for a slash in a name.
func Readings(fragment string) [][]string {
	plain := Names(Unescape(fragment))
	if !strings.Contains(fragment, "%") {
		return [][]string{plain}
	}
	second := strings.Split(fragment[1:], "/")
	for i, token := range second {
		second[i] = UnescapeToken(Unescape(token))
	}
	return [][]string{plain, second}
}

// LastToken is the name by which people know a reference's target.
func LastToken(ref string) string {
	ref = Unescape(ref)
	return UnescapeToken(ref[strings.LastIndexAny(ref, "/#")+1:])
}
