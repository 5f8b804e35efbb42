package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tool"
)

// subscriptions are who wants to hear of which resource. A server is asked once, however
// many want to hear.
type subscriptions struct {
	mu    sync.Mutex
	byURI map[string]*subscription
}

type subscription struct {
	server   tool.ServerID
	sessions map[*mcp.Session]bool
}

func (v *visitor) subscribe(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	server, uri, err := v.owner(req.Params)
	if err != nil {
		return nil, err
	}
	if req.Session == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "a subscription needs a session")
	}
	subs := &v.server.subscriptions
	subs.mu.Lock()
	sub := subs.byURI[uri]
	first := sub == nil
	if first {
		sub = &subscription{server: server, sessions: map[*mcp.Session]bool{}}
		subs.byURI[uri] = sub
	}
	sub.sessions[req.Session] = true
	subs.mu.Unlock()
	if first {
		if _, err := v.server.servers.Ask(ctx, server, "resources/subscribe", uriParams(uri)); err != nil {
			v.server.forget(uri, req.Session)
			return nil, rpcError(err)
		}
	}
	return json.RawMessage("{}"), nil
}

func (v *visitor) unsubscribe(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	uri, _, err := member(req.Params, "uri")
	if err != nil {
		return nil, err
	}
	v.server.drop(ctx, uri, req.Session)
	return json.RawMessage("{}"), nil
}

func uriParams(uri string) json.RawMessage {
	return append(rawjson.AppendString([]byte(`{"uri":`), uri), '}')
}

// forget takes a session out and returns the server when nobody is left.
func (s *Server) forget(uri string, session *mcp.Session) (server tool.ServerID, last bool) {
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	sub := s.subscriptions.byURI[uri]
	if sub == nil || !sub.sessions[session] {
		return "", false
	}
	delete(sub.sessions, session)
	if len(sub.sessions) > 0 {
		return "", false
	}
	delete(s.subscriptions.byURI, uri)
	return sub.server, true
}

// drop takes a session out and tells the server when nobody is left. A server that cannot
// be told will have forgotten by itself.
func (s *Server) drop(ctx context.Context, uri string, session *mcp.Session) {
	if server, last := s.forget(uri, session); last {
		s.servers.Ask(ctx, server, "resources/unsubscribe", uriParams(uri))
	}
}

func (s *Server) unsubscribeAll(ctx context.Context, session *mcp.Session) {
	s.subscriptions.mu.Lock()
	var uris []string
	for uri, sub := range s.subscriptions.byURI {
		if sub.sessions[session] {
			uris = append(uris, uri)
		}
	}
	s.subscriptions.mu.Unlock()
	for _, uri := range uris {
		s.drop(ctx, uri, session)
	}
}

// Updated passes on that a resource has changed.
func (s *Server) Updated(_ tool.ServerID, params json.RawMessage) {
	uri, _ := rawjson.String(rawjson.Get(params, "uri"))
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	if sub := s.subscriptions.byURI[uri]; sub != nil {
		for session := range sub.sessions {
			session.Notify(context.Background(), "notifications/resources/updated", params)
		}
	}
}

// Reopened subscribes again at a server that was started anew.
func (s *Server) Reopened(ctx context.Context, server tool.ServerID) {
	s.subscriptions.mu.Lock()
	var uris []string
	for uri, sub := range s.subscriptions.byURI {
		if sub.server == server {
			uris = append(uris, uri)
		}
	}
	s.subscriptions.mu.Unlock()
	for _, uri := range uris {
		s.servers.Ask(ctx, server, "resources/subscribe", uriParams(uri))
	}
}

// levels are the log levels that clients want. Servers are told the lowest; each client is
// sent only its own.
type levels struct {
	mu sync.Mutex
	of map[*mcp.Session]string
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
	lowest := level
	for _, other := range l.of {
		lowest = mcp.Lower(lowest, other)
	}
	return lowest
}

func (l *levels) drop(s *mcp.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, s)
}
