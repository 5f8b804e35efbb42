package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

func TestOnlyPublicAddressesAreDialed(t *testing.T) {
	g := New(nil)
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:4700::1111": true,
		"127.0.0.1": false, "::1": false, "0.0.0.0": false, "::": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "fe80::1": false, "fd00::1": false, "100.64.0.1": false, "100.100.100.200": false, "192.0.0.192": false,
		"198.18.0.1": false, "224.0.0.1": false, "ff02::1": false, "255.255.255.255": false, "240.0.0.1": false,
		"::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "64:ff9b::7f00:1": false, "64:ff9b::5db8:d822": true,
		"2002:7f00:1::": false, "2002:a9fe:a9fe::1": false, "::127.0.0.1": false, "2001:db8::1": false, "fec0::1": false,
	} {
		if got := g.May(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: may be dialed %v, want %v", address, got, want)
		}
	}
}

func TestAddressThatTheConfigurationSpellsOutIsMeant(t *testing.T) {
	for name, c := range map[string]struct {
		allowed string
		url     string
		address string
		want    bool
	}{
		"a literal base":              {"", "http://127.0.0.1:9000", "127.0.0.1", true},
		"its neighbor":                {"", "http://10.0.0.1:9000", "10.0.0.2", false},
		"localhost":                   {"", "http://localhost:9000/v1", "::1", true},
		"a literal of IPv6":           {"", "http://[::1]:9000", "::1", true},
		"the description's address":   {"", "http://192.168.0.5/openapi.json", "192.168.0.5", true},
		"a name means what it says":   {"", "http://metadata.example.com", "169.254.169.254", false},
		"a network that is allowed":   {"10.0.0.0/8", "", "10.9.9.9", true},
		"not another":                 {"10.0.0.0/8", "", "192.168.1.1", false},
		"an allowed one in disguise":  {"10.0.0.0/8", "", "::ffff:10.0.0.1", true},
		"a file is no address at all": {"", "127.0.0.1", "127.0.0.1", false},
	} {
		var allowed []netip.Prefix
		if c.allowed != "" {
			allowed = append(allowed, netip.MustParsePrefix(c.allowed))
		}
		if got := New(allowed, c.url).May(netip.MustParseAddr(c.address)); got != c.want {
			t.Errorf("%s: %s may be dialed %v, want %v", name, c.address, got, c.want)
		}
	}
}

func TestHostsOfTheConfigurationMayBeInAPrivateNetwork(t *testing.T) {
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer private.Close()
	named := strings.Replace(private.URL, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		trusted, url string
		ok           bool
	}{
		"trusted":             {named, named, true},
		"in other letters":    {strings.Replace(named, "localhost", "LocalHost", 1), named, true},
		"another host":        {"http://other.example.com", named, false},
		"the same by address": {named, private.URL, false},
	} {
		client := http.Client{Transport: New(nil).Trusting(c.trusted).Direct()}
		resp, err := client.Get(c.url)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// someProxy answers everything itself. It is one for all runs, because the environment is read once.
var someProxy = sync.OnceValue(func() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "for "+r.URL.String()) }))
})

func TestProxyOfTheEnvironmentIsUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", someProxy().URL)
	t.Setenv("NO_PROXY", "")
	client := http.Client{Transport: New(nil).Environment()}
	for url, want := range map[string]string{
		"http://login.example.com/keys": "for http://login.example.com/keys",
		"http://169.254.169.254/":       "",
		"http://10.0.0.1/":              "",
	} {
		resp, err := client.Get(url)
		if err != nil {
			if want != "" || !strings.Contains(err.Error(), "is not public") {
				t.Errorf("%s: %v", url, err)
			}
			continue
		}
		said, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(said) != want {
			t.Errorf("%s: %q", url, said)
		}
	}
}
