package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/fault"
)

// Door decides who comes in over HTTP. It is the same for every route.
type Door struct {
	keys    *Keys
	hosts   map[string]bool
	proxies Trusted
}

// NewDoor makes a door for requests that name one of the hosts, or loopback, as their Host.
// Behind one of the proxies the Host is the one that the proxy was asked for.
func NewDoor(keys *Keys, hosts []string, proxies Trusted) *Door {
	d := &Door{keys: keys, hosts: map[string]bool{}, proxies: proxies}
	for _, h := range hosts {
		d.hosts[strings.ToLower(h)] = true
	}
	return d
}

// Admit tells who sends the request. A page of another site must not get in through a
// browser on this machine, so Host and Origin are checked before anything else.
func (d *Door) Admit(r *http.Request) (Principal, error) {
	_, _, host := d.proxies.Client(r)
	if !d.knows(host) {
		return Principal{}, fault.New(fault.Forbidden, "Host %q is not served here", host).WithHint("add it to hosts in the configuration")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !d.knows(u.Host) {
			return Principal{}, fault.New(fault.Forbidden, "Origin %q is not allowed", origin).WithHint("add its host to hosts in the configuration")
		}
	}
	if key, ok := keyOf(r); ok {
		return d.keys.Authenticate(r.Context(), key)
	}
	// The address of the connection counts here, never one that a header names. A name of
	// the configuration is one by which others reach us, through something on this machine.
	if !d.keys.Any() && isLoopback(r.RemoteAddr) && d.proxies.direct(r) && isHere(hostOf(host)) {
		return Local(), nil
	}
	return Principal{}, refuse()
}

// keyOf finds the key in the request: as a bearer token, or as the password that a browser asks for.
func keyOf(r *http.Request) (string, bool) {
	header := r.Header.Get("Authorization")
	if len(header) > 7 && strings.EqualFold(header[:7], "bearer ") {
		return strings.TrimSpace(header[7:]), true
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password, true
	}
	return "", header != ""
}

// knows tells whether a host, with or without a port, is one of ours.
func (d *Door) knows(hostport string) bool {
	host := hostOf(hostport)
	return isHere(host) || d.hosts[host] || d.hosts[strings.ToLower(hostport)]
}

// hostOf takes the port off a host.
func hostOf(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// isHere tells whether a host means this machine.
func isHere(host string) bool { return host == "localhost" || isLoopback(host) }

// IsLoopback tells whether an address to listen on can be reached from this machine only.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && isHere(host)
}

func isLoopback(addr string) bool {
	if ap, err := netip.ParseAddrPort(addr); err == nil {
		return ap.Addr().Unmap().IsLoopback()
	}
	ip, err := netip.ParseAddr(addr)
	return err == nil && ip.Unmap().IsLoopback()
}
