package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/state/clientfile"
)

func TestFilesOfClientsOnEachSystem(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	files := func(system, name string, lookup func(string) (string, bool)) []string {
		one, err := clientNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, p := range clientfile.FoldersOf(system, "/home/me", lookup).Files(one) {
			paths = append(paths, filepath.ToSlash(p))
		}
		return paths
	}
	for _, c := range []struct{ system, client, want string }{
		{"linux", "claude-desktop", "/home/me/.config/Claude/claude_desktop_config.json"},
		{"darwin", "claude-desktop", "/home/me/Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", "/home/me/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"linux", "claude-code", "/home/me/.claude.json"},
		{"windows", "cursor", "/home/me/.cursor/mcp.json"},
		{"linux", "vscode", "/home/me/.config/Code/User/mcp.json"},
		{"darwin", "vscode", "/home/me/Library/Application Support/Code/User/mcp.json"},
		{"windows", "vscode", "/home/me/AppData/Roaming/Code/User/mcp.json"},
		{"linux", "windsurf", "/home/me/.codeium/windsurf/mcp_config.json"},
		{"linux", "zed", "/home/me/.config/zed/settings.json"},
		{"darwin", "zed", "/home/me/.config/zed/settings.json"},
		{"windows", "zed", "/home/me/AppData/Roaming/Zed/settings.json"},
		{"darwin", "cline", "/home/me/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
		{"linux", "gemini-cli", "/home/me/.gemini/settings.json"},
		{"windows", "codex", "/home/me/.codex/config.toml"},
	} {
		if got := files(c.system, c.client, none)[0]; got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.client, c.system, got, c.want)
		}
	}
	moved := func(name string) (string, bool) {
		v, ok := map[string]string{"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "APPDATA": "relative"}[name]
		return v, ok
	}
	if got := files("linux", "vscode", moved)[0]; got != "/x/Code/User/mcp.json" {
		t.Errorf("with XDG_CONFIG_HOME: %s", got)
	}
	if got := files("linux", "codex", moved)[0]; got != "/c/config.toml" {
		t.Errorf("with CODEX_HOME: %s", got)
	}
	if got := files("windows", "vscode", moved)[0]; got != "/home/me/AppData/Roaming/Code/User/mcp.json" {
		t.Errorf("a relative APPDATA counts: %s", got)
	}
}

// everyClient is the file of each client, as it writes it, with one server.
var everyClient = map[string]string{
	"claude-desktop": `{"mcpServers": {"one": {"command": "x", "args": ["a"]}}}`,
	"claude-code":    `{"numStartups": 3, "mcpServers": {"one": {"type": "stdio", "command": "x", "args": ["a"], "env": {}}}}`,
	"cursor":         `{"mcpServers": {"one": {"command": "x", "args": ["a"]}}}`,
	"vscode":         "{\n\t// mine\n\t\"servers\": {\n\t\t\"one\": {\"type\": \"stdio\", \"command\": \"x\", \"args\": [\"a\"]},\n\t},\n\t\"inputs\": []\n}",
	"windsurf":       `{"mcpServers": {"one": {"command": "x", "args": ["a"], "disabledTools": []}}}`,
	"zed":            `{"theme": "One", "context_servers": {"one": {"source": "custom", "command": {"path": "x", "args": ["a"], "env": {}}}}}`,
	"cline":          `{"mcpServers": {"one": {"command": "x", "args": ["a"], "disabled": false, "autoApprove": []}}}`,
	"gemini-cli":     `{"mcpServers": {"one": {"command": "x", "args": ["a"], "trust": false}}}`,
	"codex":          "model = \"m\"\n\n[mcp_servers.one]\ncommand = \"x\"\nargs = [\"a\"]\n",
}

func TestEveryClientIsImportedInstalledAndUninstalled(t *testing.T) {
	for _, one := range clients.WithFiles() {
		t.Run(one.Name, func(t *testing.T) {
			w := newWorld(t)
			path := w.usual(t, one.Name)
			put(t, path, everyClient[one.Name])
			put(t, "toolfit.yaml", "mcpServers:\n")
			if code, out, errs := w.run(t, "import", one.Name); code != 0 || !strings.Contains(out, "added one to toolfit.yaml") {
				t.Fatalf("import: %d\n%s%s", code, out, errs)
			}
			if got := read(t, "toolfit.yaml"); !strings.Contains(got, "command: x\n    args: [a]\n") {
				t.Errorf("toolfit.yaml holds\n%s", got)
			}
			if code, out, errs := w.run(t, "install", one.Name); code != 0 || !strings.Contains(out, "added toolfit to "+path) {
				t.Fatalf("install: %d\n%s%s", code, out, errs)
			}
			installed := read(t, path)
			if code, out, _ := w.run(t, "install", one.Name); code != 0 || !strings.Contains(out, "already") || read(t, path) != installed {
				t.Errorf("a second install: %d %s", code, out)
			}
			if code, out, errs := w.run(t, "import", one.Name); code != 0 || !strings.Contains(out, "one is already in toolfit.yaml") ||
				!strings.Contains(errs, "toolfit is toolfit itself") {
				t.Errorf("a second import: %d\n%s%s", code, out, errs)
			}
			if code, out, errs := w.run(t, "install", one.Name, "--uninstall"); code != 0 {
				t.Fatalf("uninstall: %d\n%s%s", code, out, errs)
			}
			if got := read(t, path); got != everyClient[one.Name] {
				t.Errorf("after all the file holds\n%s\nwant\n%s", got, everyClient[one.Name])
			}
			if backups, _ := filepath.Glob(path + ".toolfit-backup-*"); len(backups) != 2 || read(t, backups[0]) != everyClient[one.Name] &&
				read(t, backups[1]) != everyClient[one.Name] {
				t.Errorf("backups: %v", backups)
			}
		})
	}
}

func TestOurEntryInEachClientsForm(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "listen: 0.0.0.0:9000\nbasePath: /gate\n")
	config := filepath.Join(filepath.Dir(w.home), "work", "toolfit.yaml")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"claude-code", []string{`"type": "http"`, `"url": "http://127.0.0.1:9000/gate/mcp"`}},
		{"claude-code --key-env TK", []string{`"Authorization": "Bearer ${TK}"`}},
		{"cursor --url https://a.b/ --profile ops --key-env TK", []string{`"url": "https://a.b/mcp/ops"`, `"Bearer ${env:TK}"`}},
		{"vscode --url https://a.b/mcp", []string{`"servers"`, `"url": "https://a.b/mcp"`}},
		{"vscode --stdio", []string{`"type": "stdio"`, `"command": "/opt/toolfit/toolfit"`, `"args": ["stdio", "--config", "` + config + `"]`}},
		{"windsurf --url http://a.b", []string{`"serverUrl": "http://a.b/mcp"`}},
		{"zed --url http://a.b", []string{`"context_servers"`, `"url": "http://a.b/mcp"`}},
		{"cline --url http://a.b", []string{`"type": "streamableHttp"`}},
		{"gemini-cli --key-env TK", []string{`"httpUrl": "http://127.0.0.1:9000/gate/mcp"`, `"Bearer ${TK}"`}},
		{"codex --key-env TK", []string{"[mcp_servers.toolfit]\n", `url = "http://127.0.0.1:9000/gate/mcp"`, `bearer_token_env_var = "TK"`}},
		{"codex --stdio --profile ops", []string{`"--profile", "ops"]`}},
		{"claude-desktop", []string{`"command": "/opt/toolfit/toolfit"`}},
	} {
		args := strings.Fields(c.args)
		path := w.usual(t, args[0])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		code, out, errs := w.run(t, append([]string{"install", "--dry-run"}, args...)...)
		if code != 0 {
			t.Errorf("%s: %d %s", c.args, code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s gives\n%s\nwant %s", c.args, out, want)
			}
		}
		if exists(path) {
			t.Errorf("%s: a dry run wrote %s", c.args, path)
		}
	}
}

func TestInstallRefusesWhatCannotWork(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "mcpServers:\n")
	put(t, w.usual(t, "zed"), "{}")
	put(t, w.usual(t, "claude-desktop"), "{}")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"emacs", 2, "known clients: claude-desktop, "},
		{"", 2, "takes the name of a client"},
		{"cursor", 1, "start cursor once"},
		{"zed --stdio --url http://a", 2, "use either --stdio or --url"},
		{"zed --stdio --key-env X", 2, "needs no key"},
		{"zed --key-env A=B", 2, "not the name of an environment variable"},
		{"zed --key-env X", 1, "use --stdio"},
		{"zed --url ftp://a", 2, "not an http or https URL"},
		{"claude-desktop --url http://a", 1, "use --stdio"},
		{"zed --file none/x.json", 1, "there is no folder none"},
	} {
		code, out, errs := w.run(t, append([]string{"install"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("install %s: %d %s%s; want %d %s", c.args, code, out, errs, c.code, c.want)
		}
	}
	for _, name := range []string{"zed", "claude-desktop"} {
		if got := read(t, w.usual(t, name)); got != "{}" {
			t.Errorf("the file of %s became %s", name, got)
		}
	}
}

func TestImportListsWhatItFindsAndTakesAllWhenTold(t *testing.T) {
	w := newWorld(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	put(t, ".mcp.json", `{"mcpServers": {"project": {"url": "http://a.b/mcp"}}}`)
	put(t, w.usual(t, "claude-code"),
		`{"mcpServers": {"one": {"command": "x"}}, "projects": {"`+filepath.ToSlash(dir)+`": {"mcpServers": {"mine": {"command": "y"}}}}}`)
	put(t, w.usual(t, "cursor"), `{"mcpServers": {"one": {"command": "x"}, "two": {"command": "z"}}}`)
	put(t, w.usual(t, "gemini-cli"), `{"theme": "dark"}`)

	code, out, errs := w.run(t, "import")
	if code != 1 || !strings.Contains(errs, "4 files have servers") || !strings.Contains(errs, "--all") || exists("toolfit.yaml") {
		t.Errorf("import: %d %s", code, errs)
	}
	for _, want := range []string{`claude-code +` + regexp.QuoteMeta(w.usual(t, "claude-code")) + ` +one\n`, ` +one, two\n`, ` +mine\n`, `claude-code +\.mcp\.json +project\n`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the list is\n%s\nwithout %s", out, want)
		}
	}
	if code, out, errs := w.run(t, "import", "--all"); code != 0 || !strings.Contains(out, "one is already in toolfit.yaml") {
		t.Errorf("import --all: %d\n%s%s", code, out, errs)
	}
	got := read(t, "toolfit.yaml")
	for _, want := range []string{"project:", "one:", "mine:", "two:"} {
		if !strings.Contains(got, want) {
			t.Errorf("toolfit.yaml lacks %s\n%s", want, got)
		}
	}
}

func TestImportOfWhatIsNotThere(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"import"}, 1, "no file of a known client has servers"},
		{[]string{"import", "cursor"}, 1, "looked at " + w.usual(t, "cursor")},
		{[]string{"import", "nosuch"}, 2, "no client of that name"},
		{[]string{"import", "none.json"}, 1, "none.json"},
		{[]string{"import", "a", "b"}, 2, "one file or client"},
	} {
		if code, _, errs := w.run(t, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s", c.args, code, errs)
		}
	}
	put(t, w.usual(t, "cursor"), "{")
	if code, _, errs := w.run(t, "import", "cursor"); code != 1 || !strings.Contains(errs, "mcp.json:1: the JSON ends too early") {
		t.Errorf("a broken file: %d %s", code, errs)
	}
	put(t, w.usual(t, "codex"), "a = 1 2\n")
	if code, _, errs := w.run(t, "import", "codex"); code != 1 || !strings.Contains(errs, "config.toml:1: is not TOML that can be read") {
		t.Errorf("a broken TOML file: %d %s", code, errs)
	}
}
