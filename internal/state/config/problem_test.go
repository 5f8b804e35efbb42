package config

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestEveryProblemHasLineFieldAndFix(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"an unknown key names the nearest one", "mcpServers:\n  files:\n    comand: npx\n",
			`toolfit.yaml:3: mcpServers.files.comand: unknown key; did you mean "command"?`},
		{"an unknown key unlike any has no guess", "zzz: 1\n", `toolfit.yaml:1: zzz: unknown key`},
		{"part of a key is enough for a guess", "servers: {}\n", `toolfit.yaml:1: servers: unknown key; did you mean "mcpServers"?`},
		{"a Chinese key is shown as it is", "服务器: {}\n", `toolfit.yaml:1: 服务器: unknown key`},
		{"an odd key is quoted", "\"a b\\n\": 1\n", `toolfit.yaml:1: "a b\n": unknown key`},
		{"a duplicate key names the first", "listen: a:1\n\nlisten: b:2\n", "toolfit.yaml:3: listen: is given twice, first in line 1; keep one"},
		{"a duplicate server counts once", "mcpServers:\n  a: {command: x}\n  a: {command: y}\n",
			"toolfit.yaml:3: mcpServers.a: is given twice, first in line 2; keep one"},
		{"a list where text is expected", "listen: [1]\n", "toolfit.yaml:1: listen: expected text, got a list"},
		{"text where a list is expected", "hosts: example.com\n", "toolfit.yaml:1: hosts: expected a list, got text"},
		{"a list at the top", "- a\n", "toolfit.yaml:1: expected a mapping, got a list"},
		{"text at the top", "\n\nhello\n", "toolfit.yaml:3: expected a mapping, got text"},
		{"a boolean in quotes", "records: {durable: 'true'}\n", "toolfit.yaml:1: records.durable: expected true or false, got text"},
		{"an item without a value", "mcpServers: {a: {command: x, args: [a, ]}}\nhosts:\n-\n",
			`toolfit.yaml:3: hosts[0]: expected text, got nothing; write "" for empty text`},
		{"a server needs a way", "mcpServers:\n  a: {}\n  b:\n", "toolfit.yaml:2: mcpServers.a: needs one of command, url or builtin\n" +
			"toolfit.yaml:3: mcpServers.b: needs one of command, url or builtin"},
		{"a server has one way", "mcpServers: {a: {command: x, url: 'http://h'}}\n",
			"toolfit.yaml:1: mcpServers.a: has command and url; keep one"},
		{"a key that does not go with the way", "mcpServers: {a: {url: 'http://h', args: [x], type: stdio}}\n",
			"toolfit.yaml:1: mcpServers.a: args goes with command, and this server has url; remove it\n" +
				"toolfit.yaml:1: mcpServers.a: type: stdio goes with command, and this server has url; remove it"},
		{"a server's name is checked", "mcpServers: {a__b: {command: x}}\n",
			`toolfit.yaml:1: mcpServers.a__b: server name "a__b" may not contain "__" or end in "_": tool names are server__tool; choose another ` +
				`name`},
		{"an address is http", "mcpServers: {a: {url: 'ftp://h'}}\n",
			"toolfit.yaml:1: mcpServers.a.url: expected an address such as https://example.com/mcp"},
		{"a header's name is a token", "mcpServers: {a: {url: 'http://h', headers: {a b: x}}}\n",
			`toolfit.yaml:1: mcpServers.a.headers."a b": is not a header's name; use letters, digits and "-"`},
		{"a header's value has one line", "mcpServers:\n  a:\n    url: http://h\n    headers:\n      X: \"a\\nb\"\n",
			"toolfit.yaml:5: mcpServers.a.headers.X: holds a line break or control character, which a header cannot contain; remove it"},
		{"a variable's name has no =", "mcpServers: {a: {command: x, env: {\"a=b\": c}}}\n",
			`toolfit.yaml:1: mcpServers.a.env."a=b": is not a variable's name; it may not be empty or hold "="`},
		{"a duration needs a unit", "mcpServers: {a: {command: x, timeout: 60}}\n",
			"toolfit.yaml:1: mcpServers.a.timeout: expected a duration with its unit, such as 500ms, 30s, 1h30m or 30d"},
		{"a timeout of 0 is none", "mcpServers: {a: {command: x, timeout: 0s}}\n", "toolfit.yaml:1: mcpServers.a.timeout: expected at least 1ns"},
		{"a size is one", "limits: {body: big}\n",
			"toolfit.yaml:1: limits.body: expected a size over 0, such as 512KB, 4MB, 2GB or a number of bytes"},
		{"a count is one", "limits: {processes: 0.5}\n", "toolfit.yaml:1: limits.processes: expected a whole number from 1 to 100000"},
		{"a choice names the choices", "approve: chnged\n", `toolfit.yaml:1: approve: expected auto or suspicious or changed or all; did you mean "changed"?`},
		{"a rule that does not parse", "\nresults:\n  - {tool: a__b, keep: \"a(b\"}\n",
			"toolfit.yaml:3: results[0].keep: at byte 3: the group that starts at byte 1 does not end; add )"},
		{"a profile names servers that exist", "mcpServers: {files: {command: x}}\nprofiles:\n  p:\n    servers:\n      - fiels\n      - 云\n",
			"toolfit.yaml:5: profiles.p.servers[0]: there is no server \"fiels\"; did you mean \"files\"?\n" +
				"toolfit.yaml:6: profiles.p.servers[1]: there is no server \"云\"; add it to mcpServers or apis, or remove it here"},
		{"the server of recipes may be named before there is one, and no other has its name",
			"mcpServers: {recipes: {command: x}}\nprofiles: {p: {servers: [recipes]}}\n",
			"toolfit.yaml:1: mcpServers.recipes: the server name \"recipes\" is reserved for recipes, which are scripts saved as tools; choose another name"},
		{"an empty list of servers is unclear", "profiles: {p: {servers: []}}\n",
			"toolfit.yaml:1: profiles.p.servers: names no server; leave the key out for all servers"},
		{"a profile's name fits an address", "profiles: {a/b: {}}\n",
			`toolfit.yaml:1: profiles.a/b: is not a profile's name; use letters, digits, "-", "_" and "."`},
		{"a glob is not a regular expression", "profiles: {p: {tools: {deny: ['[ab]']}}}\n",
			`toolfit.yaml:1: profiles.p.tools.deny[0]: is not a glob; only "*" (any run) and "?" (one character) are special`},
		{"listen has a port", "listen: localhost\n", "toolfit.yaml:1: listen: expected host:port, such as 127.0.0.1:8420"},
		{"a host has no scheme", "hosts: ['https://a.b']\n",
			"toolfit.yaml:1: hosts[0]: expected a host name, such as tools.example.com, without scheme and path"},
		{"a base path starts with a slash", "basePath: gate\n", "toolfit.yaml:1: basePath: expected a path such as /toolfit"},
		{"a trusted proxy is a network", "proxies: [10.0.0.0/8, proxy.example.com]\n",
			"toolfit.yaml:1: proxies[1]: expected a network or an address, such as 10.0.0.0/8 or 127.0.0.1"},
		{"a rate has its time", "rate: {perKey: 50}\n",
			"toolfit.yaml:1: rate.perKey: expected a number of requests and its time, such as 50/s, 600/m or 5000/h"},
		{"a gateway ends soon", "replica: {drain: 11s}\n",
			"toolfit.yaml:1: replica.drain: expected a duration of at most 10s, such as 5s"},
		{"a burst needs a rate", "rate: {burst: 50}\n", "toolfit.yaml:1: rate: has only burst; add perKey, such as 50/s"},
		{"a server's proxy is an address", "mcpServers: {a: {url: 'http://h', proxy: 'proxy:3128'}}\n",
			"toolfit.yaml:1: mcpServers.a.proxy: expected the address of a proxy, such as http://proxy.example.com:3128"},
		{"a proxy goes with a URL", "mcpServers: {a: {command: x, proxy: 'http://p:1'}}\n",
			"toolfit.yaml:1: mcpServers.a: proxy goes with url, and this server has command; remove it"},
		{"a limit on calls is a count", "mcpServers: {a: {command: x, concurrency: -1, queue: many}}\n",
			"toolfit.yaml:1: mcpServers.a.concurrency: expected a whole number from 0 to 1000000\n" +
				"toolfit.yaml:1: mcpServers.a.queue: expected a whole number from 0 to 1000000"},
		{"a breaker has its own keys", "mcpServers: {a: {command: x, breaker: {failure: 1, pause: 0s}}}\n",
			"toolfit.yaml:1: mcpServers.a.breaker.failure: unknown key; did you mean \"failures\"?\n" +
				"toolfit.yaml:1: mcpServers.a.breaker.pause: expected at least 1ms"},
		{"every problem is reported, in file order", "profiles: {p: {servers: [x]}}\nlisten: 1\nzzz: 1\n",
			"toolfit.yaml:1: profiles.p.servers[0]: there is no server \"x\"; add it to mcpServers or apis, or remove it here\n" +
				"toolfit.yaml:2: listen: expected host:port, such as 127.0.0.1:8420\ntoolfit.yaml:3: zzz: unknown key"},
		{"lines are counted in Windows files", "a: 1\r\n\r\nb: 2\r\n", "toolfit.yaml:1: a: unknown key\ntoolfit.yaml:3: b: unknown key"},
		{"lines are counted after long text", "listen: |\n  a\n  b\n\nzzz: \"x\n  y\"\nyyy: 1\n",
			"toolfit.yaml:1: listen: expected host:port, such as 127.0.0.1:8420\ntoolfit.yaml:5: zzz: unknown key\ntoolfit.yaml:7: yyy: unknown " +
				"key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantProblem(t, "toolfit.yaml", tt.text, tt.want) })
	}
}

func TestTextThatIsNoYAML(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a tab names the fix", "mcpServers:\n\ta: 1\n", "toolfit.yaml:2:1: is not YAML: a tab is used for indentation; use spaces"},
		{"an @ needs quotes", "mcpServers:\n  a: {command: npx, args: [@scope/x]}\n",
			"toolfit.yaml:2:28: is not YAML: '@' is a reserved character; put the text in quotes"},
		{"a ${} in braces needs quotes", "\nmcpServers: {a: {url: ${URL}}}\n",
			"toolfit.yaml:2:24: is not YAML: ${…} is inside { } or [ ] without quotes; put the text in quotes"},
		{"an alias is not supported", "hosts: [*a]\n",
			`toolfit.yaml:1:9: hosts[0]: text that starts with "*" is an alias, and aliases are not supported; put it in quotes, or ` +
				`write the value out`},
		{"a glob without quotes is taken for an alias", "profiles:\n  p:\n    tools:\n      deny:\n        - *delete*\n",
			`toolfit.yaml:5:11: profiles.p.tools.deny[0]: text that starts with "*" is an alias, and aliases are not supported; put it in ` +
				`quotes, or write the value out`},
		{"an anchor is not supported", "hosts: &a [x]\n",
			"toolfit.yaml:1:8: hosts: anchors (&name) are not supported; write the value out, or put the text in quotes"},
		{"a merge key is not supported", "records:\n  <<: {}\n",
			"toolfit.yaml:2:3: records: merge keys (<<) are not supported; write the keys out"},
		{"a tag is not supported", "listen: !!str 1\n", "toolfit.yaml:1:9: listen: tags (!name) are not supported; put the text in quotes"},
		{"a second document is one too many", "listen: a:1\n---\nlisten: b:2\n", "toolfit.yaml:3:7: starts a second document; keep one"},
		{"problems of both kinds come together", "hosts: [*a]\nzzz: 1\n",
			`toolfit.yaml:1:9: hosts[0]: text that starts with "*" is an alias, and aliases are not supported; put it in quotes, or ` +
				`write the value out` + "\ntoolfit.yaml:2: zzz: unknown key"},
		{"UTF-16 names the fix", "\xff\xfea\x00", "toolfit.yaml:1: is UTF-16; save it as UTF-8"},
		{"another encoding names the line", "a: 1\nb: \xb0\xa1\n", "toolfit.yaml:2: is not UTF-8; save it as UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantProblem(t, "toolfit.yaml", tt.text, tt.want) })
	}
}

func TestOddFilesAreRefusedQuickly(t *testing.T) {
	block := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"open brackets":        strings.Repeat("[", 1<<17),
		"brackets":             strings.Repeat("[", 150) + strings.Repeat("]", 150),
		"braces":               strings.Repeat("{a: ", 1<<16),
		"dashes":               strings.Repeat("- ", 1<<17),
		"question marks":       strings.Repeat("? ", 1<<17),
		"question marks in []": "[" + strings.Repeat("? ", 1<<16),
		"tags":                 strings.Repeat("!a ", 1<<16),
		"anchors":              strings.Repeat("&a ", 1<<16),
		"colons":               strings.Repeat("a: ", 1<<16),
		"colons in braces":     "{" + strings.Repeat("a: ", 1<<16),
		"deep block":           block(150),
		"very deep block":      block(1500),
		"many keys":            strings.Repeat("key: v\n", 1<<16),
		"unclosed quote":       "a: \"" + strings.Repeat("x\n", 1<<16),
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"toolfit.yaml", "mcp.json"} {
				if _, err := Parse(path, []byte(text), variables()); !fault.Is(err, fault.BadConfig) {
					t.Errorf("%s: got %v", path, err)
				}
			}
		})
	}
}

func wantProblem(t *testing.T, path, text, want string, pairs ...string) {
	t.Helper()
	cfg, err := Parse(path, []byte(text), variables(pairs...))
	if cfg != nil || !fault.Is(err, fault.BadConfig) {
		t.Fatalf("got %+v, %v", cfg, err)
	}
	if got := fault.As(err).Message; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
