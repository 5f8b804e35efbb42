package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolfit/toolfit/internal/mcp"
)

// levels are the log levels that clients want. Servers are told the lowest; each client gets only its own.
type levels struct {
	mu     sync.Mutex
	of     map[*mcp.Session]string
	modern string // the lowest that a modern client has asked for: it does not say when it no longer does
}

func (v *visitor) setLevel(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if req.Session == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "a log level needs a session")
	}
	level, err := req.Session.SetLevel(req.Params)
	if err != nil {
		return nil, err
	}
	v.server.servers.SetLevel(ctx, v.server.levels.add(req.Session, level))
	return json.RawMessage("{}"), nil
}

// add notes a client's level and returns the lowest of all.
func (l *levels) add(s *mcp.Session, level string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[s] = level
	return l.lowest()
}

// drop removes a client and returns the lowest level of the others; "" if there is none or it has not changed.
func (l *levels) drop(s *mcp.Session) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.lowest()
	delete(l.of, s)
	if now := l.lowest(); now != before {
		return now
	}
	return ""
}

// want notes the level that a modern client wants and returns the lowest of all; "" if it has not changed.
func (l *levels) want(level string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.lowest()
	l.modern = mcp.Lower(l.modern, level)
	if now := l.lowest(); now != before {
		return now
	}
	return ""
}

func (l *levels) lowest() (level string) {
	level = l.modern
	for _, one := range l.of {
		level = mcp.Lower(level, one)
	}
	return level
}
