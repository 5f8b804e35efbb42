package serverjson

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const minimal = `{"name": "io.github.acme/weather", "version": %q, "remotes": [{"type": "streamable-http",
	"url": "https://weather.example.com"}]}`

// registry answers as the official one does, and in other ways.
func registry(t *testing.T) string {
	mux := http.NewServeMux()
	give := func(pattern, text string) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(pattern, "acme") && !strings.Contains(r.URL.EscapedPath(), "io.github.acme%2Fweather") {
				t.Errorf("the name is not one segment of %s", r.URL.EscapedPath())
			}
			fmt.Fprint(w, text)
		})
	}
	give("/v0.1/servers/io.github.acme%2Fweather/versions/latest", fmt.Sprintf(`{"server": `+minimal+`}`, "2.0.0"))
	give("/v0.1/servers/io.github.acme%2Fweather/versions/1.0.0", fmt.Sprintf(`{"server": `+minimal+`}`, "1.0.0"))
	give("/v0.1/servers/a.b%2Fother/versions/latest", fmt.Sprintf(`{"server": `+minimal+`}`, "2.0.0"))
	give("/v0.1/servers/a.b%2Flarge/versions/latest", strings.Repeat(" ", maxDocument+1))
	give("/v0.1/servers/a.b%2Fpage/versions/latest", "<html>")
	mux.HandleFunc("/v0.1/servers/a.b%2Floop/versions/latest", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.EscapedPath(), http.StatusFound)
	})
	mux.HandleFunc("/v0.1/servers/a.b%2Fbroken/versions/latest", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestServersAreFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one/server.json": fmt.Sprintf(minimal, "1.0.0"), "two.json": fmt.Sprintf(minimal, "2.0.0"), "other.json": "[]", "notes.txt": "x",
		"single/server.json": fmt.Sprintf(`{"server": `+strings.Replace(minimal, "weather", "single", 1)+`}`, "3.0.0"),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	web := registry(t)
	file := filepath.Join(dir, "one", "server.json")
	for _, one := range []struct{ from, name, version, want string }{
		{web, "io.github.acme/weather", "", "2.0.0"},
		{web + "/", "io.github.acme/weather", "1.0.0", "1.0.0"},
		{web, "io.github.acme/weather", "latest", "2.0.0"},
		{dir, "io.github.acme/single", "latest", "3.0.0"},
		{web, "io.github.acme/weather", "9", "has no such server or version"},
		{web, "a.b/other", "", "not a.b/other"},
		{web, "a.b/large", "", "larger than 1 MB"},
		{web, "a.b/page", "", "not a server.json"},
		{web, "a.b/loop", "", "redirected too often"},
		{web, "a.b/broken", "", "answered with 500"},
		{"http://127.0.0.1:1", "a.b/c", "", "127.0.0.1:1 could not be reached: dial tcp"},
		{dir, "io.github.acme/weather", "", "more than once: 1.0.0 and 2.0.0"},
		{dir, "io.github.acme/weather", "2.0.0", "2.0.0"},
		{dir, "io.github.acme/single", "", "3.0.0"},
		{dir, "io.github.acme/none", "", "has no server.json of io.github.acme/none"},
		{file, "io.github.acme/weather", "", "1.0.0"},
		{file, "io.github.acme/weather", "2.0.0", "not io.github.acme/weather 2.0.0"},
		{file, "io.github.acme/none", "", "not io.github.acme/none"},
		{dir + "/none", "io.github.acme/none", "", "there is no file"},
	} {
		doc, err := Find(t.Context(), NewClient(nil), one.from, one.name, one.version)
		got := fmt.Sprint(err)
		if err == nil {
			got = doc.Version
		}
		if !strings.Contains(got, one.want) {
			t.Errorf("%v: got %s", one, got)
		}
	}
}

func TestARedirectDoesNotLoseTLS(t *testing.T) {
	plain := registry(t)
	s := httptest.NewTLSServer(http.RedirectHandler(plain+"/v0.1/servers/io.github.acme%2Fweather/versions/latest", http.StatusFound))
	defer s.Close()
	if doc, err := Read(t.Context(), NewClient(s.Client().Transport), s.URL); err == nil || !strings.Contains(err.Error(), "without TLS") {
		t.Errorf("got %v, %v", doc, err)
	}
}

func TestNamesOfRegistriesAreToldFromPathsAndCommands(t *testing.T) {
	for text, want := range map[string]bool{
		"io.github.acme/weather": true, "io.github.acme/weather@1.0.2": true, "com.example/a_b.c": true, "io.github.acme/weather@1 2": false,
		"./server": false, "bin/server": false, "/usr/bin/x": false, "../x/y": false, "a.b/c/d": false, "npx": false, "@scope/pkg": false,
		"a.b/": false, "a.b/-x": false, "-a.b/c": false, "io.github.acme/weather@": false,
	} {
		if _, _, ok := SplitName(text); ok != want {
			t.Errorf("%s: got %v", text, ok)
		}
	}
}
