package recall

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Account is the account on whose behalf a caller asks. It is passed on to the other services.
type Account struct {
	ID   string
	Type string // user, app or anonymous
}

const anonymous = "anonymous"

// maxAccount limits an account's ID: it is stored with every record.
const maxAccount = 256

// caller is who sent a request.
type caller struct {
	access.Principal
	profile string // what it sees of our catalog
	account Account
}

// admit authenticates the request. On the private prefix a trusted network is enough; everyone else
// needs a key.
func (s *Service) admit(r *http.Request) (caller, error) {
	var who caller
	var err error
	who.account, err = accountOf(r)
	if err != nil {
		return who, err
	}
	inside := strings.HasPrefix(r.URL.Path, private+"/")
	if inside && s.trusts(r) {
		id := who.account.Type + ":" + who.account.ID
		who.Principal = access.Principal{ID: id, Name: id, Role: access.Caller, Profile: s.recall.Profile}
		who.profile = s.recall.Profile
		return who, nil
	}
	who.Principal, err = s.Admit(r)
	if err != nil {
		return who, err
	}
	if !who.MayCall() {
		return who, who.Forbidden("%s may not call tools")
	}
	profile := ""
	if who.Profile == access.AnyProfile { // AnyProfile: use the profile of callers
		profile = s.recall.Profile
	}
	who.profile, err = who.ProfileFor(profile)
	if err != nil {
		return who, err
	}
	if !inside { // a key cannot act for another account
		who.account = Account{ID: who.ID, Type: "app"}
	}
	return who, nil
}

// accountOf reads the headers that name the account. Missing ones count as anonymous.
func accountOf(r *http.Request) (Account, error) {
	a := Account{ID: r.Header.Get("X-Account-Id"), Type: strings.ToLower(r.Header.Get("X-Account-Type"))}
	if old := r.Header.Get("User_id"); a.ID == "" && old != "" { // older callers, who are users
		a.ID = old
		a.Type = cmp.Or(a.Type, "user")
	}
	if a.ID == "" {
		a.ID = anonymous
	}
	if len(a.ID) > maxAccount || !utf8.ValidString(a.ID) {
		return a, wrong("x-account-id", "account", nil)
	}
	switch a.Type {
	case "":
		a.Type = anonymous
	case "user", "app", anonymous:
	default:
		return a, wrong("x-account-type", "accountType", clipped(a.Type))
	}
	return a, nil
}

// trusts reports whether the request comes directly from a trusted network, without a key and not from a
// browser.
func (s *Service) trusts(r *http.Request) bool {
	if len(s.recall.Trust) == 0 || access.FromBrowser(r) || r.Header.Get("Authorization") != "" {
		return false
	}
	proxies := s.Config.Proxies
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	if access.IsForwarded(r) && !within(proxies, peer.Addr().Unmap()) {
		return false
	}
	addr, _, host := access.Trusted(proxies).Client(r)
	return within(s.recall.Trust, addr) && !within(proxies, addr) && s.hosts[hostOf(host)]
}

func within(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr.Unmap().WithZone("")) })
}

// hostsOf returns the host names that callers from trusted networks may use.
func hostsOf(cfg *config.Config) map[string]bool {
	hosts := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true, hostOf(cfg.RecallAddress()): true}
	for _, h := range cfg.Hosts {
		hosts[hostOf(h)] = true
	}
	return hosts
}

// hostOf removes the port.
func hostOf(hostport string) string {
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = h
	}
	return strings.ToLower(strings.Trim(hostport, "[]"))
}
