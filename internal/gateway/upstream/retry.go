package upstream

import (
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// Retry makes a server be tried again at once, because what was missing may be there now.
func (p *Pool) Retry(id tool.ServerID) {
	s, err := p.server(id)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = 0
	s.retryAt = time.Time{}
	s.reason = nil
}
