package config

import (
	"regexp"
	"strings"
)

// userValue is a reference to a value that each person gives for themselves.
var userValue = regexp.MustCompile(`\$\{user:([A-Za-z_][A-Za-z0-9_.-]{0,63})\}`)

// UserValue is how a header refers to a value that each person gives for themselves.
func UserValue(name string) string { return "${user:" + name + "}" }

// UserValues are the names of such values in a text.
func UserValues(text string) (names []string) {
	if !strings.Contains(text, "${user:") {
		return nil
	}
	for _, m := range userValue.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// SplitHeaders separates the headers that are the same for everybody from those with a person's own values.
func (s *Server) SplitHeaders() (shared, own map[string]string) {
	shared = map[string]string{}
	own = map[string]string{}
	for name, value := range s.Headers {
		if UserValues(value) == nil {
			shared[name] = value
		} else {
			own[name] = value
		}
	}
	return shared, own
}

// Personal reports whether callers have credentials of their own at the server.
func (s *Server) Personal() bool {
	if _, own := s.SplitHeaders(); len(own) > 0 {
		return true
	}
	return s.OAuth != nil && s.OAuth.As != AsGateway && s.OAuth.As != AsClient
}
