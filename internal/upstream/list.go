package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tool"
)

// Listing is what a server offers.
type Listing struct {
	Info  json.RawMessage // what it says about itself; nil when nothing
	Tools []tool.Definition
	Notes []string // what was left out, and why
}

const (
	maxPages = 1000
	maxTools = 20_000
)

// List reads the server's whole list of tools, all pages.
func (p *Pool) List(ctx context.Context, id tool.ServerID) (Listing, error) {
	s, err := p.server(id)
	if err != nil {
		return Listing{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Start+s.cfg.Timeout)
	defer cancel()
	l, err := s.list(ctx)
	switch {
	case err == nil:
		s.recognise(l.Tools)
		return l, nil
	case errors.Is(err, context.DeadlineExceeded):
		return Listing{}, fault.New(fault.UpstreamTimeout, "server %s did not list its tools in time", id)
	}
	return Listing{}, p.clean(err)
}

func (s *server) list(ctx context.Context) (Listing, error) {
	var l Listing
	seen := map[string]bool{}
	params := json.RawMessage("{}")
	for range maxPages {
		raw, err := s.do(ctx, "", outgoing{method: "tools/list", params: params, peer: mcp.Deaf})
		var rpc *mcp.Error
		if errors.As(err, &rpc) && rpc.Code == mcp.CodeMethodNotFound {
			return l, nil // a server without tools
		}
		if err != nil {
			return Listing{}, err
		}
		next, err := l.addPage(raw, seen)
		if err != nil {
			return Listing{}, fault.New(fault.UpstreamProtocol, "server %s sent a list that is none: %w", s.cfg.ID, err)
		}
		if next == "" {
			l.Info = s.serverInfo()
			return l, nil
		}
		params = append(rawjson.AppendString([]byte(`{"cursor":`), next), '}')
	}
	return Listing{}, fault.New(fault.UpstreamProtocol, "server %s lists more than %d pages of tools", s.cfg.ID, maxPages)
}

// addPage takes the tools of one page and returns the cursor of the next.
func (l *Listing) addPage(raw json.RawMessage, seen map[string]bool) (next string, err error) {
	tools := rawjson.Get(raw, "tools")
	if tools == nil {
		return "", fmt.Errorf("it has no tools member")
	}
	w := rawjson.Array(tools)
	for w.Next() {
		def, err := tool.ParseDefinition(bytes.Clone(w.Value))
		switch {
		case err != nil:
			l.Notes = append(l.Notes, fmt.Sprintf("a tool was left out: %v", err))
		case seen[def.Name]:
			l.Notes = append(l.Notes, fmt.Sprintf("tool %s is listed twice; the first one counts", def.Name))
		case len(l.Tools) == maxTools:
			return "", fmt.Errorf("it has more than %d tools", maxTools)
		default:
			seen[def.Name] = true
			l.Tools = append(l.Tools, def)
		}
	}
	if err := w.Err(); err != nil {
		return "", err
	}
	next, _ = rawjson.String(rawjson.Get(raw, "nextCursor"))
	return next, nil
}

func (s *server) serverInfo() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess := s.sessions[""]; sess != nil && sess.isReady() {
		return sess.info
	}
	return nil
}

// Recognise tells the pool which tools a server is known to have, so that a stateful one
// is treated as such before it is first listed again.
func (p *Pool) Recognise(id tool.ServerID, tools []tool.Definition) {
	if s, err := p.server(id); err == nil {
		s.recognise(tools)
	}
}

// recognise gives each caller's session its own browser: a playwright server is known by its tools.
func (s *server) recognise(tools []tool.Definition) {
	if s.cfg.Isolation != "" {
		return
	}
	found := 0
	for _, t := range tools {
		if t.Name == "browser_navigate" || t.Name == "browser_snapshot" {
			found++
		}
	}
	s.mu.Lock()
	s.isolated = found == 2
	s.mu.Unlock()
}
