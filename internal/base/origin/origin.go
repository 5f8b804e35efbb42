// Package origin tells where a URL leads: its scheme, host and port. A credential belongs to
// one origin, so a redirect that leaves it carries none.
//
//	client := &http.Client{CheckRedirect: origin.Redirect}
//	origin.Of(u) // https://api.example.com
package origin

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Of is the origin of a URL, in lower case and without the port that its scheme implies. It
// shows nothing else of the URL, so it is fit for messages.
func Of(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") { // an IPv6 address
		host = "[" + host + "]"
	}
	scheme := strings.ToLower(u.Scheme)
	if port := u.Port(); port != "" && port != usual(scheme) {
		host += ":" + port
	}
	return scheme + "://" + host
}

// Shown is an address for messages: its origin and path, without what a secret may stand in.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "its address"
	}
	return Of(u) + u.EscapedPath()
}

// Same tells whether two URLs have one origin.
func Same(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return usual(strings.ToLower(u.Scheme))
}

// usual is the port that a scheme implies.
func usual(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// maxRedirects bounds how far one request is sent on.
const maxRedirects = 5

// Redirect is a CheckRedirect for clients that send credentials. From the first hop to
// another origin on, a request carries nothing but Accept and User-Agent, even when it comes
// back. One with a body does not leave its origin, and encryption is never given up.
func Redirect(r *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > maxRedirects:
		return fault.New(fault.UpstreamProtocol, "more than %d redirects", maxRedirects)
	case r.URL.Scheme != "http" && r.URL.Scheme != "https":
		return fault.New(fault.UpstreamProtocol, "a redirect leads to %s", r.URL.Scheme)
	case first.URL.Scheme == "https" && r.URL.Scheme != "https":
		return fault.New(fault.UpstreamProtocol, "a redirect leads from https to %s", r.URL.Scheme)
	case stays(r, via):
		return nil
	case first.Method != http.MethodGet && first.Method != http.MethodHead:
		return fault.New(fault.UpstreamProtocol, "a redirect leads to another host, %s", Of(r.URL)).
			WithHint("if it is meant, configure that address")
	}
	bare := http.Header{}
	for _, name := range []string{"Accept", "User-Agent"} {
		if values := r.Header[name]; values != nil {
			bare[name] = values
		}
	}
	r.Header = bare
	return nil
}

// stays tells whether a request and those before it have one origin.
func stays(r *http.Request, via []*http.Request) bool {
	for _, before := range via[1:] {
		if !Same(before.URL, via[0].URL) {
			return false
		}
	}
	return Same(r.URL, via[0].URL)
}
