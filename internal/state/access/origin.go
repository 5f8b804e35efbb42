package access

import (
	"mime"
	"net/http"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// checkPage refuses requests that a page of another origin makes through a browser. Another port
// of this machine is another origin. Links from anywhere may be followed.
func (d *Door) checkPage(r *http.Request, scheme, host string) error {
	origin := r.Header["Origin"]
	if len(origin) > 0 {
		switch {
		case len(origin) > 1 || !d.isOwn(origin[0], scheme, host) && !d.AllowsOrigin(origin[0]):
			return fault.New(fault.Forbidden, "Origin %q is not allowed", strings.Join(origin, ", ")).
				WithHint("add it to origins in the configuration")
		case d.AllowsOrigin(origin[0]):
			return nil
		}
	}
	for _, s := range r.Header["Sec-Fetch-Site"] {
		if s != "same-origin" && s != "none" && !isNavigation(r) {
			return fault.New(fault.Forbidden, "a page of another origin (%s) may not ask this", s).
				WithHint("add its origin to origins in the configuration")
		}
	}
	return nil
}

// isOwn reports whether a page of the origin is ours: it was loaded from where the request goes,
// or from a configured name with the scheme that the client used.
func (d *Door) isOwn(origin, scheme, host string) bool {
	used, page, ok := strings.Cut(origin, "://")
	if ok && used == scheme && strings.EqualFold(withoutDefault(scheme, page), withoutDefault(scheme, host)) {
		return true
	}
	named := normalOrigin(origin)
	return d.own[named] && (used == scheme || named == normalOrigin(d.opts.PublicURL))
}

// isNavigation reports whether a browser opens the response as a page.
func isNavigation(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// AllowsOrigin reports whether the configuration allows pages of another origin. Responses to
// their requests must say so.
func (d *Door) AllowsOrigin(origin string) bool {
	return len(d.origins) > 0 && origin != "" && d.origins[normalOrigin(origin)]
}

// FromBrowser reports whether a request has headers that only browsers send.
func FromBrowser(r *http.Request) bool {
	h := r.Header
	return h["Origin"] != nil || h["Cookie"] != nil || h["Sec-Fetch-Site"] != nil || h["Sec-Fetch-Mode"] != nil || h["Sec-Fetch-Dest"] != nil
}

// CheckContent refuses what a page may send to another origin without a preflight request: a
// body that is not declared as JSON. Programs need not declare it.
func CheckContent(r *http.Request) error {
	if r.Method != http.MethodPost && r.Method != http.MethodPut && r.Method != http.MethodPatch || !FromBrowser(r) {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fault.New(fault.BadRequest, "a browser must send Content-Type: application/json")
	}
	return nil
}

// originOf returns the origin of a scheme and a host, as browsers write it: in lower case, and
// without the scheme's default port.
func originOf(scheme, host string) string {
	return strings.ToLower(scheme + "://" + withoutDefault(scheme, host))
}

// withoutDefault removes the scheme's default port.
func withoutDefault(scheme, host string) string {
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// normalOrigin returns an origin, or that of an address, in the same form.
func normalOrigin(text string) string {
	scheme, host, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	host, _, _ = strings.Cut(host, "/")
	return originOf(strings.ToLower(scheme), host)
}
