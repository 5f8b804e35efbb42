package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// index serves a list of releases, at a URL with a secret.
func index(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return srv.URL + "/releases?token=s3cret"
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func upgrade(t *testing.T, version string, args ...string) (out, err string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := &Env{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Lookup: func(string) (string, bool) { return "", false },
		Program: "/opt/toolfit", Version: version}
	code = Run(t.Context(), append([]string{"upgrade"}, args...), env)
	return stdout.String(), stderr.String(), code
}

func TestUpgradeCheckTellsWhatIsNewer(t *testing.T) {
	const list = `[{"tag_name":"v0.2.0-rc.1","prerelease":true,"html_url":"https://example.com/rc"},
		{"tag_name":"v0.1.9","html_url":"https://example.com/9"}, {"tag_name":"v0.1.10","html_url":"https://example.com/10"},
		{"tag_name":"v0.3.0","draft":true}, {"tag_name":"nightly"}, {"tag_name":"v0.2.0-beta"}]`
	for _, c := range []struct{ name, version, index, want string }{
		{"a newer one", "v0.1.9", list, "toolfit v0.1.10 is newer than this one, v0.1.9: https://example.com/10\n"},
		{"the same", "v0.1.10", list, "toolfit v0.1.10 is the newest release\n"},
		{"an older one", "v0.4.0", list, "toolfit v0.4.0 is newer than the newest release, v0.1.10\n"},
		{"who has one before a release hears of others", "v0.2.0-alpha", list, "toolfit v0.2.0-rc.1 is newer than this one, v0.2.0-alpha: "},
		{"one before a release is older than it", "v0.1.10-rc.1", `{"tag_name":"v0.1.10"}`, "toolfit v0.1.10 is newer than this one"},
		{"a commit is compared, too", "v0.1.9-0.20260701120000-0123456789ab+dirty", `{"tag_name":"v0.1.9"}`, "toolfit v0.1.9 is newer"},
		{"no release", "dev", list, "the newest release is v0.1.10; this program, dev, is none: https://example.com/10\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err, code := upgrade(t, c.version, "--check", "--index", index(t, says(c.index)))
			if code != 0 || !strings.HasPrefix(out, c.want) {
				t.Errorf("%d: %s%s", code, out, err)
			}
		})
	}
}

func TestUpgradeSaysWhatIsWrongWithAnIndex(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a page", says("<html>"), "is no list of releases"},
		{"another form", says(`[1]`), "is no list of releases"},
		{"nothing", says(""), "is no list of releases"},
		{"no release yet", says("[]"), "lists no release yet"},
		{"only drafts", says(`[{"tag_name":"v1.0.0","draft":true}]`), "lists no release yet"},
		{"an error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "it answered 403 Forbidden"},
		{"a long one", says("[" + strings.Repeat(" ", maxIndex)), "has more than 4 MB"},
		{"one that breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "[")
		}, "cannot be reached: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err, code := upgrade(t, "v0.1.0", "--check", "--index", index(t, c.answer))
			if code != 1 || out != "" || !strings.Contains(err, c.want) || strings.Contains(err, "s3cret") {
				t.Errorf("%d: %s%s", code, out, err)
			}
		})
	}
}

func TestUpgradeDoesNotWaitForASlowIndex(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := releasesAt(ctx, index(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	if !fault.Is(err, fault.UpstreamTimeout) {
		t.Errorf("%v", err)
	}
}

func TestUpgradeAsksNobodyWithoutCheck(t *testing.T) {
	out, err, code := upgrade(t, "v0.1.0")
	if want := "toolfit v0.1.0\ninstalled by hand at /opt/toolfit\nto upgrade: put "; code != 0 || !strings.HasPrefix(out, want) {
		t.Errorf("%d: %s%s", code, out, err)
	}
}

func TestThePathTellsHowTheProgramWasInstalled(t *testing.T) {
	for _, c := range []struct{ path, exists, want string }{
		{"/usr/lib/node_modules/@toolfit/linux-x64/toolfit", "", "npm install --global toolfit@latest"},
		{"/home/ann/.npm/_npx/0123/node_modules/@toolfit/linux-x64/toolfit", "", "npx toolfit@latest"},
		{"/opt/homebrew/Cellar/toolfit/0.1.0/bin/toolfit", "", "brew upgrade toolfit"},
		{"/home/linuxbrew/.linuxbrew/Cellar/toolfit/0.1.0/bin/toolfit", "", "brew upgrade toolfit"},
		{"/home/ann/go/bin/toolfit", "", "go install github.com/toolfit/toolfit/cmd/toolfit@latest"},
		{"/opt/gobin/toolfit", "", "go install github.com/toolfit/toolfit/cmd/toolfit@latest"},
		{"/usr/bin/toolfit", "/var/lib/dpkg/info/toolfit.list", "sudo apt install ./toolfit.deb"},
		{"/usr/bin/toolfit", "/var/lib/rpm/*", "sudo rpm --upgrade ./toolfit.rpm"},
		{"/usr/bin/toolfit", "/lib/apk/db/installed", "apk add --allow-untrusted ./toolfit.apk"},
		{"/usr/bin/toolfit", "/var/lib/pacman/local/toolfit-*", "sudo pacman -U ./toolfit.pkg.tar.zst"},
		{"/usr/bin/toolfit", "", "put the program of https://github.com/toolfit/toolfit/releases in its place"},
		{"/usr/local/bin/toolfit", "/var/lib/dpkg/info/toolfit.list", "put the program of "},
		{"/home/安娜/my tools/toolfit", "", "put the program of "},
	} {
		got := installedAt(c.path, []string{"/opt/gobin", "/home/ann/go"}, func(pattern string) bool { return pattern == c.exists })
		if !strings.HasPrefix(got.Line, c.want) {
			t.Errorf("%s: %+v, want %s", c.path, got, c.want)
		}
	}
}
