package openapi

import (
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

const upperHex = "0123456789ABCDEF"

// percent percent-encodes everything but letters, digits and the characters in keep.
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

// unreserved are the characters without a special meaning in URLs.
const unreserved = "-._~"

// escape encodes a value for a URL. With reserved, URL delimiters are kept, except those that
// separate query pairs.
func escape(s string, reserved bool) string {
	if reserved {
		return percent(s, unreserved+":/?[]@!$'()*,;")
	}
	return percent(s, unreserved)
}

// escapeCookie encodes a value for a cookie. Not all servers decode it, so only invalid
// characters are encoded.
func escapeCookie(s string) string {
	return percent(s, unreserved+"!#$&'()*+/:<=>?@[]^`{|}")
}

// escapePath encodes the fixed part of a path, which may be partly encoded already.
func escapePath(s string) string {
	u := url.URL{Path: s}
	if decoded, err := url.PathUnescape(s); err == nil {
		u.Path = decoded
		u.RawPath = s
	}
	return strings.TrimPrefix(u.EscapedPath(), "./")
}

// hasDots reports whether a path has a segment "." or "..".
func hasDots(path string) bool {
	parts := strings.FieldsFunc(jsonschema.Unescape(path), func(r rune) bool { return r == '/' || r == '\\' })
	for _, part := range parts {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}
