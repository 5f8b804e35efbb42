package config

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/project"
)

// variables is an environment for tests.
func variables(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func parse(t *testing.T, path, text string, pairs ...string) *Config {
	t.Helper()
	cfg, err := Parse(path, []byte(text), variables(pairs...))
	if err != nil {
		t.Fatalf("Parse:\n%v", err)
	}
	return cfg
}

const whole = `# 网关
listen: 0.0.0.0:9000
store: data/工具.db
hosts: [tools.example.com]
basePath: /gate/
mcpServers:
  files: {command: npx, args: [-y, "@scope/files", ., 8080, true], idle: 0, cwd: work}
  云:
    url: "https://example.com/mcp"
    type: streamable-http
    headers:
      Authorization: "Bearer ${TOKEN}"
    timeout: 90s
    detach: 2m
    timeouts: {slow_*: 5m, "*": 30s}
    refresh: 1d12h
    proxy: "http://me:pa55word@proxy.example.com:3128"
    concurrency: 4
    queue: 0
    breaker: {failures: 3, pause: 1m}
  tcb: {builtin: cloudbase, env: {REGION: 上海, N: 010}, disabled: true, start: 1m, isolation: session}
profiles:
  default: {servers: [files, 云]}
  ops:
    tools: {allow: ["云__*"], deny: ["*delete*"]}
    names: bare
    dialect: gemini
    validation: light
    repairs: {key: false}
    output: warn
    budget: 6500
    shape: auto
    dropEmpty: true
    paging: true
    detach: off
    safety: {strip: true, secrets: true, mark: true}
    search: auto
    context: 100000
    pinned: ["云__q*"]
    prompt: true
    examples: true
    env: true
    envNames: both
results:
  - {id: list, tool: "云__q*", when: {action: list, /a/b: [1, null]}, keep: "EnvList(EnvId)", budget: 500, shape: "off", mode: shadow, profile: ops}
kept: {retain: 2h, maxSize: 5MB, perKey: 1MB}
overrides:
  - {tool: "云__create", profile: ops, name: create_vm, describe: Make one., descriptions: {zh-Hans: 创建}, example: {size: 1}, fix: {region: ap-shanghai, n: 1.0, on: true}, hide: [debug]}
  - tool: "*__create"
    describe: {size: in GB}
    default: {tags: [a, "${TOKEN}"]}
    require: [size]
    enum: {kind: [small, 2]}
    rename: {size: gigabytes}
    retry: 2
    detach: auto
    fallback: [files__make, {arguments: {size: 1}}]
approve: changed
resultStore: none
detach: 1m30s
records: {durable: true, retain: 7d, maxSize: 512MB}
sessions: {retain: 90d, maxSize: 64MB, perKey: 8MB}
limits: {body: 1MB, message: 2048, processes: 8, schema: 1MB}
proxies: [10.0.0.0/8, "::1"]
replica: {url: "http://10.1.2.3:8420", drain: 3s}
rate: {perKey: 600/m, burst: 30}
embeddings: {url: "http://127.0.0.1:9/v1", model: small, key: "${TOKEN}"}
telemetry: {endpoint: "http://127.0.0.1:4318", headers: {X-Key: "${TOKEN}"}, sample: 0.25, arguments: true}
audit:
  keep: 90d
  sinks:
    - {otlp: "http://127.0.0.1:4318", headers: {X-Key: "${TOKEN}"}}
    - {webhook: "https://example.com/audit", secret: "a secret of the webhook"}
    - {syslog: "tls://logs.example.com"}
`

func wantWhole() *Config {
	files := defaultServer("files", 7)
	files.Command, files.Args = "npx", []string{"-y", "@scope/files", ".", "8080", "true"}
	files.Cwd, files.Idle = filepath.Join("etc", "work"), -1
	cloud := defaultServer("云", 8)
	cloud.URL, cloud.Type, cloud.Cwd = "https://example.com/mcp", "streamable-http", "etc"
	cloud.Headers = map[string]string{"Authorization": "Bearer s3cret"}
	cloud.Timeout, cloud.Detach, cloud.Refresh = 90*time.Second, Detach(2*time.Minute), 36*time.Hour
	cloud.Timeouts = []ToolTimeout{{"slow_*", 5 * time.Minute}, {"*", 30 * time.Second}}
	cloud.Proxy, cloud.Concurrency, cloud.Queue = "http://me:pa55word@proxy.example.com:3128", 4, 0
	cloud.Breaker = Breaker{Failures: 3, Pause: time.Minute}
	tcb := defaultServer("tcb", 21)
	tcb.Builtin, tcb.Cwd, tcb.Disabled = "cloudbase", "etc", true
	tcb.Env = map[string]string{"REGION": "上海", "N": "010"}
	tcb.Start, tcb.Isolation = time.Minute, "session"
	return &Config{
		Path: "etc/toolfit.yaml", Listen: "0.0.0.0:9000", Store: filepath.Join("etc", "data", "工具.db"),
		Hosts: []string{"tools.example.com"}, BasePath: "/gate", Servers: []Server{files, cloud, tcb},
		Profiles: []Profile{
			{Name: "default", Servers: []tool.ServerID{"files", "云"}, Names: "prefixed", Validation: "strict", Output: "off",
				TextBudget: DefaultBudget, Search: Search{Mode: "off"}, Environment: Environment{Names: "underscore"}},
			{Name: "ops", All: true, Allow: []string{"云__*"}, Deny: []string{"*delete*"}, Names: "bare", Dialect: "gemini", Validation: "light",
				Without: []fit.Kind{fit.Rename}, Output: "warn",
				Budget: 6500, Shape: "auto", DropEmpty: true, Paging: true, Detach: DetachOff, Safety: Safety{true, true, true}, Search: Search{"auto", 100_000,
					[]string{"云__q*"}, true, true},
				Environment: Environment{true, "both"}},
		},
		Results: []project.Rule{{
			ID: "list", Tool: "云__q*", When: map[string]any{"action": "list", "/a/b": []any{json.Number("1"), nil}}, Keep: "EnvList(EnvId)",
			Budget: 500, Shape: "off", Mode: "shadow", Profile: "ops",
		}},
		StoredResults: Retention{2 * time.Hour, 5 << 20, 1 << 20},
		Overrides:     wantOverrides(), Approvals: Approvals{Expire: 10 * time.Minute}, Approve: "changed", ResultStore: "none", Detach: Detach(90 * time.Second),
		Records: Records{Durable: true, Retain: 7 * day, MaxSize: 512 << 20}, Sessions: Retention{Retain: 90 * day, MaxSize: 64 << 20,
			PerKey: 8 << 20},
		Limits:  Limits{Body: 1 << 20, Message: 2048, Processes: 8, Sessions: 10_000, Schema: 1 << 20},
		Replica: Replica{URL: "http://10.1.2.3:8420", Drain: 3 * time.Second},
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		Rate:    Rate{PerKey: 10, Burst: 30}, Embeddings: Embeddings{"http://127.0.0.1:9/v1", "small", "s3cret"},
		Telemetry: Telemetry{Endpoint: "http://127.0.0.1:4318", Headers: map[string]string{"X-Key": "s3cret"}, Sample: new(0.25), Arguments: true},
		Audit: Audit{Keep: 90 * 24 * time.Hour, Sinks: []Sink{
			{Kind: OTLPSink, URL: "http://127.0.0.1:4318", Headers: map[string]string{"X-Key": "s3cret"}},
			{Kind: WebhookSink, URL: "https://example.com/audit", Secret: "a secret of the webhook"},
			{Kind: SyslogSink, URL: "tls://logs.example.com"},
		}},
		Secrets: []string{"s3cret", "Bearer s3cret", "pa55word", "a secret of the webhook"},
	}
}

func wantOverrides() []Override {
	text := "Make one."
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []Override{
		{Line: 48, Tool: "云__create", Profile: "ops", Descriptions: map[string]string{"zh-Hans": "创建"}, Example: raw(`{"size":1}`),
			Override: fit.Override{
				Name: "create_vm", Description: &text, Hide: []string{"debug"},
				Fix: map[string]json.RawMessage{"region": raw(`"ap-shanghai"`), "n": raw("1.0"), "on": raw("true")},
			}},
		{Line: 49, Tool: "*__create", Retry: 2, Fallback: []Fallback{{Tool: "files__make"}, {Args: raw(`{"size":1}`)}}, Detach: DetachAuto, Override: fit.Override{
			Describe: map[string]string{"size": "in GB"}, Default: map[string]json.RawMessage{"tags": raw(`["a","s3cret"]`)},
			Require: []string{"size"}, Enum: map[string][]json.RawMessage{"kind": {raw(`"small"`), raw("2")}},
			Rename: map[string]string{"size": "gigabytes"},
		}},
	}
}

func TestOverridesOfOneToolAreJoined(t *testing.T) {
	cfg := parse(t, "etc/toolfit.yaml", whole, "TOKEN", "s3cret")
	o := cfg.OverrideFor("ops", "云__create")
	if o == nil || o.Name != "create_vm" || o.Retry != 2 || len(o.Fix) != 3 || o.Rename["size"] != "gigabytes" {
		t.Errorf("got %+v", o)
	}
	if o := cfg.OverrideFor("default", "云__create"); o == nil || o.Name != "" || o.Retry != 2 {
		t.Errorf("another profile: %+v", o)
	}
	if o := cfg.OverrideFor("ops", "files__read"); o != nil {
		t.Errorf("another tool: %+v", o)
	}
}

func TestOverridesThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"overrides: [{name: x}]":                                          "overrides[0]: needs tool",
		"overrides: [{tool: a, profile: nope}]":                           `there is no profile "nope"`,
		"overrides: [{tool: a, name: 9x}]":                                "overrides[0].name: expected 1 to 64 letters",
		"overrides: [{tool: a, fallback: [{}]}]":                          "needs tool, arguments, or both",
		"overrides: [{tool: a, retry: 9}]":                                "from 0 to 5",
		"overrides: [{tool: a, enum: {k: []}}]":                           "needs at least one value",
		"profiles: {p: {repairs: {jsn: false}}}":                          "profiles.p.repairs.jsn: unknown key",
		"known: [{name: x}]":                                              "known[0]",
		"overrides: [{tool: a, example: 1}]":                              "overrides[0].example: expected a mapping",
		"overrides: [{tool: a, descriptions: {x_y: z}}]":                  `"x_y" is not a language`,
		"profiles: {p: {search: yes}}":                                    "profiles.p.search",
		"profiles: {p: {budget: 99}}":                                     "profiles.p.budget: expected a whole number from 100 to 10000000, or 0 for no limit",
		"profiles: {p: {budget: -1}}":                                     "profiles.p.budget: expected a whole number",
		"profiles: {p: {context: 5}}":                                     "profiles.p.context: expected a whole number",
		"profiles: {p: {pinned: ['[a]']}}":                                "profiles.p.pinned[0]: is not a glob",
		"embeddings: {url: 'http://h'}":                                   "embeddings: needs url and model",
		"audit: {keep: 1h}":                                               "audit.keep: expected at least 1d",
		"audit: {sinks: [{}]}":                                            "audit.sinks[0]: needs otlp, webhook or syslog with an address",
		"audit: {sinks: [{syslog: 'udp://a'}]}":                           "audit.sinks[0].syslog: expected an address such as tls://logs.example.com:6514",
		"audit: {sinks: [{syslog: 'unix://a'}]}":                          "audit.sinks[0].syslog: expected an address such as tls://logs.example.com:6514",
		"audit: {sinks: [{webhook: 'https://a'}]}":                        "audit.sinks[0]: needs secret, which signs what is sent",
		"audit: {sinks: [{webhook: 'https://a', secret: short}]}":         "audit.sinks[0].secret: is shorter than 16 characters",
		"audit: {sinks: [{otlp: 'http://a', syslog: 'tcp://a'}]}":         "audit.sinks[0].syslog: a sink is only one of otlp, webhook and syslog",
		"audit: {sinks: [{otlp: 'http://a', secret: 0123456789abcdefg}]}": "audit.sinks[0]: has a secret, which only a webhook uses",
		"audit: {sinks: [{syslog: 'tcp://a', headers: {A: b}}]}":          "audit.sinks[0]: has headers, which syslog does not know",
		"audit: {sinks: [{otlp: 'http://a', headers: {Tenant: a}}, {otlp: 'http://a', headers: {Tenant: b}}]}": "audit.sinks[1]: has the address of another sink; remove one of them",
		"telemetry: {sample: 1.5}":                "telemetry.sample: expected a number from 0 to 1, such as 0.1",
		"telemetry: {sample: NaN}":                "telemetry.sample: expected a number from 0 to 1, such as 0.1",
		"telemetry: {endpoint: '127.0.0.1:4318'}": "telemetry.endpoint: expected an address such as http://127.0.0.1:4318",
	} {
		if _, err := Parse("toolfit.yaml", []byte(text), nil); !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestParseReadsEveryKey(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                  whole,
		"windows line endings":   strings.ReplaceAll(whole, "\n", "\r\n"),
		"byte order mark":        "\ufeff" + whole,
		"no newline at the end":  strings.TrimSuffix(whole, "\n"),
		"document start and end": "---" + strings.TrimPrefix(whole, "# 网关") + "...\n",
	} {
		t.Run(name, func(t *testing.T) {
			got := parse(t, "etc/toolfit.yaml", text, "TOKEN", "s3cret")
			if diff := cmp.Diff(wantWhole(), got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"empty file":           "",
		"comments alone":       "# nothing yet\n",
		"keys without a value": "listen:\nmcpServers:\nrecords:\n",
		"empty mapping":        "{}\n",
		"header of a new file": header,
	} {
		t.Run(name, func(t *testing.T) {
			got := parse(t, "toolfit.yaml", text)
			want := defaults("toolfit.yaml")
			want.Profiles = []Profile{newProfile("default")}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestDefaultProfileIsAddedBesideOthers(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", "mcpServers: {a: {command: x}}\nprofiles: {ops: {servers: [a]}, all: {servers: ['*']}}\n")
	if len(cfg.Profiles) != 3 || cfg.Profiles[0].Name != "default" || !cfg.Profiles[0].All {
		t.Errorf("profiles: %+v", cfg.Profiles)
	}
	if ops, all := cfg.Profiles[1], cfg.Profiles[2]; ops.All || !all.All || all.Servers != nil {
		t.Errorf("ops %+v, all %+v", ops, all)
	}
}

func TestStoreAddressesStay(t *testing.T) {
	for _, store := range []string{"postgres://u@h/db", ":memory:", "file:x.db?mode=ro", "/var/lib/toolfit.db"} {
		if cfg := parse(t, "etc/toolfit.yaml", "store: '"+store+"'\n"); cfg.Store != store {
			t.Errorf("store %s became %s", store, cfg.Store)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "toolfit.yaml")
	if _, err := Load(path, nil); !fault.Is(err, fault.NotFound) || !os.IsNotExist(fault.As(err).Unwrap()) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(path, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, nil); !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "larger than 4 MB") {
		t.Errorf("huge file: %v", err)
	}
	if err := os.WriteFile(path, []byte("store: x.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(path, nil)
	if err != nil || cfg.Store != filepath.Join(dir, "x.db") {
		t.Errorf("got %+v, %v", cfg, err)
	}
}

func TestOnlyAProfileWithoutABudgetHasTheDefault(t *testing.T) {
	for text, want := range map[string][2]int{"{}": {0, DefaultBudget}, "{budget: 0}": {0, 0}, "{budget: 100}": {100, 0}} {
		c, err := Parse("toolfit.yaml", []byte("profiles: {default: "+text+"}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.Profiles[0]; p.Budget != want[0] || p.TextBudget != want[1] {
			t.Errorf("%s: %d, %d", text, p.Budget, p.TextBudget)
		}
	}
}
