package access_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	loopback = "127.0.0.1:5000"
	far      = "192.0.2.7:5000"
	secret   = access.LocalSecret("tfl_0123456789abcdef0123456789abcdef0123456789abcdef")
)

// same is the answer of a system that sees our own user at the other end.
func same(*http.Request) inbound.User { return inbound.SameUser }

// keyless makes a door without keys.
func keyless(opts access.DoorOptions) *access.Door {
	opts.Keys = access.New(source(func() ([]store.Key, error) { return nil, nil }), nil)
	if opts.Peer == nil {
		opts.Peer = same
	}
	return access.NewDoor(opts)
}

func check(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if want == "" && err != nil || want != "" && !fault.Is(err, want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestDoor(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	door := access.NewDoor(access.DoorOptions{Keys: access.New(st, nil), Hosts: []string{"tools.Example.com"}, Peer: same})
	cases := []struct {
		name, host, auth, from string
		code                   fault.Code // "": comes in
	}{
		{"loopback needs no key while there is none", "127.0.0.1:8420", "", loopback, ""},
		{"so does localhost, in any case", "LOCALHOST:8420", "", loopback, ""},
		{"and IPv6", "[::1]:8420", "", "[::1]:5000", ""},
		{"a host of the configuration is known, in any case and with any port, but not local", "TOOLS.example.com:443", "", loopback,
			fault.Unauthorized},
		{"a name that points here is no host of ours", "evil.example:8420", "", loopback, fault.Forbidden},
		{"a name that starts like loopback is none", "127.0.0.1.evil.example", "", loopback, fault.Forbidden},
		{"a host like one of ours is none", "xtools.example.com", "", loopback, fault.Forbidden},
		{"another machine needs a key", "tools.example.com", "", far, fault.Unauthorized},
		{"a wrong key is refused also on loopback", "localhost", "Bearer tf_x_y", loopback, fault.Unauthorized},
		{"an unknown scheme is no way round", "localhost", "Digest x", loopback, fault.Unauthorized},
		{"an empty key is no way round", "localhost", "Bearer ", loopback, fault.Unauthorized},
		{"what a browser keeps from a password box is no way in", "localhost", "Basic dGY6eA==", loopback, fault.Unauthorized},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := request(c.from)
			r.Host = c.host
			if c.auth != "" {
				r.Header.Set("Authorization", c.auth)
			}
			_, err := door.Admit(r)
			check(t, err, c.code)
		})
	}
}

func TestOnlyOurOwnPagesComeIn(t *testing.T) {
	const origin, site, mode, dest = "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"
	proxies := networks("10.0.0.0/8")
	cases := []struct {
		name    string
		method  string
		host    string
		headers []string
		code    fault.Code
	}{
		{"our own page", "POST", "localhost:8420", []string{origin, "http://localhost:8420", site, "same-origin"}, ""},
		{"our own page in a browser without Sec-Fetch", "POST", "localhost:8420", []string{origin, "http://localhost:8420"}, ""},
		{"a page on another port of this machine", "POST", "localhost:8420", []string{origin, "http://localhost:9999"}, fault.Forbidden},
		{"the same by its fetch metadata alone", "GET", "localhost:8420", []string{site, "same-site", mode, "no-cors", dest, "script"},
			fault.Forbidden},
		{"a page of the other name for this machine", "POST", "localhost:8420", []string{origin, "http://127.0.0.1:8420"}, fault.Forbidden},
		{"our page over another scheme", "POST", "localhost:8420", []string{origin, "https://localhost:8420"}, fault.Forbidden},
		{"a page of another site", "POST", "localhost:8420", []string{origin, "https://evil.example", site, "cross-site"}, fault.Forbidden},
		{"a page that claims our origin from another site", "POST", "localhost:8420", []string{origin, "http://localhost:8420", site,
			"cross-site"}, fault.Forbidden},
		{"a page without an origin of its own", "POST", "localhost:8420", []string{origin, "null"}, fault.Forbidden},
		{"an origin that is no URL", "POST", "localhost:8420", []string{origin, "://"}, fault.Forbidden},
		{"an origin with a name before the host", "POST", "localhost:8420", []string{origin, "http://localhost@evil.example"}, fault.Forbidden},
		{"two origins", "POST", "localhost:8420", []string{origin, "http://localhost:8420", origin, "http://localhost:8420"}, fault.Forbidden},
		{"an empty origin", "POST", "localhost:8420", []string{origin, ""}, fault.Forbidden},
		{"an address that somebody typed", "GET", "localhost:8420", []string{site, "none", mode, "navigate", dest, "document"}, ""},
		{"a link on another site", "GET", "localhost:8420", []string{site, "cross-site", mode, "navigate", dest, "document"}, ""},
		{"a form on another site", "POST", "localhost:8420", []string{site, "cross-site", mode, "navigate", dest, "document"}, fault.Forbidden},
		{"a frame on another site", "GET", "localhost:8420", []string{site, "cross-site", mode, "navigate", dest, "iframe"}, fault.Forbidden},
		{"a picture on another site", "GET", "localhost:8420", []string{site, "cross-site", mode, "no-cors", dest, "image"}, fault.Forbidden},
		{"a WebSocket of another port", "GET", "localhost:8420", []string{origin, "http://localhost:1", site, "same-site", mode, "websocket"},
			fault.Forbidden},
		{"a listed origin", "POST", "localhost:8420", []string{origin, "http://localhost:6274", site, "same-site"}, ""},
		{"a listed origin with its default port", "POST", "localhost:8420", []string{origin, "https://app.example.com", site, "cross-site"}, ""},
		{"a listed host on another port", "POST", "localhost:8420", []string{origin, "http://localhost:62740"}, fault.Forbidden},
		{"a name of the configuration without a port, over http", "POST", "tools.example.com", []string{origin, "http://tools.example.com"}, ""},
		{"the same on another port than it was asked for", "POST", "tools.example.com", []string{origin, "http://tools.example.com:8443"},
			fault.Forbidden},
		{"the same over https, of which no trusted proxy speaks", "POST", "tools.example.com", []string{origin, "https://tools.example.com"},
			fault.Forbidden},
		{"a name with a port, behind a proxy that drops it", "POST", "ports.example.com", []string{origin, "http://ports.example.com:8443"}, ""},
		{"the public URL, whatever the proxy says", "POST", "public.example.com", []string{origin, "https://public.example.com"}, ""},
		{"the public URL over http", "POST", "public.example.com", []string{origin, "http://other.example.com"}, fault.Forbidden},
		{"a program", "POST", "localhost:8420", nil, ""},
	}
	door := keyless(access.DoorOptions{
		Hosts: []string{"tools.example.com", "ports.example.com:8443", "ports.example.com"}, PublicURL: "https://public.example.com/base",
		Origins: []string{"http://localhost:6274", "https://App.example.com:443"}, Proxies: proxies,
	})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := request(loopback, c.headers...)
			r.Method, r.Host = c.method, c.host
			check(t, door.Check(r), c.code)
		})
	}
	secure := request("10.1.2.3:5", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "tools.example.com", origin, "https://tools.example.com")
	if err := door.Check(secure); err != nil {
		t.Errorf("a page over https behind a trusted proxy: %v", err)
	}
}

func TestWhoIsLocalAndWhoAdministers(t *testing.T) {
	another := func(*http.Request) inbound.User { return inbound.OtherUser }
	unknown := func(*http.Request) inbound.User { return inbound.Unknown }
	bearer := []string{"Authorization", "Bearer " + string(secret)}
	cases := []struct {
		name    string
		peer    func(*http.Request) inbound.User
		from    string
		headers []string
		want    access.Principal
		code    fault.Code
	}{
		{"our own user lists and calls", same, loopback, nil, access.Local(), ""},
		{"and administers with the secret", same, loopback, bearer, access.Owner(), ""},
		{"another user of the machine does not come in", another, loopback, nil, access.Principal{}, fault.Unauthorized},
		{"where the system cannot tell, whoever is on this machine calls", unknown, loopback, nil, access.Local(), ""},
		{"the secret is proof enough, as behind the relay of a virtual machine", another, loopback, bearer, access.Owner(), ""},
		{"a wrong secret", same, loopback, []string{"Authorization", "Bearer tfl_0123456789abcdef0123456789abcdef0123456789abcdee"},
			access.Principal{}, fault.Unauthorized},
		{"the beginning of the secret", same, loopback, []string{"Authorization", "Bearer tfl_"}, access.Principal{}, fault.Unauthorized},
		{"the secret from another machine", same, far, bearer, access.Principal{}, fault.Unauthorized},
		{"the secret through a proxy", same, loopback, append([]string{"Via", "1.1 proxy"}, bearer...), access.Principal{}, fault.Unauthorized},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := request(c.from, c.headers...)
			who, err := keyless(access.DoorOptions{Secret: secret, Peer: c.peer}).Admit(r)
			if who != c.want {
				t.Errorf("got %+v", who)
			}
			check(t, err, c.code)
		})
	}
	if _, err := keyless(access.DoorOptions{}).Admit(request(loopback, "Authorization", "Bearer ")); err == nil {
		t.Error("a gateway without a secret takes an empty one")
	}
	_, row := newKey(t, "ci")
	keyed := access.NewDoor(access.DoorOptions{Secret: secret, Peer: same, Keys: access.New(source(func() ([]store.Key,
		error) {
		return []store.Key{row}, nil
	}), nil)})
	if _, err := keyed.Admit(request(loopback, bearer...)); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("with the first key the secret opens nothing: %v", err)
	}
}

func TestIdentityProvidersCountAsKeys(t *testing.T) {
	secret := access.NewLocalSecret()
	bearer := "Bearer " + string(secret)
	door := keyless(access.DoorOptions{Secret: secret, Peer: same, Token: func(_ *http.Request, token string) (access.Principal, error) {
		t.Errorf("a provider is asked about %q", token)
		return access.Principal{}, nil
	}})
	if !door.Closed() {
		t.Error("the door is open")
	}
	if who, err := door.Admit(request(loopback)); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("a local caller without the secret: %+v, %v", who, err)
	}
	if who, err := door.Admit(request(loopback, "Authorization", bearer)); err != nil || who != access.Owner() {
		t.Errorf("with the secret: %+v, %v", who, err)
	}
	for name, r := range map[string]*http.Request{
		"from elsewhere": request("192.0.2.1:5", "Authorization", bearer), "behind a proxy": request(loopback, "Authorization", bearer, "Via", "x"),
		"a wrong secret": request(loopback, "Authorization", bearer+"x"), "a key": request(loopback, "Authorization", "Bearer tf_aaaaaaaa_bbbb"),
	} {
		if who, err := door.Admit(r); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
}

func TestAPasswordBoxOpensThePickPageAlone(t *testing.T) {
	text, row := newKey(t, "ci")
	door := access.NewDoor(access.DoorOptions{Keys: access.New(source(func() ([]store.Key, error) { return []store.Key{row}, nil }), nil),
		Peer: same})
	r := request(loopback)
	r.SetBasicAuth("anybody", text)
	if who, err := door.AdmitPassword(r); err != nil || who.ID != row.ID {
		t.Errorf("the pick page: %+v, %v", who, err)
	}
	if _, err := door.Admit(r); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("every other page: %v", err)
	}
	r.Header.Set("Origin", "http://localhost:1")
	if _, err := door.AdmitPassword(r); !fault.Is(err, fault.Forbidden) {
		t.Errorf("the pick page for another page: %v", err)
	}
}

func TestWhatAnotherReplicaPassedOnIsAdmittedByItsPassAlone(t *testing.T) {
	ann := access.Principal{ID: "k1", Name: "ann", Role: access.Caller, Profile: "ops"}
	door := keyless(access.DoorOptions{Passed: func(r *http.Request) (access.Principal, bool) {
		return ann, r.Header.Get(access.PassHeader) == "good"
	}})
	good := request("10.1.2.3:5", access.PassHeader, "good", "X-Forwarded-For", "1.2.3.4")
	good.Host = "unknown.example.com"
	check(t, door.Check(good), "")
	who, err := door.Admit(good)
	check(t, err, "")
	if who != ann {
		t.Errorf("admitted %v", who)
	}
	for name, d := range map[string]*access.Door{"a wrong pass": door, "without replicas": keyless(access.DoorOptions{})} {
		r := request(loopback, access.PassHeader, "bad")
		check(t, d.Check(r), fault.Unauthorized)
		if who, err := d.Admit(r); who != (access.Principal{}) || !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %v, %v", name, who, err)
		}
	}
}

func TestWhatBrowsersSendIsJSON(t *testing.T) {
	cases := []struct {
		name    string
		method  string
		headers []string
		code    fault.Code
	}{
		{"curl -d", "POST", []string{"Content-Type", "application/x-www-form-urlencoded"}, ""},
		{"a program without a type", "POST", nil, ""},
		{"a page's JSON", "POST", []string{"Origin", "http://x", "Content-Type", "application/json; charset=utf-8"}, ""},
		{"a page's text", "POST", []string{"Origin", "http://x", "Content-Type", "text/plain"}, fault.BadRequest},
		{"a page's form", "POST", []string{"Sec-Fetch-Mode", "cors", "Content-Type", "application/x-www-form-urlencoded"}, fault.BadRequest},
		{"a page without a type", "PUT", []string{"Cookie", "a=b"}, fault.BadRequest},
		{"a page that reads", "GET", []string{"Cookie", "a=b"}, ""},
		{"a page's JSON in name only", "POST", []string{"Cookie", "a=b", "Content-Type", "application/jsonx"}, fault.BadRequest},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := request(loopback, c.headers...)
			r.Method = c.method
			check(t, access.CheckContent(r), c.code)
		})
	}
}

func TestOnlyLoopbackCanBeListenedOnWithoutKeys(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "127.9.9.9:1": true, "[::ffff:127.0.0.1]:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "192.0.2.1:1": false, "example.com:1": false, "127.0.0.1": false, "": false,
	} {
		if access.IsLoopback(addr) != want {
			t.Errorf("%q: want %v", addr, want)
		}
	}
}

// The door stands before every request: no allocation, at most a microsecond.
func BenchmarkDoor(b *testing.B) {
	text, row := newKey(b, "ci")
	keys := access.New(source(func() ([]store.Key, error) { return []store.Key{row}, nil }), nil)
	for name, c := range map[string]struct {
		door *access.Door
		r    *http.Request
	}{
		"program with a key": {access.NewDoor(access.DoorOptions{Keys: keys, Peer: same}), request(loopback, "Authorization", "Bearer "+text,
			"Accept", "a", "Content-Type", "b", "User-Agent", "c")},
		"local program": {keyless(access.DoorOptions{}), request(loopback, "Accept", "a", "Content-Type", "b", "User-Agent", "c",
			"Mcp-Session-Id", "d")},
		"page": {keyless(access.DoorOptions{Hosts: []string{"tools.example.com"}}), request(loopback, "Accept", "a", "Cookie", "b", "User-Agent",
			"c",
			"Origin", "http://127.0.0.1:8420", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors")},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.door.Admit(c.r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
