package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
)

// file writes a file into a new folder; no text, no file.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".toolfit-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFolderThatMayNotBeWrittenToIsNamed(t *testing.T) {
	path := file(t, "toolfit.yaml", "listen: a:1\n")
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if f, err := os.CreateTemp(dir, "x"); err == nil {
		f.Close()
		t.Skip("needs a user who may not write everywhere")
	}
	err := AddServer(path, Server{ID: "web", Command: "npx"})
	if f := fault.As(err); f.Message != path+" cannot be changed: permission denied" || f.Hint != "check who may write to folder "+dir {
		t.Errorf("got %v", err)
	}
	wantFile(t, path, "listen: a:1\n")
}

func TestAddServer(t *testing.T) {
	web := Server{ID: "web", Command: "npx", Args: []string{"-y", "@playwright/mcp"}}
	tests := []struct{ name, path, before, after string }{
		{"a missing file is made", "toolfit.yaml", "",
			header + "mcpServers:\n  web:\n    command: npx\n    args: [-y, \"@playwright/mcp\"]\n"},
		{"a missing JSON file is made", "mcp.json", "",
			"{\n  \"mcpServers\": {\n    \"web\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"@playwright/mcp\"]\n    }\n  }\n}\n"},
		{"a file without servers gets them at its end", "toolfit.yaml", "listen: a:1 # here",
			"listen: a:1 # here\nmcpServers:\n  web:\n    command: npx\n    args: [-y, \"@playwright/mcp\"]\n"},
		{"an empty key is filled", "toolfit.yaml", "mcpServers: # none yet\n\n# the end\nlisten: a:1\n",
			"mcpServers: # none yet\n  web:\n    command: npx\n    args: [-y, \"@playwright/mcp\"]\n\n# the end\nlisten: a:1\n"},
		{"empty braces give way", "toolfit.yaml", "mcpServers: {} # none yet\nlisten: a:1\n",
			"mcpServers: # none yet\n  web:\n    command: npx\n    args: [-y, \"@playwright/mcp\"]\nlisten: a:1\n"},
		{"a null gives way", "toolfit.yaml", "mcpServers: ~\n",
			"mcpServers:\n  web:\n    command: npx\n    args: [-y, \"@playwright/mcp\"]\n"},
		{"block neighbors give block style and indentation", "toolfit.yaml",
			"mcpServers:\n    # 文件\n    files:\n        command: x # why\n        # inner\n\n# the end\nlisten: a:1\n",
			"mcpServers:\n    # 文件\n    files:\n        command: x # why\n        # inner\n    web:\n        command: npx\n        args: [-y, " +
				"\"@playwright/mcp\"]\n\n# the end\nlisten: a:1\n"},
		{"flow neighbors give flow style", "toolfit.yaml", "mcpServers:\n  files: {command: x} # why\n  # old: {command: y}\nlisten: a:1\n",
			"mcpServers:\n  files: {command: x} # why\n  # old: {command: y}\n  web: {command: npx, args: [-y, \"@playwright/mcp\"]}\nlisten: " +
				"a:1\n"},
		{"a flow mapping grows inside its braces", "toolfit.yaml", "mcpServers: {文件: {command: 读}} # all\n",
			"mcpServers: {文件: {command: 读}, web: {command: npx, args: [-y, \"@playwright/mcp\"]}} # all\n"},
		{"a flow mapping over lines grows by a line", "toolfit.yaml", "mcpServers: {\n  files: {command: x}, # why\n}\n",
			"mcpServers: {\n  files: {command: x},\n  web: {command: npx, args: [-y, \"@playwright/mcp\"]}, # why\n}\n"},
		{"a flow file grows inside its braces", "toolfit.yaml", "{listen: 'a:1'}\n",
			"{mcpServers: {web: {command: npx, args: [-y, \"@playwright/mcp\"]}}, listen: 'a:1'}\n"},
		{"Windows line endings and the mark stay", "toolfit.yaml", "\ufeff" + "mcpServers:\r\n  files: {command: x}\r\n",
			"\ufeff" + "mcpServers:\r\n  files: {command: x}\r\n  web: {command: npx, args: [-y, \"@playwright/mcp\"]}\r\n"},
		{"a problem from before does not stop the edit", "toolfit.yaml", "zzz: 1\nmcpServers:\n  files: {comand: x}\n",
			"zzz: 1\nmcpServers:\n  files: {comand: x}\n  web: {command: npx, args: [-y, \"@playwright/mcp\"]}\n"},
		{"JSON keeps comments, order and indentation", "mcp.json",
			"{\n\t\"theme\": 1, // dark\n\t\"mcpServers\": {\n\t\t\"files\": {\"command\": \"x\"}, // why\n\t},\n}\n",
			"{\n\t\"theme\": 1, // dark\n\t\"mcpServers\": {\n\t\t\"files\": {\"command\": \"x\"},\n\t\t\"web\": {\n\t\t\t\"command\": " +
				"\"npx\",\n\t\t\t\"args\": [\"-y\", \"@playwright/mcp\"]\n\t\t}, // why\n\t},\n}\n"},
		{"JSON on one line stays on one line", "mcp.json", `{"servers": {"files": {"command": "x"}}, "n": 1e9}`,
			`{"servers": {"files": {"command": "x"}, "web": {"command": "npx", "args": ["-y", "@playwright/mcp"]}}, "n": 1e9}`},
		{"JSON without servers gets them", "mcp.json", "{\n  \"theme\": 1\n}\n",
			"{\n  \"theme\": 1,\n  \"mcpServers\": {\n    \"web\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", " +
				"\"@playwright/mcp\"]\n    }\n  }\n}\n"},
		{"empty JSON servers are filled", "mcp.json", "{\n  \"mcp\": {\n    \"servers\": {}\n  }\n}\n",
			"{\n  \"mcp\": {\n    \"servers\": {\n      \"web\": {\n        \"command\": \"npx\",\n        \"args\": [\"-y\", " +
				"\"@playwright/mcp\"]\n      }\n    }\n  }\n}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := file(t, tt.path, tt.before)
			if err := AddServer(path, web); err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, tt.after)
		})
	}
}

func TestAddServerWritesValuesAsGiven(t *testing.T) {
	s := defaultServer("云", 0)
	s.URL, s.Type = "${BASE}/mcp", "http"
	s.Headers = map[string]string{"Authorization": "Bearer ${TOKEN}", "A": "<&>: #\"'"}
	s.Timeout, s.Detach, s.Idle, s.Disabled = 90*time.Minute, DetachOff, -1, true
	s.Timeouts = []ToolTimeout{{"*", time.Second}, {"a", day}}
	odd := Server{ID: "no", Command: "true", Cwd: "~", Env: map[string]string{"N": "010", "E": "", "Z": "a\nb", "NULL": "null", "中": "文 字",
		"D": "-", "Y": "yes"}}
	path := file(t, "toolfit.yaml", "")
	for _, s := range []Server{s, odd} {
		if err := AddServer(path, s); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, path, header+`mcpServers:
  云:
    type: http
    url: "${BASE}/mcp"
    headers:
      A: "<&>: #\"'"
      Authorization: "Bearer ${TOKEN}"
    timeout: 1h30m
    timeouts:
      "*": 1s
      a: 1d
    detach: "off"
    idle: 0s
    disabled: true
  "no":
    command: "true"
    env:
      D: "-"
      E: ""
      "N": "010"
      "NULL": "null"
      "Y": "yes"
      Z: "a\nb"
      中: "文 字"
    cwd: "~"
`)
	cfg, err := Load(path, variables("BASE", "http://h", "TOKEN", "s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Servers[0]; got.URL != "http://h/mcp" || got.Idle != -1 || got.Detach != DetachOff || got.Timeouts[1].Timeout != day {
		t.Errorf("got %+v", got)
	}
	if got := cfg.Servers[1].Env; got["N"] != "010" || got["Z"] != "a\nb" || got["NULL"] != "null" {
		t.Errorf("got %q", got)
	}
}

func TestAddServerRefuses(t *testing.T) {
	const text = "mcpServers:\n  files: {command: x}\n"
	tests := []struct {
		name string
		text string
		add  Server
		code fault.Code
		want string
	}{
		{"a name that is there", text, Server{ID: "files", Command: "y"}, fault.Conflict, "has a server \"files\" already"},
		{"a bad name", text, Server{ID: "a__b", Command: "y"}, fault.BadConfig, "may not contain \"__\""},
		{"a server that would not load", text, Server{ID: "b"}, fault.BadConfig, ":3: mcpServers.b: needs one of command, url or builtin"},
		{"an address that would not load", text, Server{ID: "b", URL: "ftp://h"}, fault.BadConfig, "mcpServers.b.url: expected an address"},
		{"a file that is not YAML", "a: [\n", Server{ID: "b", Command: "y"}, fault.BadConfig, "is not YAML"},
		{"servers that are no mapping", "mcpServers: [1]\n", Server{ID: "b", Command: "y"}, fault.BadConfig, "cannot be edited"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := file(t, "toolfit.yaml", tt.text)
			err := AddServer(path, tt.add)
			if !fault.Is(err, tt.code) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			wantFile(t, path, tt.text)
		})
	}
}

func TestRemoveServer(t *testing.T) {
	tests := []struct{ name, path, before, after string }{
		{"a block server goes, comments stay", "toolfit.yaml",
			"mcpServers:\n  # first\n  a:\n    command: x\n    # inner\n  # 第二\n  web:\n    command: y\n    args:\n      - 1\n\n  # third\n  c: " +
				"{command: z}\n",
			"mcpServers:\n  # first\n  a:\n    command: x\n    # inner\n  # 第二\n\n  # third\n  c: {command: z}\n"},
		{"the last block server goes", "toolfit.yaml", "mcpServers:\n  a: {command: x}\n  web: # it\n    command: y\n\n# the end\nlisten: a:1\n",
			"mcpServers:\n  a: {command: x}\n\n# the end\nlisten: a:1\n"},
		{"the only server goes", "toolfit.yaml", "mcpServers:\n  web: {command: y}\nlisten: a:1\n", "mcpServers:\nlisten: a:1\n"},
		{"the first in braces goes", "toolfit.yaml", "mcpServers: {web: {command: y}, b: {command: x}} # all\n",
			"mcpServers: {b: {command: x}} # all\n"},
		{"the last in braces goes", "toolfit.yaml", "mcpServers: {中: {command: x}, web: {command: y}}\n", "mcpServers: {中: {command: x}}\n"},
		{"the only one in braces goes", "toolfit.yaml", "mcpServers: {web: {command: y}}\n", "mcpServers: {}\n"},
		{"Windows line endings stay", "toolfit.yaml", "mcpServers:\r\n  web: {command: y}\r\n  b: {command: x}\r\n",
			"mcpServers:\r\n  b: {command: x}\r\n"},
		{"JSON keeps its comments and order", "mcp.json",
			"{\n  \"mcpServers\": {\n    // one\n    \"web\": {\"command\": \"y\"}, // two\n    /* three */ \"b\": {\"command\": \"x\"}\n  },\n  " +
				"\"z\": 1\n}\n",
			"{\n  \"mcpServers\": {\n    // one\n    // two\n    /* three */ \"b\": {\"command\": \"x\"}\n  },\n  \"z\": 1\n}\n"},
		{"the last of JSON takes the comma before it", "mcp.json",
			"{\"mcpServers\": {\n  \"b\": {\"command\": \"x\"} /* c */ ,\n  \"web\": {\"command\": \"y\"}\n}}",
			"{\"mcpServers\": {\n  \"b\": {\"command\": \"x\"} /* c */ \n}}"},
		{"a trailing comma stays one", "mcp.json", "{\"mcpServers\": {\n  \"b\": {\"command\": \"x\"},\n  \"web\": {\"command\": \"y\"},\n}}",
			"{\"mcpServers\": {\n  \"b\": {\"command\": \"x\"},\n}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := file(t, tt.path, tt.before)
			if err := RemoveServer(path, "web"); err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, tt.after)
		})
	}
}

func TestRemoveServerRefuses(t *testing.T) {
	const text = "mcpServers:\n  files: {command: x}\nprofiles: {p: {servers: [files]}}\n"
	path := file(t, "toolfit.yaml", text)
	if err := RemoveServer(path, "fiels"); !fault.Is(err, fault.NotFound) || fault.As(err).Hint != `did you mean "files"?` {
		t.Errorf("unknown name: %v", err)
	}
	if err := RemoveServer(path, "files"); !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(),
		"profiles.p.servers[0]: there is no server") {
		t.Errorf("server in use: %v", err)
	}
	wantFile(t, path, text)
	if err := RemoveServer(filepath.Join(t.TempDir(), "none.yaml"), "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("missing file: %v", err)
	}
}

func TestEditFollowsLinksAndKeepsTheMode(t *testing.T) {
	path := file(t, "real.yaml", "mcpServers:\n  a: {command: x}\n")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "toolfit.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := AddServer(link, Server{ID: "b", Command: "run"}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "mcpServers:\n  a: {command: x}\n  b: {command: run}\n")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v %v", info.Mode(), err)
	}
}

func TestReplaceFileSeesOtherWriters(t *testing.T) {
	path := file(t, "toolfit.yaml", "new")
	for name, old := range map[string][]byte{"changed": []byte("old"), "made": nil} {
		if err := regular.Replace(path, old, []byte("mine"), 0o777); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	wantFile(t, path, "new")
}

func TestAddServerWritesLimitsThatAreNotTheUsualOnes(t *testing.T) {
	usual := defaultServer("a", 0)
	usual.Command = "x"
	limited := defaultServer("b", 0)
	limited.URL, limited.Proxy, limited.Concurrency, limited.Queue = "http://h/mcp", "http://p:1", 2, 0
	limited.Breaker = Breaker{Failures: 0, Pause: time.Minute}
	path := file(t, "toolfit.yaml", "mcpServers:\n")
	for _, s := range []Server{usual, limited} {
		if err := AddServer(path, s); err != nil {
			t.Fatal(err)
		}
		if !sameInFile(t, path, s) {
			t.Errorf("%s does not come back as it was", s.ID)
		}
	}
	wantFile(t, path, `mcpServers:
  a:
    command: x
  b:
    url: "http://h/mcp"
    proxy: "http://p:1"
    concurrency: 2
    queue: 0
    breaker:
      failures: 0
      pause: 1m
`)
}

func TestInheritIsReadWrittenAndChecked(t *testing.T) {
	for text, want := range map[string][]string{"[GITHUB_TOKEN, AWS_*]": {"GITHUB_TOKEN", "AWS_*"}, "all": {"*"}, "[]": nil} {
		cfg, err := Parse("toolfit.yaml", []byte("mcpServers: {s: {command: x, inherit: "+text+"}}"), nil)
		if err != nil || !slices.Equal(cfg.Servers[0].Inherit, want) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		path := filepath.Join(t.TempDir(), "toolfit.yaml")
		if err := AddServer(path, Server{ID: "s", Command: "x", Inherit: want}); err != nil {
			t.Error(err)
		}
		if again, err := Load(path, nil); err != nil || !slices.Equal(again.Servers[0].Inherit, want) {
			t.Errorf("%s, written and read: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"command: x, inherit: GITHUB_TOKEN":          "expected all, or a list of variables",
		"command: x, inherit: [A=b]":                 "is not a variable's name",
		"url: \"https://example.com\", inherit: all": "inherit goes with command",
	} {
		if _, err := Parse("toolfit.yaml", []byte("mcpServers: {s: {"+text+"}}"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func sameInFile(t *testing.T, path string, s Server) bool {
	t.Helper()
	text, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return SameServer(path, text, s)
}
