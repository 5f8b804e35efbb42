package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestVendoredScriptsAreTheirReleases(t *testing.T) {
	for name, want := range map[string]string{
		"htmx.min.js":        "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717", // 2.0.11
		"htmx-ext-ws.min.js": "896afc2936ded7a56373edf16ce75b0fe9bf49c03d1f55aee9baa94cb87c8d3e", // 2.0.4
	} {
		data, err := staticFiles.ReadFile("static/vendor/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is another file than the one that was looked at", name)
		}
		if _, err := os.Stat("static/vendor/" + strings.TrimSuffix(name, ".min.js") + ".LICENSE"); err != nil {
			t.Error(err)
		}
	}
}

func TestAssetsAreKeptForGood(t *testing.T) {
	c := New(Parts{BasePath: "/tools", Check: func(*http.Request) error { return nil }})
	at := c.assets.paths["style.css"]
	if !regexp.MustCompile(`^/tools/-/style\.[0-9a-f]{12}\.css$`).MatchString(at) {
		t.Fatalf("the stylesheet is at %q", at)
	}
	r := httptest.NewRequest("GET", at, nil)
	r.SetPathValue("name", path.Base(at))
	w := httptest.NewRecorder()
	c.assets.ServeHTTP(w, r)
	if w.Code != 200 || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "text/css") {
		t.Errorf("HTTP %d %v", w.Code, w.Header())
	}
}

func TestOwnScriptsAreShort(t *testing.T) {
	scripts, _ := fs.Glob(staticFiles, "static/*.js")
	for _, name := range scripts {
		data, err := staticFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), "\n"); n > 300 {
			t.Errorf("%s has %d lines, want at most 300", name, n)
		}
	}
}

// textUse finds the keys of texts in templates and programs: t "key", word "group." code, text(lang, "key").
var textUse = regexp.MustCompile(`(?:\bt |\bword |\btext\([a-z.]+, |done\([^\n]*, )\(?(?:print )?"([a-zA-Z.-]+)"`)

func TestPagesAndTextsGoTogether(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{"*.go", "pages/*.html"} {
		files, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range textUse.FindAllStringSubmatch(string(data), -1) {
				used[m[1]] = true
			}
		}
	}
	texts := map[string]string{}
	files, err := filepath.Glob("../../base/locale/console*.en-US.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of texts, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &texts); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	keys := slices.Sorted(maps.Keys(texts))
	for key := range used {
		known := func(k string) bool {
			k = strings.TrimPrefix(k, "console.")
			return k == key || k == "said."+key || strings.HasSuffix(key, ".") && strings.HasPrefix(k, key)
		}
		if !slices.ContainsFunc(keys, known) {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, key := range keys {
		key = strings.TrimPrefix(key, "console.")
		group := key[:strings.LastIndex(key, ".")+1]
		if !used[key] && !used[group] && !used[strings.TrimPrefix(key, "said.")] {
			t.Errorf("nobody says %s", key)
		}
	}
}
