package jsonschema

import (
	"net/url"
	"strconv"
	"strings"
)

// Pointer joins the tokens of a JSON pointer.
func Pointer(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(EscapeToken(token))
	}
	return b.String()
}

// Names returns the unescaped tokens of a pointer such as "/a~1b/0".
func Names(pointer string) []string {
	if pointer == "" {
		return nil
	}
	names := strings.Split(pointer[1:], "/")
	for i, token := range names {
		names[i] = UnescapeToken(token)
	}
	return names
}

// Position returns the array index of a token: digits without leading zeros.
func Position(token string) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == token
}

// EscapeToken escapes a name for a JSON pointer.
func EscapeToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// UnescapeToken returns the name of a JSON pointer token.
func UnescapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Unescape decodes percent-encoding, or returns malformed text as it is.
func Unescape(text string) string {
	out, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return out
}

// Readings returns the names that a fragment such as "/$defs/a~1b" may mean: by the standard,
// and with %2F for a slash in a name.
func Readings(fragment string) [][]string {
	readings := [][]string{Names(Unescape(fragment))}
	if strings.Contains(fragment, "%") {
		names := strings.Split(fragment[1:], "/")
		for i, token := range names {
			names[i] = UnescapeToken(Unescape(token))
		}
		readings = append(readings, names)
	}
	return readings
}

// LastToken returns the name of a reference's target.
func LastToken(ref string) string {
	ref = Unescape(ref)
	return UnescapeToken(ref[strings.LastIndexAny(ref, "/#")+1:])
}
