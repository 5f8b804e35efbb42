package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Trusted are the networks of the reverse proxies whose word about a client is believed.
// Nobody else's is: anyone can write a header.
type Trusted []netip.Prefix

// forwardHeaders are what proxies say about the client behind them.
var forwardHeaders = []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded"}

// Client tells who sent the request, and which scheme and host they used. Without a trusted
// proxy in between these are the connection's own. An address that cannot be read is the
// zero Addr.
func (t Trusted) Client(r *http.Request) (addr netip.Addr, scheme, host string) {
	addr, scheme, host = peerOf(r), "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if !t.has(addr) {
		return addr, scheme, host
	}
	addr = t.walk(addr, r.Header.Values("X-Forwarded-For"))
	if s := strings.ToLower(last(r.Header.Values("X-Forwarded-Proto"))); s == "http" || s == "https" {
		scheme = s
	}
	if h := last(r.Header.Values("X-Forwarded-Host")); h != "" {
		host = h
	}
	return addr, scheme, host
}

// walk goes back from the peer through the proxies that we trust. The first other address
// is the client; what stands before it was written by the client and proves nothing.
func (t Trusted) walk(addr netip.Addr, headers []string) netip.Addr {
	hops := strings.Split(strings.Join(headers, ","), ",")
	for _, hop := range slices.Backward(hops) {
		before, err := parseHop(strings.TrimSpace(hop))
		if err != nil {
			return addr
		}
		if addr = before; !t.has(addr) {
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

// last is the last word of a list that may stand in several headers: the nearest proxy adds at the end.
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

// direct tells whether the request came from its sender without a proxy that we could
// notice. A proxy on this machine connects from loopback, whoever is behind it.
func (t Trusted) direct(r *http.Request) bool {
	for _, h := range forwardHeaders {
		if len(r.Header.Values(h)) > 0 {
			return false
		}
	}
	return !t.has(peerOf(r))
}

func peerOf(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}
