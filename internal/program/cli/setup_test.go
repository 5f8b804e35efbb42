package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/state/clientfile"
)

// ownConfig is the configuration that setup makes.
func (w *world) ownConfig() string {
	return filepath.Join(clientfile.FoldersOf(runtime.GOOS, w.home, w.lookup)["config"], "toolfit", defaultFile)
}

// setUp runs setup without a service.
func (w *world) setUp(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return w.run(t, append([]string{"setup", "--service", "none"}, args...)...)
}

func TestEveryClientIsSetUpAndPutBack(t *testing.T) {
	for _, one := range clients.WithFiles() {
		t.Run(one.Name, func(t *testing.T) {
			w := newWorld(t)
			path := w.usual(t, one.Name)
			put(t, path, everyClient[one.Name])
			if code, out, errs := w.setUp(t, "--yes"); code != 0 {
				t.Fatalf("setup: %d\n%s%s", code, out, errs)
			}
			if got := read(t, w.ownConfig()); !strings.Contains(got, "  one:\n    command: x\n    args: [a]\n") && !strings.Contains(got, "one:") {
				t.Errorf("the configuration is\n%s", got)
			}
			changed := read(t, path)
			if strings.Contains(changed, `"one"`) || strings.Contains(changed, "mcp_servers.one") || !strings.Contains(changed, "toolfit") {
				t.Errorf("the client's file is\n%s", changed)
			}
			backups, _ := filepath.Glob(path + ".toolfit-backup-*")
			if len(backups) != 1 || read(t, backups[0]) != everyClient[one.Name] {
				t.Errorf("backups: %v", backups)
			}
			code, out, errs := w.setUp(t, "--yes")
			if again, _ := filepath.Glob(path + ".toolfit-backup-*"); code != 0 || !strings.Contains(out, "nothing was changed") ||
				read(t, path) != changed || len(again) != 1 {
				t.Errorf("a second setup: %d\n%s%s%v", code, out, errs, again)
			}
			if code, out, errs := w.run(t, "setup", "--undo"); code != 0 || read(t, path) != everyClient[one.Name] || exists(w.ownConfig()) {
				t.Errorf("undo: %d\n%s%s; the file is\n%s", code, out, errs, read(t, path))
			}
			if left, _ := filepath.Glob(path + ".toolfit-backup-*"); len(left) != 0 {
				t.Errorf("left are %v", left)
			}
		})
	}
}

func TestWithoutYesNothingIsChanged(t *testing.T) {
	w := newWorld(t)
	path := w.usual(t, "cursor")
	text := `{"mcpServers": {"git": {"command": "x", "env": {"GIT_TOKEN": "ghp_0123456789abcdef"}}}}`
	put(t, path, text)
	for _, args := range []string{"", "--dry-run", "--json", "--dry-run --secrets env", "--json --secrets env", "--dry-run --secrets keep"} {
		code, out, errs := w.setUp(t, strings.Fields(args)...)
		if code != 0 || read(t, path) != text || exists(w.ownConfig()) || exists(filepath.Dir(w.ownConfig())) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
		if strings.Contains(out+errs, "ghp_") {
			t.Errorf("%v: shows the secret:\n%s%s", args, out, errs)
		}
	}
	if _, out, _ := w.setUp(t); !strings.Contains(out, "git (1 secret in plain text)") ||
		!strings.Contains(out, "nothing was changed; to do all this: toolfit setup --yes") {
		t.Errorf("the plan is\n%s", out)
	}
	_, out, _ := w.setUp(t, "--json")
	var plan setupPlan
	if err := json.Unmarshal([]byte(out), &plan); err != nil || plan.Applied || plan.Clients[0].Servers[0].Secrets[0] != "env.GIT_TOKEN" {
		t.Errorf("the plan is %s, %v", out, err)
	}
}

func TestServersOfTheSameName(t *testing.T) {
	const base = `{"mcpServers": {"s": {"command": "x", "env": {"API_TOKEN": "abcdefgh1"}}}}`
	for name, c := range map[string]struct {
		config, other string
		want, not     []string
	}{
		"with the same settings are one": {"", base, []string{"  s:\n"}, []string{"s-cursor"}},
		"that differ by a type are one": {"", `{"mcpServers": {"s": {"type": "stdio", "command": "x", "env": {"API_TOKEN": "abcdefgh1"}}}}`,
			[]string{"  s:\n"}, []string{"s-cursor"}},
		"that one clients.Client has disabled are one": {"", `{"mcpServers": {"s": {"disabled": true, "command": "x", "env": {"API_TOKEN": "abcdefgh1"}}}}`,
			[]string{"  s:\n"}, []string{"s-cursor", "disabled"}},
		"with other settings are two": {"", `{"mcpServers": {"s": {"command": "y"}}}`, []string{"  s:\n", "  s-cursor:\n    command: \"y\"\n"}, nil},
		"with other secrets are two": {"", `{"mcpServers": {"s": {"command": "x", "env": {"API_TOKEN": "abcdefgh2"}}}}`,
			[]string{"${file:secrets/s.API_TOKEN}", "${file:secrets/s-cursor.API_TOKEN}"}, nil},
		"in the configuration with the secret elsewhere are one": {"mcpServers:\n  s:\n    command: x\n    env: {API_TOKEN: \"${TOKEN}\"}\n", base,
			[]string{"${TOKEN}"}, []string{"s-c", "secrets"}},
		"in the configuration with other settings are two": {"mcpServers:\n  s:\n    command: z\n", base,
			[]string{"command: z", "  s-claude-desktop:\n", "  s-cursor:\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.vars["TOKEN"] = "abcdefgh1"
			if c.config != "" {
				put(t, w.ownConfig(), c.config)
			}
			put(t, w.usual(t, "claude-desktop"), base)
			put(t, w.usual(t, "cursor"), c.other)
			if code, out, errs := w.setUp(t, "--yes"); code != 0 {
				t.Fatalf("%d\n%s%s", code, out, errs)
			}
			got := read(t, w.ownConfig())
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("the configuration lacks %q:\n%s", want, got)
				}
			}
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("the configuration has %q:\n%s", not, got)
				}
			}
			for _, client := range []string{"claude-desktop", "cursor"} {
				if text := read(t, w.usual(t, client)); strings.Contains(text, `"s"`) {
					t.Errorf("%s has\n%s", client, text)
				}
			}
		})
	}
}

func TestWhatSetupLeavesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		file, args, says string
		code             int
	}{
		"a file with an error":             {`{"mcpServers": {`, "", "stays as it is", 1},
		"another server with our name":     {`{"mcpServers": {"toolfit": {"command": "npx"}, "a": {}}}`, "", "another server with the name toolfit", 1},
		"a connection to another gateway":  {`{"mcpServers": {"toolfit": {"url": "https://a.b/mcp"}}}`, "", "to another gateway", 1},
		"a server whose variable is unset": {`{"mcpServers": {"a": {"command": "x", "env": {"A": "${env:NONE}"}}}}`, "", "NONE is not set", 0},
		"a server that cannot be read":     {`{"mcpServers": {"a": {"nothing": "x"}}}`, "", "a is left out", 0},
		"us under another name":            {`{"mcpServers": {"gate": {"command": "/bin/toolfit", "args": ["stdio"]}}}`, "", "", 0},
		"a file without servers":           {`{"mcpServers": {}}`, "", "", 0},
		"an empty file":                    {"", "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			put(t, w.usual(t, "claude-desktop"), `{"mcpServers": {"other": {"command": "x"}}}`)
			put(t, w.usual(t, "cursor"), c.file)
			code, out, errs := w.setUp(t, append([]string{"--yes"}, strings.Fields(c.args)...)...)
			if code != c.code || !strings.Contains(errs, c.says) || !strings.Contains(read(t, w.ownConfig()), "other:") {
				t.Errorf("%d\n%s%s", code, out, errs)
			}
			if got := read(t, w.usual(t, "cursor")); got != c.file {
				t.Errorf("the file is\n%s", got)
			}
		})
	}
}

func TestFlagsOfSetup(t *testing.T) {
	const file = `{"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "abcdefgh1"}}}}`
	for args, c := range map[string]struct{ inClient, inConfig, out string }{
		"--keep":                {`"a": {"command": "x"`, "a:", ""},
		"--stdio":               {`"args": ["stdio", "--config", `, "a:", "start toolfit themselves"},
		"--secrets env":         {`"toolfit"`, `"${API_TOKEN}"`, "API_TOKEN"},
		"--secrets keep":        {`"toolfit"`, "abcdefgh1", ""},
		"--client cursor":       {`"url": "http://127.0.0.1:8420/mcp"`, "a:", "toolfit serve"},
		"--service task":        {`"toolfit"`, "a:", `schtasks /Create /TN toolfit`},
		"--config here/my.yaml": {`"toolfit"`, "", "--config"},
	} {
		t.Run(args, func(t *testing.T) {
			w := newWorld(t)
			put(t, w.usual(t, "cursor"), file)
			code, out, errs := w.setUp(t, append([]string{"--yes"}, strings.Fields(args)...)...)
			if code != 0 || !strings.Contains(out, c.out) {
				t.Fatalf("%d\n%s%s", code, out, errs)
			}
			if got := read(t, w.usual(t, "cursor")); !strings.Contains(got, c.inClient) {
				t.Errorf("the client's file is\n%s", got)
			}
			if c.inConfig == "" {
				if !strings.Contains(read(t, "here/my.yaml"), "a:") || exists(w.ownConfig()) {
					t.Error("the configuration is elsewhere")
				}
			} else if got := read(t, w.ownConfig()); !strings.Contains(got, c.inConfig) {
				t.Errorf("the configuration is\n%s", got)
			}
			code, out, errs = w.setUp(t, append([]string{"--yes"}, strings.Fields(args)...)...)
			if code != 0 || !strings.Contains(out, "nothing was changed") {
				t.Errorf("a second time: %d\n%s%s", code, out, errs)
			}
			if code, _, errs := w.run(t, "setup", "--undo"); code != 0 || read(t, w.usual(t, "cursor")) != file {
				t.Errorf("undo: %d %s", code, errs)
			}
		})
	}
	for args, want := range map[string]string{
		"--client emacs": "known clients", "--secrets safe": "expected keep, file or env", "--service cron": "expected systemd",
		"--profile none": "has no profile", "x": "takes no arguments",
	} {
		w := newWorld(t)
		put(t, w.usual(t, "cursor"), file)
		if code, _, errs := w.run(t, append([]string{"setup"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", args, code, errs)
		}
	}
}

func TestServersOfAProjectAreTakenOnlyWhenToldAndKeepTheirFolder(t *testing.T) {
	w := newWorld(t)
	dir, _ := os.Getwd()
	const local = `{"mcpServers": {"project": {"command": "x", "args": ["./server.js"]}}}`
	user := `{"mcpServers": {"one": {"command": "x"}}, "projects": {"` + filepath.ToSlash(dir) + `": {"mcpServers": {"mine": {"command": "y"}}}}}`
	put(t, ".mcp.json", local)
	put(t, w.usual(t, "claude-code"), user)
	if code, out, errs := w.setUp(t, "--yes"); code != 0 || read(t, ".mcp.json") != local || strings.Contains(read(t, w.ownConfig()), "project") ||
		!strings.Contains(read(t, w.usual(t, "claude-code")), `"mine"`) {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if code, out, errs := w.setUp(t, "--yes", "--project"); code != 0 || strings.Contains(read(t, ".mcp.json"), "project") ||
		strings.Contains(read(t, w.usual(t, "claude-code")), `"mine"`) || strings.Count(read(t, w.ownConfig()), "cwd: ") != 2 {
		t.Errorf("%d\n%s%s\n%s", code, out, errs, read(t, w.ownConfig()))
	}
	for range 2 {
		if code, _, errs := w.run(t, "setup", "--undo"); code != 0 {
			t.Errorf("undo: %d %s", code, errs)
		}
	}
	if read(t, ".mcp.json") != local || read(t, w.usual(t, "claude-code")) != user {
		t.Error("the files are not what they were")
	}
}

func TestUndoOfAFileThatItsClientWritesAllTheTime(t *testing.T) {
	w := newWorld(t)
	path := w.usual(t, "claude-code")
	const file = "{\n  \"numStartups\": 1,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n"
	put(t, path, file)
	w.setUp(t, "--yes")
	started := strings.Replace(read(t, path), `"numStartups": 1`, `"numStartups": 2`, 1)
	put(t, path, strings.Replace(started, `"toolfit"`, `"new": {"command": "z"}, "toolfit"`, 1))
	if code, _, errs := w.run(t, "setup", "--undo"); code != 1 || !strings.Contains(errs, "it was changed since") ||
		!strings.Contains(errs, "by hand: cp ") && runtime.GOOS != "windows" || !exists(w.ownConfig()) {
		t.Errorf("with another server in it: %d %s", code, errs)
	}
	put(t, path, started)
	if code, _, errs := w.run(t, "setup", "--undo"); code != 0 || read(t, path) != strings.Replace(file, "1", "2", 1) || exists(w.ownConfig()) {
		t.Errorf("with another start: %d %s\n%s", code, errs, read(t, path))
	}
}

func TestSetupGoesThroughLinksAndSharedFiles(t *testing.T) {
	w := newWorld(t)
	const file = `{"mcpServers": {"a": {"command": "x"}}}`
	put(t, filepath.Join(w.home, "dot files", "共用.json"), file)
	for _, client := range []string{"cursor", "windsurf"} {
		if err := os.MkdirAll(filepath.Dir(w.usual(t, client)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(w.home, "dot files", "共用.json"), w.usual(t, client)); err != nil {
			t.Skip(err)
		}
	}
	if code, out, errs := w.setUp(t, "--yes"); code != 0 {
		t.Fatalf("%d\n%s%s", code, out, errs)
	}
	info, err := os.Lstat(w.usual(t, "cursor"))
	if err != nil || info.Mode()&os.ModeSymlink == 0 || strings.Contains(read(t, w.usual(t, "cursor")), `"a"`) {
		t.Errorf("%v, %v: %s", info, err, read(t, w.usual(t, "cursor")))
	}
	if code, _, errs := w.run(t, "setup", "--undo"); code != 0 || read(t, w.usual(t, "windsurf")) != file {
		t.Errorf("undo: %d %s", code, errs)
	}
}

func TestAnInterruptedSetupIsPutBackFirst(t *testing.T) {
	w := newWorld(t)
	const file = `{"mcpServers": {"a": {"command": "x"}}}`
	put(t, w.usual(t, "cursor"), file)
	w.setUp(t, "--yes")
	journal := filepath.Join(stateFolder(runtime.GOOS, &Env{Lookup: w.lookup, Home: w.home}), "setup.json")
	put(t, journal, strings.Replace(read(t, journal), `"done": true`, `"done": false`, 1))
	if code, _, errs := w.setUp(t, "--yes"); code != 1 || !strings.Contains(errs, "→ put back what it changed with: toolfit setup --undo") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := w.run(t, "setup", "--undo"); code != 0 || read(t, w.usual(t, "cursor")) != file {
		t.Errorf("undo: %d %s", code, errs)
	}
	if code, _, errs := w.setUp(t, "--yes"); code != 0 {
		t.Errorf("again: %d %s", code, errs)
	}
}

func TestSetupWithoutClientsOrServersSaysWhatToDo(t *testing.T) {
	w := newWorld(t)
	if code, out, _ := w.setUp(t, "--yes"); code != 0 || !strings.Contains(out, "toolfit demo") || strings.Count(out, "\n") != 1 {
		t.Errorf("%d %s", code, out)
	}
	put(t, w.usual(t, "cursor"), "{}")
	if code, out, _ := w.setUp(t, "--yes"); code != 0 || !strings.Contains(out, "found: cursor") || !strings.Contains(out, "toolfit add") {
		t.Errorf("%d %s", code, out)
	}
	if code, _, errs := w.setUp(t, "--yes", "--client", "cursor"); code != 1 || !strings.Contains(errs, "there are no servers yet") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := w.setUp(t, "--yes", "--client", "gemini-cli"); code != 1 || !strings.Contains(errs, "start gemini-cli once") {
		t.Errorf("%d %s", code, errs)
	}
	put(t, w.ownConfig(), "mcpServers:\n  a: {command: x}\n")
	if code, _, errs := w.setUp(t, "--yes", "--client", "cursor"); code != 0 || !strings.Contains(read(t, w.usual(t, "cursor")), "toolfit") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestTheUnitOfSystemdIsValid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a $b 100% 中文")
	program := filepath.Join(dir, "tool fit")
	put(t, program, "#!/bin/sh\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	text := systemdUnit([]string{program, "serve", "--config", dir + `/"x" $y.yaml`}, "/usr/bin:/opt/a b:/c%d")
	if !strings.Contains(text, `a $b 100%% 中文/tool fit" "serve" "--config"`) ||
		!strings.Contains(text, `a $$b 100%% 中文/\"x\" $$y.yaml"`) || !strings.Contains(text, `Environment="PATH=/usr/bin:/opt/a b:/c%%d"`) {
		t.Errorf("the unit is\n%s", text)
	}
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	unit := filepath.Join(t.TempDir(), unitName)
	put(t, unit, text)
	check := exec.Command(verify, "verify", "--user", "--man=no", unit)
	check.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := check.CombinedOutput(); err != nil || strings.Contains(string(out), unitName) {
		t.Errorf("systemd-analyze: %v\n%s\n%s", err, out, text)
	}
}

func TestOtherServices(t *testing.T) {
	args := []string{`C:\Program Files\toolfit.exe`, "serve", "--config", `C:\a & b\toolfit.yaml`}
	if got, want := windowsTask(args), `schtasks /Create /TN toolfit /SC ONLOGON /TR `+
		`"\"C:\Program Files\toolfit.exe\" serve --config \"C:\a & b\toolfit.yaml\""`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	agent := launchdAgent(args, "/usr/bin")
	if !strings.Contains(agent, `<string>C:\a &amp; b\toolfit.yaml</string>`) {
		t.Errorf("got\n%s", agent)
	}
}
