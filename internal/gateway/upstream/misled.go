package upstream

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/direct"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/base/visible"
)

// unreachable says why there is no answer: the proxy, the scheme, the certificate, or a server that does not run.
func (r *remote) unreachable(err error) error {
	var own *fault.Error
	if errors.As(err, &own) { // from the credentials
		return err
	}
	if scheme := fault.SpokenScheme(err); scheme != "" {
		return r.otherScheme(scheme)
	}
	down := fault.New(fault.UpstreamDown, "server %s cannot be reached: %w", r.server, fault.Plain(err))
	var untrusted *tls.CertificateVerificationError
	var unknown *net.DNSError
	var dial *net.OpError
	switch proxy := r.proxy(); {
	case errors.As(err, &untrusted):
		down = down.WithHint("check the host in the url of %s; if a private CA issued its certificate, add that CA to the system's trusted ones",
			r.server)
	case proxy != "":
		down = fault.New(fault.UpstreamDown, "server %s cannot be reached through proxy %s: %w", r.server, proxy, fault.Plain(err)).
			WithHint("check the proxy; what needs none is named in NO_PROXY, and proxy of %s names another", r.server)
	case errors.As(err, &unknown):
		down = down.WithHint("check the host in the url of %s", r.server)
	case errors.Is(err, io.EOF) && r.url.Scheme == "http":
		down = down.WithHint("check that %s is an MCP server; if it speaks TLS, write https:// in its url", origin.Of(r.url))
	default:
		down = down.WithHint("check that %s is running", origin.Of(r.url))
	}
	if errors.As(err, &dial) && (dial.Op == "dial" || dial.Op == "proxyconnect") {
		down = down.Unsent() // there was no connection to act on
	}
	return down
}

// proxy is the address of the proxy before the server, without credentials; "" for none.
func (r *remote) proxy() string {
	t, ok := r.http.(*direct.Transport)
	if !ok || t.Proxy == nil {
		return ""
	}
	if u, err := t.Proxy(&http.Request{URL: r.url}); err == nil && u != nil {
		return origin.Of(u)
	}
	return ""
}

// wantsTLS matches how TLS servers answer plain HTTP.
var wantsTLS = regexp.MustCompile(`(?i)HTTP request to an HTTPS server|plain HTTP`)

// otherScheme is the error for a url with the wrong scheme. The server has not acted.
func (r *remote) otherScheme(spoken string) error {
	return fault.New(fault.UpstreamDown, "server %s speaks %s, and its url says %s", r.server, spoken, r.url.Scheme).
		WithHint("write %s:// in the url of %s", spoken, r.server).Unsent()
}

// bearer finds OAuth among the challenges of a server.
var bearer = regexp.MustCompile(`(?i)(^|,)\s*bearer(\s|,|$)`)

// unauthorized is the error for a 401, with what the server requires.
func (r *remote) unauthorized(resp *http.Response) error {
	wants := bearer.MatchString(strings.Join(resp.Header.Values("WWW-Authenticate"), ", "))
	sent := *r.last.Load().credentials
	switch _, given := sent["Authorization"]; {
	case r.oauth:
		return fault.New(fault.LoginRequired, "server %s needs sign-in: it refused the token that it was sent (HTTP 401)", r.server).
			WithHint("sign in again, with: toolfit login %s", r.server)
	case wants && given:
		return fault.New(fault.LoginRequired, "server %s needs sign-in: it refused the token in Authorization (HTTP 401)", r.server).
			WithHint("renew the token in the headers of %s; it may have expired", r.server)
	case wants:
		return r.advise(resp.Request.Context(), resp.Header)
	case len(sent) == 0:
		return fault.New(fault.UpstreamDown, "server %s requires credentials and has none (HTTP 401)", r.server).
			WithHint("add them to %s: headers: {…}", r.server)
	}
	return fault.New(fault.UpstreamDown, "server %s refused our credentials (HTTP 401)", r.server).
		WithHint("check the headers of %s in the configuration", r.server)
}

// redirected names where a server sends us. It is not followed: credentials would be sent along.
func (r *remote) redirected(resp *http.Response) error {
	to, err := r.url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return r.protocolError("answered HTTP %d", resp.StatusCode)
	}
	return fault.New(fault.UpstreamProtocol, "server %s redirects to %s (HTTP %d)", r.server, origin.Shown(to.String()), resp.StatusCode).
		WithHint("if that is where it is now, write it in the url of %s", r.server)
}

// pageError is the error for a web page instead of an answer; nil if it is not one.
func (r *remote) pageError(status int, body []byte) error {
	title, page := visible.Page(body)
	if !page {
		return nil
	}
	answered := fault.New(fault.UpstreamProtocol, "server %s answered with a web page%s, not MCP", r.server, title)
	if status != http.StatusOK {
		answered = fault.New(fault.UpstreamProtocol, "server %s answered HTTP %d with a web page%s, not MCP", r.server, status, title)
	}
	return answered.WithHint("check the path in the url of %s; most MCP endpoints end in /mcp or /sse", r.server)
}
