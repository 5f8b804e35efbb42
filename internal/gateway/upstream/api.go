package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
)

// apiConn is an HTTP API, used like an MCP server.
type apiConn struct {
	*builtin
	api *httpapi.API
}

func (s *server) dialAPI(h hooks) (conn, error) {
	api, err := httpapi.New(s.cfg, &httpapi.Options{
		MaxAnswer: s.pool.opts.MaxMessage, Trusted: s.trusts, Credentials: s.credentials, Trace: s.pool.opts.Trace,
	})
	if err != nil {
		return nil, err
	}
	return &apiConn{newBuiltin(s.cfg.ID, h, api), api}, nil
}

func (c *apiConn) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	if out.method == helloMethod {
		return c.api.Hello(ctx)
	}
	return c.builtin.request(ctx, out)
}

func (c *apiConn) close() {
	c.builtin.close()
	c.api.Close()
}

// trusts tells whether a host of the API's description is approved. If not, the list is refreshed so that the host shows up for approval.
func (s *server) trusts(host string) bool {
	hosts := s.trusted.Load()
	if hosts != nil && slices.Contains(*hosts, host) {
		return true
	}
	if last := s.refused.Swap(&host); last == nil || *last != host {
		s.pool.opts.Changed(s.cfg.ID)
	}
	return false
}

// api is the server's API; nil if it is not one, or not open.
func (s *server) api() *httpapi.API {
	for _, sess := range s.live() {
		if c, ok := sess.conn.(*apiConn); ok {
			return c.api
		}
	}
	return nil
}

// maxNotes limits how many problems of a description are reported.
const maxNotes = 20

// apiNotes are the problems with the credentials and the description of an API.
func apiNotes(api *httpapi.API) []string {
	notes := slices.Clone(api.Notes())
	problems := api.Problems()
	for i, p := range problems {
		if i == maxNotes {
			return append(notes, fmt.Sprintf("and %d more problems of the description", len(problems)-i))
		}
		notes = append(notes, fmt.Sprintf("%s: %s", p.Pointer, p.Message))
	}
	return notes
}

// Curl is the HTTP request that a call would send, as a command line without secrets.
func (p *Pool) Curl(ctx context.Context, c Call) (string, error) {
	s, err := p.server(c.Server)
	if err != nil {
		return "", err
	}
	if s.cfg.API == nil {
		return "", fault.New(fault.BadRequest, "%s is not a tool of an HTTP API: there is no request to show", c.Tool)
	}
	sess, err := s.acquire(ctx, caller{session: c.Session, asks: nothing})
	if err != nil {
		return "", p.clean(err)
	}
	defer s.release(sess)
	api, ok := sess.conn.(*apiConn)
	if !ok {
		return "", fault.New(fault.Internal, "server %s is not an API", c.Server)
	}
	return api.api.Curl(ctx, c.Params)
}
