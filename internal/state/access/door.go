package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
)

// Door decides which HTTP requests are let in. It is the same for every route.
type Door struct {
	opts    DoorOptions
	hosts   map[string]bool // our own host names, besides loopback
	own     map[string]bool // origins of those names, as scheme://host
	origins map[string]bool // other origins whose pages are allowed
}

// DoorOptions configure a Door.
type DoorOptions struct {
	Keys      *Keys
	Secret    LocalSecret                      // lets local callers administer; "": none may
	Hosts     []string                         // our own host names, with or without a port
	PublicURL string                           // another such name, with its scheme
	Origins   []string                         // other origins whose pages are allowed
	Proxies   Trusted                          // their X-Forwarded headers are trusted
	Peer      func(*http.Request) inbound.User // nil: inbound.Peer
	// Passed returns who sent a request that another replica has passed on; false: its pass is not valid. nil: none is.
	Passed func(*http.Request) (Principal, bool)
	// Token returns who sends a token of an identity provider; nil: there are none.
	Token func(r *http.Request, token string) (Principal, error)
}

// PassHeader holds the pass of a request that another replica has admitted and passed on.
const PassHeader = "Toolfit-Pass"

// IsPassedOn reports whether the request has a pass, valid or not.
func IsPassedOn(r *http.Request) bool { return r.Header[PassHeader] != nil }

// NewDoor makes a door.
func NewDoor(opts DoorOptions) *Door {
	if opts.Peer == nil {
		opts.Peer = inbound.Peer
	}
	d := &Door{opts: opts, hosts: map[string]bool{}, own: map[string]bool{}, origins: map[string]bool{}}
	for _, h := range opts.Hosts {
		d.hosts[strings.ToLower(h)] = true
		d.own[originOf("http", h)] = true
		d.own[originOf("https", h)] = true
	}
	for _, o := range opts.Origins {
		d.origins[normalOrigin(o)] = true
	}
	if scheme, host, ok := strings.Cut(opts.PublicURL, "://"); ok {
		host, _, _ = strings.Cut(host, "/")
		d.hosts[strings.ToLower(host)] = true
		d.own[originOf(scheme, host)] = true
	}
	return d
}

// Check refuses requests for another host, and those of pages of other origins. It reads only
// headers.
func (d *Door) Check(r *http.Request) error {
	if IsPassedOn(r) {
		_, err := d.passed(r)
		return err
	}
	if inbound.FromOwner(r) {
		return checkSocket(r)
	}
	if err := d.CheckHost(r); err != nil {
		return err
	}
	scheme, host := d.opts.Proxies.asked(r)
	return d.checkPage(r, scheme, host)
}

// CheckHost refuses requests for another host. It is enough where every page may read what is served.
func (d *Door) CheckHost(r *http.Request) error {
	if _, host := d.opts.Proxies.asked(r); !d.knows(host) {
		return fault.New(fault.Forbidden, "Host %q is not served here", host).WithHint("add it to hosts in the configuration")
	}
	return nil
}

// passed returns who sent a request that another replica has admitted: it has checked all the rest.
func (d *Door) passed(r *http.Request) (Principal, error) {
	if d.opts.Passed != nil {
		if who, ok := d.opts.Passed(r); ok {
			return who, nil
		}
	}
	return Principal{}, refuse()
}

// checkSocket refuses requests that were forwarded to our socket: their sender is someone else.
// Only commands use it, without a proxy and not from a page.
func checkSocket(r *http.Request) error {
	if IsForwarded(r) || FromBrowser(r) {
		return fault.New(fault.Forbidden, "the socket is for programs of the gateway's own user, not behind a proxy")
	}
	return nil
}

// Admit returns who sends the request.
func (d *Door) Admit(r *http.Request) (Principal, error) {
	if IsPassedOn(r) {
		return d.passed(r)
	}
	if err := d.Check(r); err != nil {
		return Principal{}, err
	}
	header := r.Header.Get("Authorization")
	switch {
	case header != "":
	case inbound.FromOwner(r):
		return Owner(), nil // even if there are keys: this user owns the store
	case d.Closed():
		return Principal{}, d.refuse()
	case d.isLocal(r):
		return Local(), nil
	default:
		return Principal{}, fault.New(fault.Unauthorized,
			"there are no keys, so only programs of the gateway's own user on this machine are served, and none behind a proxy").
			WithHint("make a key: toolfit keys create NAME")
	}
	if len(header) <= 7 || !strings.EqualFold(header[:7], "bearer ") {
		return Principal{}, d.refuse()
	}
	return d.who(r, strings.TrimSpace(header[7:]))
}

// AdmitPassword is Admit for the one page that asks for basic authentication. All other pages
// ignore it, because a browser sends it unasked.
func (d *Door) AdmitPassword(r *http.Request) (Principal, error) {
	_, password, ok := r.BasicAuth()
	if !ok {
		return d.Admit(r)
	}
	if err := d.Check(r); err != nil {
		return Principal{}, err
	}
	return d.who(r, password)
}

// refuse is the error for a request without a credential.
func (d *Door) refuse() error {
	if d.opts.Token == nil {
		return refuse()
	}
	return fault.New(fault.Unauthorized, "a sign-in or a key is needed").
		WithHint("MCP clients sign in by themselves; others send Authorization: Bearer, with a token of the identity provider or a key")
}

// Closed reports whether nobody comes in without a key or a token.
func (d *Door) Closed() bool { return d.opts.Token != nil || d.opts.Keys.Any() }

// who returns whose key, token or secret the text is.
func (d *Door) who(r *http.Request, text string) (Principal, error) {
	if !strings.HasPrefix(text, secretPrefix) {
		if d.opts.Token != nil && !strings.HasPrefix(text, keyPrefix) {
			return d.opts.Token(r, text)
		}
		return d.opts.Keys.Authenticate(r.Context(), text)
	}
	switch {
	case !d.opts.Secret.is(text):
		return Principal{}, fault.New(fault.Unauthorized, "this is not the local secret of this gateway").
			WithHint("the user who started it prints it with: toolfit secret")
	case d.opts.Keys.Any():
		return Principal{}, fault.New(fault.Unauthorized, "there are keys, so the local secret opens nothing").
			WithHint("send a key: Authorization: Bearer tf_…")
	case !d.isDirect(r):
		return Principal{}, fault.New(fault.Unauthorized, "the local secret is for callers on this machine, not behind a proxy").
			WithHint("make a key: toolfit keys create NAME")
	}
	return Owner(), nil
}

// isLocal reports whether the caller is our own user on this machine.
func (d *Door) isLocal(r *http.Request) bool {
	return d.isDirect(r) && d.opts.Peer(r) != inbound.OtherUser
}

// isDirect reports whether the request comes directly from this machine. Only the connection's
// address counts, never a header; and a configured host name means that a proxy on this machine
// may be in between.
func (d *Door) isDirect(r *http.Request) bool {
	peer := peerOf(r)
	return peer.IsLoopback() && !IsForwarded(r) && !d.opts.Proxies.has(peer) && isHere(hostOf(r.Host))
}

// knows reports whether a host, with or without a port, is ours.
func (d *Door) knows(hostport string) bool {
	host := hostOf(hostport)
	return isHere(host) || len(d.hosts) > 0 && (d.hosts[host] || d.hosts[strings.ToLower(hostport)])
}

// hostOf returns a host without its port.
func hostOf(hostport string) string {
	host := hostport
	at := strings.LastIndexByte(host, ':')
	if at >= 0 && (strings.IndexByte(host, ':') == at || strings.HasPrefix(host, "[") && host[at-1] == ']') {
		host = host[:at]
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

// isHere reports whether a host means this machine.
func isHere(host string) bool {
	if host == "localhost" {
		return true
	}
	if host == "" || host[0] != ':' && (host[0] < '0' || host[0] > '9') {
		return false // not an address; parsing it would cost an allocation
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// IsLoopback reports whether an address to listen on can be reached only from this machine.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && isHere(host)
}
