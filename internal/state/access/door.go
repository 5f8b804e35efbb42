package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
)

// Door decides who comes in over HTTP. It is the same for every route.
type Door struct {
	opts    DoorOptions
	hosts   map[string]bool // names by which we are reached, beside loopback
	own     map[string]bool // origins of those names, as scheme://host
	origins map[string]bool // origins of other pages that may come in
}

// DoorOptions say whom a Door lets in.
type DoorOptions struct {
	Keys      *Keys
	Secret    LocalSecret                      // what lets local callers administer; "": nobody may
	Hosts     []string                         // names by which we are reached, with or without a port
	PublicURL string                           // another such name, with its scheme
	Origins   []string                         // pages of other sites that may come in
	Proxies   Trusted                          // behind one of them the Host is the one that it was asked for
	Peer      func(*http.Request) inbound.User // nil: inbound.Peer
}

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

// Check refuses requests that were not meant for us, and those of pages that are not ours.
// It reads headers alone.
func (d *Door) Check(r *http.Request) error {
	if inbound.FromOwner(r) {
		return checkSocket(r)
	}
	scheme, host := d.opts.Proxies.asked(r)
	if !d.knows(host) {
		return fault.New(fault.Forbidden, "Host %q is not served here", host).WithHint("add it to hosts in the configuration")
	}
	return d.checkPage(r, scheme, host)
}

// checkSocket refuses what something passed on to our socket: its sender is somebody else.
// Commands, which are all that uses it, do not come through a proxy or from a page.
func checkSocket(r *http.Request) error {
	if IsForwarded(r) || FromBrowser(r) {
		return fault.New(fault.Forbidden, "the socket is for programs of the gateway's own user, not behind a proxy")
	}
	return nil
}

// Admit tells who sends the request.
func (d *Door) Admit(r *http.Request) (Principal, error) {
	if err := d.Check(r); err != nil {
		return Principal{}, err
	}
	header := r.Header.Get("Authorization")
	switch {
	case header != "":
	case inbound.FromOwner(r):
		return Owner(), nil // also where there are keys: its user has the store
	case d.opts.Keys.Any():
		return Principal{}, refuse()
	case d.isLocal(r):
		return Local(), nil
	default:
		return Principal{}, fault.New(fault.Unauthorized, "there are no keys, so only programs of the gateway's own user on this machine are served, and none behind a proxy").
			WithHint("make a key: toolfit keys create NAME")
	}
	if len(header) <= 7 || !strings.EqualFold(header[:7], "bearer ") {
		return Principal{}, refuse()
	}
	return d.who(r, strings.TrimSpace(header[7:]))
}

// AdmitPassword is Admit for the one page that a browser opens with a password box. All
// other pages ignore what stands in such a box, for a browser sends it along unasked.
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

// who tells whose key or secret the text is.
func (d *Door) who(r *http.Request, text string) (Principal, error) {
	if !strings.HasPrefix(text, secretPrefix) {
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

// isLocal tells whether the caller is the user that we run as, on this machine.
func (d *Door) isLocal(r *http.Request) bool {
	return d.isDirect(r) && d.opts.Peer(r) != inbound.OtherUser
}

// isDirect tells whether the request comes straight from this machine. The address of the
// connection counts, never one that a header names; and a name of the configuration is one
// by which others reach us, through something on this machine.
func (d *Door) isDirect(r *http.Request) bool {
	peer := peerOf(r)
	return peer.IsLoopback() && !IsForwarded(r) && !d.opts.Proxies.has(peer) && isHere(hostOf(r.Host))
}

// knows tells whether a host, with or without a port, is one of ours.
func (d *Door) knows(hostport string) bool {
	host := hostOf(hostport)
	return isHere(host) || len(d.hosts) > 0 && (d.hosts[host] || d.hosts[strings.ToLower(hostport)])
}

// hostOf takes the port off a host.
func hostOf(hostport string) string {
	host := hostport
	if at := strings.LastIndexByte(host, ':'); at >= 0 && (strings.IndexByte(host, ':') == at || strings.HasPrefix(host, "[") && host[at-1] == ']') {
		host = host[:at]
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

// isHere tells whether a host means this machine.
func isHere(host string) bool {
	if host == "localhost" {
		return true
	}
	if host == "" || host[0] != ':' && (host[0] < '0' || host[0] > '9') {
		return false // no address: to find that out by parsing costs an allocation
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// IsLoopback tells whether an address to listen on can be reached from this machine only.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && isHere(host)
}
