package recall

import "github.com/toolfit/toolfit/internal/config"

// Actions are the actions of the configuration, for people who look for one to try.
func (s *Service) Actions() []config.RecallAction { return s.recall.Actions }

// Asks tells whether actions come from ontology-query, too.
func (s *Service) Asks() bool { return s.query != nil }

// As is the same service with another form of answer, proxy or driver, so that people can
// compare the two. Without ontology-query there is but one.
func (s *Service) As(form string) *Service {
	if s.query == nil {
		return s
	}
	other := *s
	other.recall.Answer = form
	other.routes()
	return &other
}
