package access_test

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/store"
)

func TestDoor(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	keys := access.New(st, nil)
	door := access.NewDoor(keys, []string{"tools.Example.com"}, nil)
	const loopback, far = "127.0.0.1:5000", "192.0.2.7:5000"
	cases := []struct {
		name, host, origin, auth, from string
		code                           fault.Code // "": comes in
	}{
		{"loopback needs no key while there is none", "127.0.0.1:8420", "", "", loopback, ""},
		{"so does localhost, in any case", "LOCALHOST:8420", "", "", loopback, ""},
		{"and IPv6", "[::1]:8420", "", "", "[::1]:5000", ""},
		{"a host of the configuration is known, in any case and with any port, but not local", "TOOLS.example.com:443", "", "", loopback, fault.Unauthorized},
		{"a page of our own", "localhost:8420", "http://localhost:8420", "", loopback, ""},
		{"a name that points here is no host of ours", "evil.example:8420", "", "", loopback, fault.Forbidden},
		{"a name that starts like loopback is none", "127.0.0.1.evil.example", "", "", loopback, fault.Forbidden},
		{"a host like one of ours is none", "xtools.example.com", "", "", loopback, fault.Forbidden},
		{"a page of another site", "localhost:8420", "https://evil.example", "", loopback, fault.Forbidden},
		{"a page without an origin of its own", "localhost:8420", "null", "", loopback, fault.Forbidden},
		{"an origin that is no URL", "localhost:8420", "://", "", loopback, fault.Forbidden},
		{"an origin with a name before the host", "localhost:8420", "http://localhost@evil.example", "", loopback, fault.Forbidden},
		{"another machine needs a key", "tools.example.com", "", "", far, fault.Unauthorized},
		{"a wrong key is refused also on loopback", "localhost", "", "Bearer tf_x_y", loopback, fault.Unauthorized},
		{"an unknown scheme is no way round", "localhost", "", "Digest x", loopback, fault.Unauthorized},
		{"an empty key is no way round", "localhost", "", "Bearer ", loopback, fault.Unauthorized},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/mcp", nil)
			r.Host, r.RemoteAddr = c.host, c.from
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.auth != "" {
				r.Header.Set("Authorization", c.auth)
			}
			_, err := door.Admit(r)
			if c.code == "" && err != nil || c.code != "" && !fault.Is(err, c.code) {
				t.Errorf("got %v, want %q", err, c.code)
			}
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
