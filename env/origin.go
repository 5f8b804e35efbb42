package env

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// checkOrigin rejects requests that a browser sends for another site.
func (o *Options) checkOrigin(r *http.Request) error {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host != r.Host && !o.isOurs(u.Host) {
			return errors.New("the request comes from a page of another origin")
		}
	}
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr != nil && isLocal(addr.String()) && !o.isOurs(r.Host) {
		return errors.New("the header Host names another machine")
	}
	return nil
}

func (o *Options) isOurs(host string) bool {
	name := withoutPort(host)
	return isLocal(host) || slices.ContainsFunc(o.Hosts, func(ours string) bool { return ours == "*" || strings.EqualFold(ours, name) })
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.Trim(host, "[]")
}

// isLocal tells whether a host, with or without a port, is this machine.
func isLocal(host string) bool {
	host = withoutPort(host)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
