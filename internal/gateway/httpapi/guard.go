package httpapi

import (
	"context"
	"errors"
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
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/state/config"
)

// guard decides which addresses may be dialed. It checks the resolved address of every connection,
// so neither DNS nor a redirect gets around it.
type guard struct{ allowed []netip.Prefix }

// newGuard allows public addresses, those of the configuration's allow, and those spelled out in base and spec.
func newGuard(cfg *config.API) guard {
	g := guard{slices.Clone(cfg.Allow)}
	for _, address := range []string{cfg.Base, cfg.Spec} {
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

// may tells whether the address may be dialed.
func (g guard) may(ip netip.Addr) bool {
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
			return g.may(netip.AddrFrom4([4]byte(b[c.at : c.at+4])))
		}
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// control refuses a connection before it is made.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	if g.may(at.Addr()) {
		return nil
	}
	return fault.New(fault.Forbidden, "the address %s is not public", at.Addr()).
		WithHint("if it is meant, add its network to allow")
}

// transport carries requests to public addresses. A configured proxy is trusted; behind it the guard can only check literal addresses.
func (g guard) transport(proxy string) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: g.control}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  0, // the call's own timeout applies
		MaxResponseHeaderBytes: 1 << 20,
	}
	if proxy == "" {
		return t, nil
	}
	u, err := url.Parse(proxy)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "proxy is not a valid address")
	}
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		if ip, err := netip.ParseAddr(r.URL.Hostname()); err == nil && !g.may(ip) {
			return nil, g.control("", netip.AddrPortFrom(ip, 0).String(), nil)
		}
		return u, nil
	}
	return t, nil
}

// follow decides about a redirect. Only read requests are redirected: others could run twice, or as another method.
func follow(r *http.Request, via []*http.Request) error {
	if method := via[0].Method; method != http.MethodGet && method != http.MethodHead {
		return http.ErrUseLastResponse
	}
	return origin.Redirect(r, via)
}

// explain says why a request got no answer. The address is left out: it may contain a key.
func explain(ctx context.Context, who string, err error) error {
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f):
		return fault.New(f.Code, "%s: %s", who, f.Message).WithHint("%s", f.Hint)
	}
	down := fault.New(fault.UpstreamDown, "%s cannot be reached: %w", who, fault.Plain(err))
	if scheme := fault.SpokenScheme(err); scheme != "" {
		down = down.WithHint("write %s:// in its address", scheme)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		down = down.Unsent() // there was no connection to act on
	}
	return down
}
