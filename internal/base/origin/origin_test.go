package origin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestOriginIsSchemeHostAndPort(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://a.example/x?key=1", "https://A.example:443/y", true},
		{"http://a.example:80", "http://a.example", true},
		{"http://[::1]:8080/", "http://[::1]:8080/x", true},
		{"http://a.example", "https://a.example", false},
		{"https://a.example", "https://a.example:8443", false},
		{"https://a.example", "https://b.a.example", false},
		{"https://a.example", "https://a.example.evil", false},
		{"http://a.example:443", "https://a.example", false},
	} {
		a, b := parsed(t, c.a), parsed(t, c.b)
		if Same(a, b) != c.same || (Of(a) == Of(b)) != c.same {
			t.Errorf("%s and %s: same is %t, %s and %s", c.a, c.b, Same(a, b), Of(a), Of(b))
		}
	}
	if got := Shown("https://user:pw@a.example/v1?key=secret#secret"); got != "https://a.example/v1" {
		t.Errorf("got %s", got)
	}
	if got := Of(parsed(t, "https://user:pw@[::1]:8443/path?key=secret#x")); got != "https://[::1]:8443" {
		t.Errorf("got %s", got)
	}
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func FuzzOriginsAreEqualWhereURLsAreSame(f *testing.F) {
	f.Add("https://a.example:443/x", "HTTPS://A.example")
	f.Add("http://[::1]:80", "http://[::1]")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err := url.Parse(a)
		if err != nil {
			return
		}
		y, err := url.Parse(b)
		if err != nil {
			return
		}
		if ascii(x.Host+x.Scheme) && ascii(y.Host+y.Scheme) && Same(x, y) != (Of(x) == Of(y)) {
			t.Errorf("%q and %q: same is %t, %q and %q", a, b, Same(x, y), Of(x), Of(y))
		}
	})
}

// ascii: the folding of other letters, which no host on the wire has, differs.
func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e })
}

// pair are two servers: one that sends on where ?to says, and another. Both note what they got.
func pair(t *testing.T) (one, other *httptest.Server, seen *[]http.Header) {
	t.Helper()
	seen = new([]http.Header)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, r.Header.Clone())
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
	})
	one, other = httptest.NewServer(handler), httptest.NewServer(handler)
	t.Cleanup(one.Close)
	t.Cleanup(other.Close)
	return one, other, seen
}

func ask(t *testing.T, method, address string, body io.Reader) error {
	t.Helper()
	req, err := http.NewRequest(method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Accept", "Authorization", "Cookie", "X-Api-Key", "If-None-Match", "User-Agent", "Referer"} {
		req.Header.Set(name, "s3cret")
	}
	client := &http.Client{CheckRedirect: Redirect}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

func TestRedirectToAnotherHostCarriesAcceptAndUserAgentAlone(t *testing.T) {
	one, other, seen := pair(t)
	back := other.URL + "/?to=" + url.QueryEscape(one.URL+"/again")
	if err := ask(t, http.MethodGet, one.URL+"/?to="+url.QueryEscape(back), nil); err != nil || len(*seen) != 3 {
		t.Fatalf("%d requests, %v", len(*seen), err)
	}
	for i, header := range (*seen)[1:] {
		var carried []string
		for name, values := range header {
			if values[0] == "s3cret" || strings.Contains(values[0], one.URL) {
				carried = append(carried, name)
			}
		}
		slices.Sort(carried)
		if !slices.Equal(carried, []string{"Accept", "User-Agent"}) {
			t.Errorf("hop %d carries %v", i+1, carried)
		}
	}
}

func TestRedirectWithinOneHostKeepsCredentials(t *testing.T) {
	one, _, seen := pair(t)
	if err := ask(t, http.MethodPost, one.URL+"/?to=/there", strings.NewReader("x")); err != nil || len(*seen) != 2 {
		t.Fatalf("%d requests, %v", len(*seen), err)
	}
	if got := (*seen)[1].Get("X-Api-Key"); got != "s3cret" {
		t.Errorf("got %q", got)
	}
}

func TestBodyDoesNotFollowARedirectToAnotherHost(t *testing.T) {
	one, other, seen := pair(t)
	err := ask(t, http.MethodPost, one.URL+"/?to="+url.QueryEscape(other.URL), strings.NewReader("x"))
	if err == nil || len(*seen) != 1 || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("%d requests, %v", len(*seen), err)
	}
}

func TestRedirectGivesUpNoEncryption(t *testing.T) {
	via := []*http.Request{{Method: http.MethodGet, URL: parsed(t, "https://a.example")}}
	for _, to := range []string{"http://a.example", "ftp://a.example", "file:///etc/passwd"} {
		if Redirect(&http.Request{URL: parsed(t, to)}, via) == nil {
			t.Errorf("%s is followed", to)
		}
	}
}
