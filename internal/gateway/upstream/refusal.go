package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/mcp"
)

// maxRefusal limits how much of an error response is read.
const maxRefusal = 64 << 10

// statusError says what an HTTP status means for the caller.
func (r *remote) statusError(resp *http.Response, id int64, era mcp.Era) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if m, err := r.hooks.parse(body); err == nil && m.Error != nil {
		rpc := mcp.ParseError(m.Error)
		if isID(m.ID, id) || era == mcp.Modern && isModernCode(rpc.Code) {
			return rpc
		}
	}
	switch resp.StatusCode {
	case http.StatusBadRequest:
		// Servers modeled on a well-known example send this instead of 404.
		if r.session() != "" && bytes.Contains(bytes.ToLower(body), []byte("session")) {
			return errSessionLost
		}
		if r.url.Scheme == "http" && wantsTLS.Match(body) {
			return r.otherScheme("https")
		}
	case http.StatusUnauthorized:
		return r.unauthorized(resp)
	case http.StatusProxyAuthRequired:
		return fault.New(fault.UpstreamDown, "the proxy for server %s requires credentials (HTTP 407)", r.server).
			WithHint("add them to its address: http://USER:PASSWORD@HOST")
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.redirected(resp)
	case http.StatusForbidden: // also for a Host header that it does not accept; its own text says so
		reason := "it does not say why"
		if title, page := visible.Page(body); page {
			reason = "a web page" + title
		} else if len(bytes.TrimSpace(body)) > 0 {
			reason = oneLine(body)
		}
		refused := fault.New(fault.UpstreamDown, "server %s refused us (HTTP 403): %s", r.server, reason)
		if r.oauth {
			return refused.WithHint("check what the account may do there that is signed in to %s", r.server)
		}
		return refused.WithHint("check the url and the headers of %s in the configuration", r.server)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return fault.New(fault.UpstreamDown, "server %s is not available (HTTP %d)", r.server, resp.StatusCode)
	}
	err := r.pageError(resp.StatusCode, body)
	if err == nil {
		err = r.protocolError("answered HTTP %d: %s", resp.StatusCode, oneLine(body))
	}
	if era == mcp.Modern && resp.StatusCode < 500 {
		err = marked(err, otherEra) // a legacy server does not understand such a request
	}
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed {
		return marked(err, notStreamable)
	}
	return err
}

// refusesVersion tells whether a server says that it does not serve our revision.
func refusesVersion(err error) bool {
	var rpc *mcp.Error
	return errors.As(err, &rpc) && rpc.Code == mcp.CodeUnsupportedVersion
}

// stale triggers a new listing if the tools need other headers than listed.
func (s *server) stale(err error) {
	var rpc *mcp.Error
	if errors.As(err, &rpc) && rpc.Code == mcp.CodeHeaderMismatch {
		s.pool.opts.Changed(s.cfg.ID)
	}
}

func isModernCode(code int) bool {
	return code == mcp.CodeHeaderMismatch || code == mcp.CodeMissingCapability || code == mcp.CodeUnsupportedVersion
}

func (r *remote) protocolError(format string, args ...any) error {
	return fault.New(fault.UpstreamProtocol, "server %s %s", r.server, fmt.Sprintf(format, args...)).
		WithHint("check that its URL is an MCP endpoint")
}

func oneLine(b []byte) string {
	return string(rawjson.OneLine(bytes.ToValidUTF8(b[:min(len(b), 200)], nil))) // the cut may split a character
}
