package fit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Route finds the tool that is meant by a name that the server does not have: without the
// client's prefix, or under its name in another version. It returns false if there is nothing
// to change.
func (s *Server) Route(name string, args json.RawMessage) (string, json.RawMessage, bool) {
	if s == nil || slices.Contains(s.tools, name) {
		return name, args, false
	}
	for _, prefix := range s.known.Prefixes {
		if bare, ok := strings.CutPrefix(name, prefix); ok && bare != "" {
			if slices.Contains(s.tools, bare) {
				return bare, args, true
			}
			name = bare
			break
		}
	}
	for i := range s.known.Routes {
		r := &s.known.Routes[i]
		if r.From != name || !slices.Contains(s.tools, r.To) {
			continue
		}
		if changed, ok := r.apply(args); ok {
			return r.To, changed, true
		}
	}
	return name, args, false
}

// apply changes the arguments as the route says; false if the route does not apply to them.
func (r *Route) apply(args json.RawMessage) (json.RawMessage, bool) {
	raw := args
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	o, ok := editObject(raw)
	if !ok {
		return nil, false
	}
	for key, want := range r.When {
		if c := o.find(key); c == nil || !samePlain(o.t.raw(c.token), want) {
			return nil, false
		}
	}
	for _, key := range r.Unset {
		if c := o.find(key); c != nil {
			c.drop = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Set)) {
		o.set(key, r.Set[key])
	}
	return o.bytes(), true
}
