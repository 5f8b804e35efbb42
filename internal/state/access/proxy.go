package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Trusted are the networks of the reverse proxies whose X-Forwarded headers are trusted.
type Trusted []netip.Prefix

// Client returns who sent the request, and which scheme and host they used: those of the
// connection, unless a trusted proxy is in between. An invalid address is the zero Addr.
func (t Trusted) Client(r *http.Request) (addr netip.Addr, scheme, host string) {
	addr = peerOf(r)
	if t.has(addr) {
		addr = t.walk(addr, r.Header.Values("X-Forwarded-For"))
	}
	scheme, host = t.asked(r)
	return addr, scheme, host
}

// asked returns which scheme and host the client used.
func (t Trusted) asked(r *http.Request) (scheme, host string) {
	scheme = "http"
	host = r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if len(t) == 0 || !t.has(peerOf(r)) {
		return scheme, host
	}
	if s := strings.ToLower(last(r.Header.Values("X-Forwarded-Proto"))); s == "http" || s == "https" {
		scheme = s
	}
	if h := last(r.Header.Values("X-Forwarded-Host")); h != "" {
		host = h
	}
	return scheme, host
}

// walk goes back from the peer through trusted proxies. The first other address is the client's;
// anything before it was written by the client and proves nothing.
func (t Trusted) walk(addr netip.Addr, headers []string) netip.Addr {
	hops := strings.Split(strings.Join(headers, ","), ",")
	for _, hop := range slices.Backward(hops) {
		before, err := parseHop(strings.TrimSpace(hop))
		if err != nil {
			return addr
		}
		addr = before
		if !t.has(addr) {
			return addr
		}
	}
	return addr
}

// parseHop reads an address, which some proxies write with a port.
func parseHop(s string) (netip.Addr, error) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap(), nil
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap(), err
}

// last returns the last item of a list in one or several headers: the nearest proxy appends.
func last(headers []string) string {
	if len(headers) == 0 {
		return ""
	}
	words := headers[len(headers)-1]
	return strings.TrimSpace(words[strings.LastIndexByte(words, ',')+1:])
}

func (t Trusted) has(addr netip.Addr) bool {
	return slices.ContainsFunc(t, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// IsForwarded reports whether a proxy forwarded the request: it is HTTP/1.0, which proxies use by
// default and clients do not, or it has a header of a proxy, a load balancer or a CDN. A proxy
// on this machine connects from loopback, whoever is behind it.
func IsForwarded(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return true
	}
	for name := range r.Header {
		switch name[0] {
		case 'A', 'C', 'F', 'T', 'V', 'X':
			if isForwarding(name) {
				return true
			}
		}
	}
	return false
}

// isForwarding reports whether a header is one that proxies add.
func isForwarding(name string) bool {
	switch name {
	case "Via", "Forwarded", "True-Client-Ip", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Host", "X-Original-Url",
		"X-Original-Forwarded-For", "X-Proxyuser-Ip", "Cdn-Loop", "Client-Ip", "Akamai-Origin-Hop", "X-Appengine-User-Ip":
		return true
	}
	for _, prefix := range forwardingPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var forwardingPrefixes = [...]string{"X-Forwarded", "Cf-", "Fastly-", "Fly-", "X-Amz-Cf-", "X-Amzn-Trace-", "X-Azure-", "X-Envoy-"}

func peerOf(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}
