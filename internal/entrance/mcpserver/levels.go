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
	v.server.setLevel(ctx, v.server.levels.add(req.Session, level))
	return json.RawMessage("{}"), nil
}

// change changes what clients want and returns the lowest level of all; "" if it is the same as before.
func (l *levels) change(change func()) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.lowest()
	change()
	if now := l.lowest(); now != before {
		return now
	}
	return ""
}

func (l *levels) add(s *mcp.Session, level string) string {
	return l.change(func() { l.of[s] = level })
}

func (l *levels) drop(s *mcp.Session) string {
	return l.change(func() { delete(l.of, s) })
}

// want notes the level of a modern client, which does not say when it no longer wants it.
func (l *levels) want(level string) string {
	return l.change(func() { l.modern = mcp.Lower(l.modern, level) })
}

// setLevel tells the servers the lowest level; "" means that it has not changed.
func (s *Server) setLevel(ctx context.Context, level string) {
	if level != "" {
		s.servers.SetLevel(ctx, level)
	}
}

func (l *levels) lowest() (level string) {
	level = l.modern
	for _, one := range l.of {
		level = mcp.Lower(level, one)
	}
	return level
}
