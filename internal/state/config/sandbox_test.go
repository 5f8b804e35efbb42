package config

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolfit/toolfit/internal/base/sandbox"
)

func TestASandboxIsReadCheckedAndWritten(t *testing.T) {
	home := func(name string) (string, bool) { return "/home/ann", name == "HOME" }
	nobody := func(string) (string, bool) { return "", false }
	for _, c := range []struct {
		name, text string
		env        func(string) (string, bool)
		want       *sandbox.Rules
		problem    string
	}{
		{"an empty one gives what every program needs", "command: x, sandbox: {}", nobody, &sandbox.Rules{Net: true}, ""},
		{"paths start at the file's folder, the root or the home", "command: x, sandbox: {preset: uvx, read: [a, ~/, ~b], write: [/c, ~/d], net: false}",
			home, &sandbox.Rules{Preset: "uvx", Read: []string{"/etc/a", "/home/ann", "/etc/~b"}, Write: []string{"/c", "/home/ann/d"}}, ""},
		{"a home must be known", "command: x, sandbox: {read: [~/a]}", nobody, nil,
			"/etc/toolfit.yaml:1: mcpServers.s.sandbox.read[0]: starts with ~, and the environment variable HOME is not set; write the whole path"},
		{"a preset is one of two", "command: x, sandbox: {preset: npm}", nobody, nil,
			`/etc/toolfit.yaml:1: mcpServers.s.sandbox.preset: expected npx or uvx; did you mean "npx"?`},
		{"an unknown key restricts nothing", "command: x, sandbox: {nett: false}", nobody, nil,
			`/etc/toolfit.yaml:1: mcpServers.s.sandbox.nett: unknown key; did you mean "net"?`},
		{"a key without a value is unclear", "command: x, sandbox: {net: }", nobody, nil,
			"/etc/toolfit.yaml:1: mcpServers.s.sandbox.net: has no value; give it one, or remove the key"},
		{"so is a sandbox", "command: x, sandbox: ", nobody, nil,
			"/etc/toolfit.yaml:1: mcpServers.s.sandbox: has no value; give it one, or remove the key"},
		{"a sandbox is for a program", "url: 'https://a.b', sandbox: {}", nobody, nil,
			"/etc/toolfit.yaml:1: mcpServers.s: sandbox goes with command, and this server has url; remove it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse("/etc/toolfit.yaml", []byte("mcpServers: {s: {"+c.text+"}}\n"), c.env)
			if c.problem != "" {
				if err == nil || err.Error() != c.problem {
					t.Errorf("got %v\nwant %s", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, cfg.Servers[0].Sandbox); diff != "" {
				t.Error(diff)
			}
			path := filepath.Join(t.TempDir(), "toolfit.yaml")
			if err := AddServer(path, cfg.Servers[0]); err != nil {
				t.Fatal(err)
			}
			again, err := Load(path, c.env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, again.Servers[0].Sandbox); diff != "" {
				t.Error(diff)
			}
		})
	}
}
