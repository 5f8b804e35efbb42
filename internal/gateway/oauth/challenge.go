package oauth

import (
	"net/http"
	"strings"
)

// challenge is one way in that a server names in WWW-Authenticate.
type challenge struct {
	scheme string            // in lower case
	params map[string]string // by name in lower case
}

// bearer returns the challenges of a header that want OAuth tokens.
func bearer(header http.Header) (found []challenge) {
	for _, value := range header.Values("WWW-Authenticate") {
		for _, c := range parseChallenges(value) {
			if c.scheme == "bearer" {
				found = append(found, c)
			}
		}
	}
	return found
}

// WantsToken tells whether a refused request would have been served with an OAuth token.
func WantsToken(header http.Header) bool { return len(bearer(header)) > 0 }

// missing returns the scopes without which a server has refused a request.
func missing(header http.Header) []string {
	for _, c := range bearer(header) {
		if c.params["error"] == "insufficient_scope" {
			return scopesIn(c.params["scope"])
		}
	}
	return nil
}

// maxScopes limits how many scopes are asked for: all stand in the address of a page.
const maxScopes = 100

// scopesIn are the scopes in a text; none if they are too many or too long.
func scopesIn(text string) []string {
	all := strings.Fields(text)
	if len(all) > maxScopes || len(text) > maxAddress {
		return nil
	}
	return all
}

// parseChallenges reads one header (RFC 9110, section 11.6.1). What cannot be understood is skipped.
func parseChallenges(text string) (found []challenge) {
	for s := (scan{text}); s.skip(" \t,"); {
		word := s.token()
		if word == "" {
			s.rest = s.rest[1:]
			continue
		}
		blank := s.skip(" \t")
		if blank && len(found) > 0 && s.take('=') {
			s.skip(" \t")
			found[len(found)-1].params[strings.ToLower(word)] = s.value()
			continue
		}
		found = append(found, challenge{strings.ToLower(word), map[string]string{}})
	}
	return found
}

// scan reads a text from its beginning.
type scan struct{ rest string }

// skip drops the characters of a set, and reports whether anything is left.
func (s *scan) skip(set string) bool {
	s.rest = strings.TrimLeft(s.rest, set)
	return s.rest != ""
}

func (s *scan) take(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// token reads a word; "" if there is none.
func (s *scan) token() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool { return !isTokenChar(r) })
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	return word
}

func isTokenChar(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// value reads a word or a quoted text. Servers also send addresses without quotes.
func (s *scan) value() string {
	if !s.take('"') {
		end := strings.IndexAny(s.rest, " \t,")
		if end < 0 {
			end = len(s.rest)
		}
		word := s.rest[:end]
		s.rest = s.rest[end:]
		return word
	}
	var b strings.Builder
	for s.rest != "" {
		c := s.rest[0]
		s.rest = s.rest[1:]
		switch {
		case c == '"':
			return b.String()
		case c == '\\' && s.rest != "":
			c = s.rest[0]
			s.rest = s.rest[1:]
		}
		b.WriteByte(c)
	}
	return b.String()
}
