package openapi

import (
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

const upperHex = "0123456789ABCDEF"

// percent writes s with everything percent-encoded but letters, digits and what keep takes.
func percent(s string, keep string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(upperHex[c>>4])
		b.WriteByte(upperHex[c&15])
	}
	return b.String()
}

// unreserved are the marks that mean nothing in any part of a URL.
const unreserved = "-._~"

// escape writes a value for a URL. Reserved ones may keep what divides URLs, but never what
// divides a query into its pairs.
func escape(s string, reserved bool) string {
	if reserved {
		return percent(s, unreserved+":/?[]@!$'()*,;")
	}
	return percent(s, unreserved)
}

// escapeCookie writes a value for a cookie. Servers differ in whether they decode it, so
// only what cannot stand there is encoded.
func escapeCookie(s string) string {
	return percent(s, unreserved+"!#$&'()*+/:<=>?@[]^`{|}")
}

// escapePath writes the fixed part of a path, in which some is encoded already.
func escapePath(s string) string {
	u := url.URL{Path: s}
	if decoded, err := url.PathUnescape(s); err == nil {
		u.Path = decoded
		u.RawPath = s
	}
	return strings.TrimPrefix(u.EscapedPath(), "./")
}

// hasDots reports whether some part of a path leads elsewhere: to itself or one up.
func hasDots(path string) bool {
	parts := strings.FieldsFunc(jsonschema.Unescape(path), func(r rune) bool { return r == '/' || r == '\\' })
	for _, part := range parts {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}
