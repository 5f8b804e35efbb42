// Package guard keeps requests to addresses that others choose away from networks that are not public. It
// checks the resolved address of every connection, so neither DNS nor a redirect gets around it.
//
//	client := http.Client{Transport: guard.New(nil, "https://login.example.com").Direct()}
package guard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Guard decides which addresses may be dialed.
type Guard struct {
	allowed []netip.Prefix
	trusted []string // hosts, in lower case
}

// New allows public addresses, the given networks, and those that the given URLs spell out.
func New(allowed []netip.Prefix, urls ...string) Guard {
	g := Guard{allowed: slices.Clone(allowed)}
	for _, address := range urls {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		host := strings.ToLower(u.Hostname())
		if host == "localhost" || strings.HasSuffix(host, ".localhost") {
			g.allowed = append(g.allowed, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
		} else if ip, err := netip.ParseAddr(host); err == nil {
			ip = ip.WithZone("").Unmap()
			g.allowed = append(g.allowed, netip.PrefixFrom(ip, ip.BitLen()))
		}
	}
	return g
}

// Trusting returns a guard that also allows the hosts of the given URLs, wherever their names lead. It is for
// URLs of the configuration: an address in a private network is meant there.
func (g Guard) Trusting(urls ...string) Guard {
	g.trusted = slices.Clone(g.trusted)
	for _, address := range urls {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			g.trusted = append(g.trusted, strings.ToLower(u.Hostname()))
		}
	}
	return g
}

// special are the networks that are not public, in addition to those that net/netip knows.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "5f00::/16", "fec0::/10",
)

// carriers are IPv6 networks whose addresses contain an IPv4 address, with its offset.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::/96"), 12},
}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// May tells whether the address may be dialed.
func (g Guard) May(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	if slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return true
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	for _, c := range carriers {
		if ip.Is6() && c.prefix.Contains(ip) {
			b := ip.As16()
			return g.May(netip.AddrFrom4([4]byte(b[c.at : c.at+4])))
		}
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// control refuses a connection before it is made.
func (g Guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	if g.May(at.Addr()) {
		return nil
	}
	return fault.New(fault.Forbidden, "the address %s is not public", at.Addr()).
		WithHint("if it is meant, add its network to allow")
}

func (g Guard) trusts(host string) bool { return slices.Contains(g.trusted, strings.ToLower(host)) }

func (g Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: g.control}
	if host, _, err := net.SplitHostPort(address); err == nil && g.trusts(host) {
		dialer.Control = nil
	}
	return dialer.DialContext(ctx, network, address)
}

// Direct carries requests to addresses that may be dialed.
func (g Guard) Direct() *http.Transport {
	return &http.Transport{
		DialContext:            g.dial,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  0, // the call's own timeout applies
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// Through is Direct by way of a proxy; "" is none. A proxy is trusted: behind it only literal addresses can
// be checked.
func (g Guard) Through(proxy string) (*http.Transport, error) {
	if proxy == "" {
		return g.Direct(), nil
	}
	u, err := url.Parse(proxy)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "proxy is not a valid address")
	}
	return g.by(http.ProxyURL(u), proxy), nil
}

// Environment is Direct, or Through the proxy that the environment names for an address.
func (g Guard) Environment() *http.Transport {
	var proxies []string
	for _, scheme := range []string{"http", "https"} {
		elsewhere := &http.Request{URL: &url.URL{Scheme: scheme, Host: "elsewhere.invalid"}}
		if u, err := http.ProxyFromEnvironment(elsewhere); err == nil && u != nil {
			proxies = append(proxies, u.String())
		}
	}
	return g.by(http.ProxyFromEnvironment, proxies...)
}

// by carries requests by way of proxies.
func (g Guard) by(proxy func(*http.Request) (*url.URL, error), proxies ...string) *http.Transport {
	t := g.Trusting(proxies...).Direct()
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		u, err := proxy(r)
		if ip, wrong := netip.ParseAddr(r.URL.Hostname()); u != nil && wrong == nil && !g.May(ip) && !g.trusts(r.URL.Hostname()) {
			return nil, g.control("", netip.AddrPortFrom(ip, 0).String(), nil)
		}
		return u, err
	}
	return t
}

// IsLoopback tells whether a host is this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
