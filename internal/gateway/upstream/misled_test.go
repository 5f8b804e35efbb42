//go:build unix

package upstream

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

// answering is the address of a server that answers everything in one way.
func answering(t *testing.T, status int, header, value, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set(header, value)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

const page = "<!doctype html>\n<html><head><title>Acme &amp; Co</title></head><body>hello"

func TestWhatAWrongURLLeadsToIsSaidAsItIs(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	plain := answering(t, 200, "Content-Type", "text/plain", "hello")
	given := map[string]string{"Authorization": "Bearer x"}
	const metadata = `Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource"`
	for name, c := range map[string]struct {
		cfg   config.Server
		code  fault.Code
		says  []string
		never string
	}{
		"a server that wants OAuth needs sign-in": {
			config.Server{URL: answering(t, 401, "WWW-Authenticate", metadata, "")}, fault.LoginRequired,
			[]string{"server s needs sign-in: it takes OAuth tokens and has none"}, "check the headers"},
		"OAuth among other challenges": {
			config.Server{URL: answering(t, 401, "WWW-Authenticate", `Basic realm="x", bearer`, "")}, fault.LoginRequired, []string{"needs sign-in"}, ""},
		"a token that is refused": {
			config.Server{URL: answering(t, 401, "WWW-Authenticate", metadata, ""), Headers: given}, fault.LoginRequired,
			[]string{"needs sign-in: it refused the token in Authorization", "renew the token in the headers of s"}, ""},
		"the older transport needs sign-in, too": {
			config.Server{URL: answering(t, 401, "WWW-Authenticate", metadata, ""), Type: "sse"}, fault.LoginRequired, []string{"needs sign-in"}, ""},
		"another credential than a token": {
			config.Server{URL: answering(t, 401, "WWW-Authenticate", `Basic realm="the bearer of this"`, "")}, fault.UpstreamDown, []string{"requires credentials and has none"}, "sign-in"},
		"another credential that is refused": {
			config.Server{URL: answering(t, 401, "X", "", ""), Headers: given}, fault.UpstreamDown, []string{"refused our credentials", "check the headers of s"}, ""},
		"a page": {
			config.Server{URL: answering(t, 200, "X", "", page)}, fault.UpstreamProtocol,
			[]string{`server s answered with a web page "Acme & Co", not MCP`, "check the path in the url of s"}, "<html"},
		"a page that calls itself JSON": {
			config.Server{URL: answering(t, 200, "Content-Type", "application/json", page)}, fault.UpstreamProtocol, []string{`a web page "Acme & Co"`}, "byte 0"},
		"a page of an error": {
			config.Server{URL: answering(t, 404, "X", "", page)}, fault.UpstreamProtocol, []string{`answered HTTP 404 with a web page "Acme & Co"`}, "<html"},
		"a page that forbids": {
			config.Server{URL: answering(t, 403, "X", "", page)}, fault.UpstreamDown, []string{`refused us (HTTP 403): a web page "Acme & Co"`}, "<html"},
		"an account that may not": {
			config.Server{URL: answering(t, 403, "X", "", "not you"), OAuth: &config.OAuth{As: config.AsGateway}}, fault.UpstreamDown,
			[]string{"refused us (HTTP 403): not you", "check what the account may do there that is signed in to s"}, "headers"},
		"a redirect": {
			config.Server{URL: answering(t, 302, "Location", "https://login.example.com/in?state=s3cret", page)}, fault.UpstreamProtocol,
			[]string{"server s redirects to https://login.example.com/in (HTTP 302)", "write it in the url of s"}, "s3cret"},
		"https to a plain server": {
			config.Server{URL: strings.Replace(plain, "http:", "https:", 1)}, fault.UpstreamDown,
			[]string{"server s speaks http, and its url says https", "write http:// in the url of s"}, "is running"},
		"http to a server with TLS": {
			config.Server{URL: strings.Replace(secure.URL, "https:", "http:", 1)}, fault.UpstreamDown,
			[]string{"server s speaks https, and its url says http", "write https:// in the url of s"}, "is running"},
		"http to one that answers in TLS": {
			config.Server{URL: alerting(t, "\x15\x03\x01\x00\x02\x02\x46")}, fault.UpstreamDown, []string{"speaks https"}, "malformed"},
		"http to one that hangs up": {
			config.Server{URL: alerting(t, "")}, fault.UpstreamDown, []string{"the connection was closed", "if it speaks TLS, write https://"}, "is running"},
		"a certificate that is not trusted": {
			config.Server{URL: secure.URL}, fault.UpstreamDown, []string{"certificate", "add that CA to the system's trusted ones"}, "is running"},
		"a proxy that is not there": {
			config.Server{URL: plain, Proxy: "http://me:pa55w0rd@127.0.0.1:1"}, fault.UpstreamDown,
			[]string{"server s cannot be reached through proxy http://127.0.0.1:1: connection refused", "check the proxy", "NO_PROXY"}, "pa55w0rd"},
		"a proxy that wants credentials": {
			config.Server{URL: "http://example.invalid/mcp", Proxy: answering(t, 407, "Proxy-Authenticate", "Basic", "")}, fault.UpstreamDown,
			[]string{"the proxy for server s requires credentials (HTTP 407)"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.ID, c.cfg.Start, c.cfg.Timeout = "s", patience, patience
			p, _ := newPool(t, nil, c.cfg)
			_, err := p.List(t.Context(), "s")
			wantFault(t, err, c.code, c.says...)
			if c.never != "" && strings.Contains(err.Error(), c.never) {
				t.Errorf("%q says %q", err, c.never)
			}
			if st := p.Status()[0]; st.State != Down || !strings.Contains(st.Reason, c.says[0]) {
				t.Errorf("its state is %s: %s", st.State, st.Reason)
			}
		})
	}
}

// alerting is the address of a server that answers with a few bytes and hangs up.
func alerting(t *testing.T, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 64<<10))
			io.WriteString(c, answer)
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}
