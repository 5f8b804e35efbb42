package access_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

func networks(list ...string) access.Trusted {
	var t access.Trusted
	for _, s := range list {
		t = append(t, netip.MustParsePrefix(s))
	}
	return t
}

// request comes from the address with pairs of headers.
func request(from string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/mcp", nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8420", from
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestClientBehindProxies(t *testing.T) {
	const xff, proto, host = "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"
	trusted := networks("10.0.0.0/8", "::1/128", "127.0.0.1/32")
	cases := []struct {
		name       string
		from       string
		headers    []string
		addr, want string // want is scheme://host
	}{
		{"without a proxy the connection tells", "192.0.2.1:5", nil, "192.0.2.1", "http://127.0.0.1:8420"},
		{"a stranger's headers are not believed", "192.0.2.1:5", []string{xff, "127.0.0.1", proto, "https", host, "a.b"}, "192.0.2.1",
			"http://127.0.0.1:8420"},
		{"a trusted proxy's headers are", "10.1.2.3:5", []string{xff, "192.0.2.9", proto, "https", host, "a.b"}, "192.0.2.9", "https://a.b"},
		{"the client is the last that is no proxy of ours", "10.1.2.3:5", []string{xff, "127.0.0.1, 192.0.2.9, 10.9.9.9"}, "192.0.2.9",
			"http://127.0.0.1:8420"},
		{"several headers are one list", "10.1.2.3:5", []string{xff, "198.51.100.1", xff, "192.0.2.9"}, "192.0.2.9", "http://127.0.0.1:8420"},
		{"what cannot be read ends the walk", "10.1.2.3:5", []string{xff, "192.0.2.9, unknown, 10.9.9.9"}, "10.9.9.9", "http://127.0.0.1:8420"},
		{"a proxy that says nothing is the client", "10.1.2.3:5", nil, "10.1.2.3", "http://127.0.0.1:8420"},
		{"only proxies in the list: the farthest", "10.1.2.3:5", []string{xff, "10.0.0.1, 10.0.0.2"}, "10.0.0.1", "http://127.0.0.1:8420"},
		{"an address may have a port", "10.1.2.3:5", []string{xff, "192.0.2.9:4711"}, "192.0.2.9", "http://127.0.0.1:8420"},
		{"IPv6, with and without brackets", "[::1]:5", []string{xff, "2001:db8::1, [::1], [::1]:99"}, "2001:db8::1", "http://127.0.0.1:8420"},
		{"IPv4 in IPv6 is IPv4", "[::ffff:10.0.0.1]:5", []string{xff, "::ffff:192.0.2.9"}, "192.0.2.9", "http://127.0.0.1:8420"},
		{"another scheme is not taken", "10.1.2.3:5", []string{proto, "javascript"}, "10.1.2.3", "http://127.0.0.1:8420"},
		{"the nearest proxy has the last word", "10.1.2.3:5", []string{proto, "http, HTTPS", host, "evil, a.b"}, "10.1.2.3", "https://a.b"},
		{"an address that is none is the zero one", "@", []string{xff, "127.0.0.1"}, "invalid IP", "http://127.0.0.1:8420"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			addr, scheme, host := trusted.Client(request(c.from, c.headers...))
			if addr.String() != c.addr || scheme+"://"+host != c.want {
				t.Errorf("got %s, %s://%s; want %s, %s", addr, scheme, host, c.addr, c.want)
			}
		})
	}
	secure := request("192.0.2.1:5")
	secure.TLS = &tls.ConnectionState{}
	if _, scheme, _ := trusted.Client(secure); scheme != "https" {
		t.Errorf("a TLS connection is %s", scheme)
	}
}

func TestWhoComesThroughAProxyIsNeverLocal(t *testing.T) {
	cases := []struct {
		name    string
		proxies access.Trusted
		from    string
		headers []string
		local   bool
	}{
		{"straight from this machine", nil, loopback, nil, true},
		{"straight from this machine, with a proxy elsewhere", networks("10.0.0.0/8"), loopback, nil, true},
		{"an untrusted peer's forwarded loopback", nil, "192.0.2.1:5", []string{"X-Forwarded-For", "127.0.0.1"}, false},
		{"a trusted peer's forwarded loopback", networks("192.0.2.0/24"), "192.0.2.1:5", []string{"X-Forwarded-For", "127.0.0.1"}, false},
		{"a proxy on this machine that nobody named", nil, loopback, []string{"X-Forwarded-For", "192.0.2.1"}, false},
		{"one that forwards the scheme alone", nil, loopback, []string{"X-Forwarded-Proto", "https"}, false},
		{"one that forwards the host alone", nil, loopback, []string{"X-Forwarded-Host", "localhost"}, false},
		{"one that uses the standard header", nil, loopback, []string{"Forwarded", "for=127.0.0.1"}, false},
		{"one with a header of its own", nil, loopback, []string{"X-Real-IP", "127.0.0.1"}, false},
		{"one that names itself", nil, loopback, []string{"Via", "1.1 cache"}, false},
		{"one that forwards the port alone", nil, loopback, []string{"X-Forwarded-Port", "443"}, false},
		{"a CDN", nil, loopback, []string{"Cf-Connecting-Ip", "192.0.2.1"}, false},
		{"another CDN", nil, loopback, []string{"Fastly-Client-Ip", "192.0.2.1"}, false},
		{"a balancer", nil, loopback, []string{"X-Envoy-External-Address", "192.0.2.1"}, false},
		{"a client's own headers are none of these", nil, loopback, []string{"X-Request-Id", "1", "Traceparent", "00-1", "Accept", "*/*",
			"Cookie", "a=b"}, true},
		{"an empty header is one too", nil, loopback, []string{"X-Forwarded-For", ""}, false},
		{"a trusted proxy on this machine for a client elsewhere", networks("127.0.0.0/8"), loopback, []string{"X-Forwarded-For", "192.0.2.1"},
			false},
		{"a trusted proxy on this machine that says nothing", networks("127.0.0.0/8"), loopback, nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			who, err := keyless(access.DoorOptions{Proxies: c.proxies}).Admit(request(c.from, c.headers...))
			if c.local && (err != nil || who != access.Local()) || !c.local && !fault.Is(err, fault.Unauthorized) {
				t.Errorf("got %+v, %v", who, err)
			}
		})
	}
}

func TestABareProxyIsNotLocal(t *testing.T) {
	r := request(loopback) // nginx without any setting: HTTP/1.0, and our own address as the Host
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0
	if who, err := keyless(access.DoorOptions{}).Admit(r); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("got %+v, %v", who, err)
	}
}

func TestTheForwardedHostMustBeOneOfOurs(t *testing.T) {
	text, row := newKey(t, "ci")
	keys := access.New(source(func() ([]store.Key, error) { return []store.Key{row}, nil }), nil)
	door := access.NewDoor(access.DoorOptions{Keys: keys, Hosts: []string{"tools.example.com"}, Proxies: networks("10.0.0.0/8")})
	for host, known := range map[string]bool{"tools.example.com": true, "tools.example.com:443": true, "evil.example": false} {
		_, err := door.Admit(request("10.0.0.1:5", "X-Forwarded-Host", host, "Authorization", "Bearer "+text))
		if known && err != nil || !known && !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", host, err)
		}
	}
}
