package recall

import (
	"net/http"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Actions returns the configured actions, for people who try one. Bound values are hidden
// unless callers get them.
func (s *Service) Actions() []config.RecallAction {
	list := slices.Clone(s.recall.Actions)
	for i, a := range list {
		if a.Server == "" || s.recall.Fixed != "bind" || s.recall.Echo {
			continue
		}
		names := []byte{'{'}
		for w := rawjson.Object(a.Parameters); w.Next(); {
			names = member(names, string(w.Key), raw(`"…"`))
		}
		list[i].Parameters = append(names, '}')
	}
	return list
}

// For returns the same service for callers that admit accepts.
func (s *Service) For(admit func(*http.Request) (access.Principal, error)) *Service {
	other := *s
	other.Admit = admit
	other.routes()
	return &other
}

// Asks reports whether actions also come from ontology-query.
func (s *Service) Asks() bool { return s.query != nil }

// As returns the same service with the other form of response, proxy or driver. Without
// ontology-query there is only one.
func (s *Service) As(form string) *Service {
	if s.query == nil {
		return s
	}
	other := *s
	other.recall.Answer = form
	other.routes()
	return &other
}
