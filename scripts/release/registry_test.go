package main

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// npmPackages are those in dist: their package.json, by path.
func npmPackages(t *testing.T, dist string) map[string]map[string]any {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dist, "npm-*.tgz")) // the pattern is well formed
	found := map[string]map[string]any{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files, err := gunzip(data, func(name string) bool { return name == "package/package.json" })
		var about map[string]any
		if err == nil {
			err = json.Unmarshal(files[0].data, &about)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, script := range []string{"scripts", "gypfile"} {
			if about[script] != nil {
				t.Errorf("%s runs something when it is installed", path)
			}
		}
		found[path] = about
	}
	return found
}

// serveRegistry serves the npm packages of dist as a registry does, and nothing else.
func serveRegistry(t *testing.T, dist string) (address string) {
	t.Helper()
	answers := map[string][]byte{} // by path
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answers[r.URL.Path] == nil {
			http.NotFound(w, r)
			return
		}
		w.Write(answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	for path, about := range npmPackages(t, dist) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(data)
		about["dist"] = map[string]string{
			"tarball": server.URL + "/-/" + filepath.Base(path), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		name, version := about["name"].(string), about["version"].(string)
		document := map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: about}}
		answers["/-/"+filepath.Base(path)] = data
		if answers["/"+name], err = json.Marshal(document); err != nil {
			t.Fatal(err)
		}
	}
	return server.URL
}

// npmCommand is a command of npm that knows one registry only, and nothing of this machine's settings.
func npmCommand(ctx context.Context, dir, registry string, command ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	host, _ := url.Parse(registry) // our own
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "npm_config_cache=" + filepath.Join(dir, "cache"),
		"npm_config_registry=" + registry, "npm_config_update_notifier=false", "NO_PROXY=" + host.Hostname(),
		"npm_config_audit=false", "npm_config_fund=false", "npm_config_userconfig=" + filepath.Join(dir, ".npmrc"),
	}
	return cmd
}

// tryNPX: npx gets the two packages that this machine needs, and starts the program.
func tryNPX(t *testing.T, dist, registry string) {
	testparts.NeedProgram(t, "npx", "it comes with Node")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	try(t, func(ctx context.Context, args ...string) *exec.Cmd {
		return npmCommand(ctx, dir, registry, append([]string{"npx", "--yes", "toolfit"}, args...)...)
	})
	output(t, npmCommand(t.Context(), dir, registry, "npm", "install", "--omit=optional", "toolfit"))
	out, err := npmCommand(t.Context(), dir, registry, "node", "node_modules/.bin/toolfit", "version").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "toolfit: the package @toolfit/linux-x64 is missing\n  → install toolfit again") {
		t.Errorf("without the package of the platform: %v %s", err, out)
	}
}
