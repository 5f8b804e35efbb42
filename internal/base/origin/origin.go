// Package origin compares the origins of URLs: scheme, host and port. A credential belongs to one
// origin, so a redirect to another one must not carry it.
//
//	client := &http.Client{CheckRedirect: origin.Redirect}
//	origin.Of(u) // https://api.example.com
package origin

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Of returns the origin of a URL, in lower case and without its scheme's default port. It is safe
// to show.
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

// Shown returns an address for messages: origin and path, without the parts that may contain a
// secret.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "its address"
	}
	return Of(u) + u.EscapedPath()
}

// Same reports whether two URLs have the same origin.
func Same(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return usual(strings.ToLower(u.Scheme))
}

// usual returns the default port of a scheme.
func usual(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// maxRedirects is how many redirects one request follows.
const maxRedirects = 5

// Redirect is a CheckRedirect for clients that send credentials. From the first redirect to
// another origin on, a request has no headers but Accept and User-Agent, even if it comes back.
// One with a body does not leave its origin, and https never becomes http.
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
	maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return name != "Accept" && name != "User-Agent" })
	return nil
}

// stays reports whether a request and those before it have the same origin.
func stays(r *http.Request, via []*http.Request) bool {
	other := func(r *http.Request) bool { return !Same(r.URL, via[0].URL) }
	return !slices.ContainsFunc(via, other) && !other(r)
}

// Stay is a CheckRedirect for clients that leave no origin, and send nothing but GET after a redirect.
func Stay(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !Same(r.URL, via[0].URL) || via[0].Method != http.MethodGet {
		return fault.New(fault.UpstreamProtocol, "it redirects elsewhere")
	}
	return nil
}
