//go:build unix

package upstream

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

// environmentOf is what a real process gets that is started for a server, sorted.
func environmentOf(t *testing.T, change func(*config.Server)) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "env")
	cfg := config.Server{ID: "s", Command: "/bin/sh", Args: []string{"-c", "/usr/bin/env > " + file}, Cwd: t.TempDir()}
	change(&cfg)
	p := New(nil)
	defer p.Close()
	p.Apply([]config.Server{cfg})
	if _, err := p.List(t.Context(), "s"); err == nil {
		t.Fatal("it is no server")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { // the shell's own
		return strings.HasPrefix(line, "PWD=") || strings.HasPrefix(line, "_=") || strings.HasPrefix(line, "SHLVL=") || strings.HasPrefix(line, "OLDPWD=")
	})
	slices.Sort(lines)
	return lines
}

// onlyWith makes the environment of the test an empty one but for what is given.
func onlyWith(t *testing.T, variables ...string) {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		t.Setenv(name, "") // for its old value to come back
		os.Unsetenv(name)
	}
	for _, kv := range variables {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
}

func TestAServerInheritsTheListAndNoMore(t *testing.T) {
	listed := []string{
		"PATH=/usr/bin:/bin", "HOME=/h", "USER=u", "LOGNAME=u", "SHELL=/bin/sh", "TERM=dumb", "LANG=C", "LC_ALL=C", "TZ=UTC", "TMPDIR=/tmp", "TMP=/tmp", "TEMP=/tmp",
		"XDG_RUNTIME_DIR=/r", "DISPLAY=:0", "WAYLAND_DISPLAY=w", "XAUTHORITY=/x", "DBUS_SESSION_BUS_ADDRESS=d",
		"http_proxy=http://me:pw@proxy", "HTTPS_PROXY=http://proxy", "ALL_PROXY=socks5://proxy", "no_proxy=a", "NO_PROXY=a", "SSL_CERT_FILE=/c", "SSL_CERT_DIR=/c",
		"NODE_EXTRA_CA_CERTS=/c", "npm_config_registry=https://npm.example", "NPM_CONFIG_CACHE=/n", "UV_INDEX_URL=https://pypi.example", "UV_KEYRING_PROVIDER=subprocess", "PLAYWRIGHT_BROWSERS_PATH=/p",
	}
	withheld := []string{
		"AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=x", "OPENAI_API_KEY=x", "SSH_AUTH_SOCK=/s", "PGPASSWORD=x", "EDITOR=vi", "LD_PRELOAD_X=x", "NODE_OPTIONS=x", "path=x",
		"TOOLFIT_SECRET_KEY=x", "npm_config__authToken=x", "UV_PUBLISH_TOKEN=x", "UV_INDEX_OWN_PASSWORD=x", "UV_DEFAULT_INDEX=https://me:pw@pypi.example", "PLAYWRIGHT_SERVICE_ACCESS_TOKEN=x",
	}
	onlyWith(t, append(slices.Clone(listed), withheld...)...)
	want := append(slices.Clone(listed), "EDITOR=ed", "OWN=1")
	slices.Sort(want)
	if got := environmentOf(t, func(s *config.Server) { s.Env = map[string]string{"OWN": "1", "EDITOR": "ed"} }); !slices.Equal(got, want) {
		t.Errorf("got %q,\nwant %q", got, want)
	}
	for _, c := range []struct {
		inherit []string
		want    []string
	}{
		{[]string{"GITHUB_TOKEN", "AWS_*"}, []string{"AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=x"}},
		{[]string{"UV_DEFAULT_INDEX"}, []string{"UV_DEFAULT_INDEX=https://me:pw@pypi.example"}},
		{[]string{"TOOLFIT_SECRET_KEY"}, []string{"TOOLFIT_SECRET_KEY=x"}},
		{[]string{"*"}, slices.DeleteFunc(slices.Clone(withheld), func(kv string) bool { return strings.HasPrefix(kv, "TOOLFIT_") })},
	} {
		want := append(slices.Clone(listed), c.want...)
		slices.Sort(want)
		if got := environmentOf(t, func(s *config.Server) { s.Inherit = c.inherit }); !slices.Equal(got, want) {
			t.Errorf("inherit %v: got %q,\nwant %q", c.inherit, got, want)
		}
	}
}

func TestVariablesOfWindowsHaveTheirNamesInAnyCase(t *testing.T) {
	for _, name := range []string{"Path", "SystemRoot", "ComSpec", "PATHEXT", "AppData", "LOCALAPPDATA", "ProgramFiles(x86)", "windir", "USERPROFILE", "Http_Proxy"} {
		if !passes(name, "x", nil, true) {
			t.Errorf("%s is withheld", name)
		}
	}
	if passes("GITHUB_TOKEN", "x", nil, true) || !passes("GITHUB_TOKEN", "x", []string{"GitHub_*"}, true) || passes("SystemRoot", "x", nil, false) {
		t.Error("the rest is as elsewhere")
	}
}

func TestAServerThatEndsBeforeItsFirstListNamesTheVariablesItWasNotGiven(t *testing.T) {
	onlyWith(t, "PATH=/usr/bin:/bin", "GITHUB_TOKEN=hush", "OPENAI_API_KEY=hush", "EDITOR=vi", "PAGER=less", "MAIL=m", "ZEBRA=z", "DATABASE_URL=hush")
	p := New(nil)
	defer p.Close()
	p.Apply([]config.Server{{ID: "github", Command: "/bin/sh", Args: []string{"-c", "echo DATABASE_URL is not set >&2; exit 1"}}})
	_, err := p.List(t.Context(), "github")
	want := "of our environment it was not given DATABASE_URL, GITHUB_TOKEN, OPENAI_API_KEY, EDITOR, MAIL and 2 more; if it needs one, add to github: inherit: [DATABASE_URL]"
	if got := fault.As(err); got.Code != fault.UpstreamDown || got.Hint != want || !strings.Contains(got.Message, "DATABASE_URL is not set") {
		t.Errorf("got %v", err)
	}
	if st := p.Status()[0]; !strings.Contains(st.Reason, want) || strings.Contains(fmt.Sprint(st, err), "hush") {
		t.Errorf("got %+v", st)
	}
}

func TestAServerThatHasListedBeforeLacksNothing(t *testing.T) {
	cfg := badConfig("s", "good")
	p := New(nil)
	defer p.Close()
	p.Apply([]config.Server{cfg})
	if _, err := p.List(t.Context(), cfg.ID); err != nil {
		t.Fatal(err)
	}
	_, err := p.Call(t.Context(), Call{Server: cfg.ID, Tool: "die", Params: []byte(`{"name":"die"}`)})
	if f := fault.As(err); f.Code != fault.UpstreamDown || strings.Contains(f.Hint, "inherit") {
		t.Errorf("got %v", err)
	}
}
