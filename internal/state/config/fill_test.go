package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

func TestFill(t *testing.T) {
	env := []string{"A", "alpha", "EMPTY", "", "YAML", "x\nlisten: evil", "NESTED", "${A}", "中文", "no", "NUL", "a\x00b"}
	tests := []struct{ name, in, want, problem string }{
		{"text without ${ stays", "a $A $ {A} }", "a $A $ {A} }", ""},
		{"a variable is filled in", "<${A}>", "<alpha>", ""},
		{"two variables are filled in", "${A}${A}", "alphaalpha", ""},
		{"an empty variable is set", "a${EMPTY}b", "ab", ""},
		{"a value can not bring in YAML", "${YAML}", "x\nlisten: evil", ""},
		{"a value is not filled in again", "${NESTED}", "${A}", ""},
		{"$${ stands for itself", "$${A} ${A}", "${A} alpha", ""},
		{"a default counts when unset", "${B:-beta} ${A:-x}", "beta alpha", ""},
		{"an open ${ names the fix", "a ${A", "", `has "${" without "}"; write "$${" for the text itself`},
		{"an odd name is refused", "${中文}", "", `"中文" is not a variable's name; write ${VAR} or ${file:PATH}, or "$${" for the text itself`},
		{"VS Code's env: is for JSON files", "${env:A}", "",
			`"env:A" is not a variable's name; write ${VAR} or ${file:PATH}, or "$${" for the text itself`},
		{"VS Code's input names the fix", "${input:my-key}", "",
			"${input:my-key} is a question that VS Code asks; write ${MY_KEY} and set that environment variable"},
		{"a NUL can not be filled in", "${NUL}", "", "is filled in with a NUL character"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "mcpServers: {a: {command: x, args: [" + doctree.QuoteJSON(tt.in) + "]}}\n"
			if tt.problem != "" {
				wantProblem(t, "toolfit.yaml", text, "toolfit.yaml:1: mcpServers.a.args[0]: "+tt.problem, env...)
				return
			}
			if got := parse(t, "toolfit.yaml", text, env...).Servers[0].Args[0]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAbsentValueConcernsItsServerAlone(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", `
mcpServers:
  a: {command: x, args: ["${B}"], env: {K: "${file:none}"}}
  b: {url: "${B}", headers: {X: "${A}"}}
  c: {command: x, args: ["${A}"]}
apis:
  d: {spec: x.yaml, auth: {key: "${B}", basic: {user: me, password: "${B}"}}}
`, "A", "alpha")
	const unset = "environment variable B is not set; set it, or write the value here"
	for i, want := range []string{
		"mcpServers.a.args[0]: " + unset +
			`; mcpServers.a.env.K: file "none": no such file or directory; check the path, which starts at this file's folder`,
		"mcpServers.b.url: " + unset, "", "apis.d.auth.key: " + unset + "; apis.d.auth.basic.password: " + unset,
	} {
		if got := cfg.Servers[i].Missing; got != want {
			t.Errorf("%s lacks %q, want %q", cfg.Servers[i].ID, got, want)
		}
	}
	if !slices.Equal(cfg.Secrets, []string{"alpha"}) {
		t.Errorf("secrets %q", cfg.Secrets)
	}
	wantProblem(t, "toolfit.yaml", "listen: ${B}\n", "toolfit.yaml:1: listen: "+unset)
}

func TestFillFromFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("s3cret 密\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "toolfit.yaml")
	cfg := parse(t, path, `mcpServers: {a: {command: x, env: {K: "<${file:key}>"}}}`)
	if got := cfg.Servers[0].Env["K"]; got != "<s3cret 密>" {
		t.Errorf("got %q", got)
	}
	if !slices.Equal(cfg.Secrets, []string{"s3cret 密", "<s3cret 密>"}) {
		t.Errorf("secrets %q", cfg.Secrets)
	}
	wantProblem(t, path, `store: "${file:none}"`,
		path+`:1: store: file "none": no such file or directory; check the path, which starts at this file's folder`)
	wantProblem(t, path, `store: "${file:.}"`,
		path+`:1: store: file ".": not a regular file; check the path, which starts at this file's folder`)
}

func TestSecretsAreFilledValuesAndHeaders(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", `
mcpServers:
  a: {url: "http://${HOST}/", headers: {X-Key: literal, X-Short: abc, Y: "${KEY}", Z: "Bearer ${KEY}"}}
  b: {command: x, env: {K: "${KEY}", S: "${SHORT}", P: plain}}
`, "HOST", "example.com", "KEY", "s3cret", "SHORT", "abc")
	want := []string{"example.com", "literal", "s3cret", "Bearer s3cret"}
	if !slices.Equal(cfg.Secrets, want) {
		t.Errorf("got %q, want %q", cfg.Secrets, want)
	}
}

func TestProblemsDoNotShowFilledValues(t *testing.T) {
	wantProblem(t, "toolfit.yaml", "mcpServers: {a: {url: \"${U}\"}}\nlisten: \"${U}\"\napprove: \"${U}\"\nlimits: {body: \"${U}\"}\n",
		"toolfit.yaml:1: mcpServers.a.url: expected an address such as https://example.com/mcp\n"+
			"toolfit.yaml:2: listen: expected host:port, such as 127.0.0.1:8420\n"+
			"toolfit.yaml:3: approve: expected auto or suspicious or changed or all\n"+
			"toolfit.yaml:4: limits.body: expected a size over 0, such as 512KB, 4MB, 2GB or a number of bytes", "U", "s3cret")
}

func TestNumbersAndBooleansCanBeFilledIn(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", `{limits: {processes: "${D}", body: "${B}"}, records: {durable: "${T}", retain: "${R}"}}`,
		"D", "7", "B", "1KB", "T", "true", "R", "2d")
	if cfg.Limits.Processes != 7 || cfg.Limits.Body != 1024 || !cfg.Records.Durable || cfg.Records.Retain != 2*day {
		t.Errorf("got %+v %+v", cfg.Limits, cfg.Records)
	}
}

func TestSecretsAreLiteralValuesOfEnvironmentsAndQueriesThatAreNoPlainText(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", `
mcpServers:
  a:
    command: x
    args: [--verbose, --token=argtoken, --password, argpassword, "Server=db;Pwd=argpwd"]
    env: {LOG: "1", DEBUG: "true", MODE: production, REGION: us-east-1, LANG: en_US.UTF-8, ROOT: /home/me/p4th4p4th, PORT: "8080", SINCE: "2025-01-31", URL: "https://example.com/a1b2c3d4",
      OTHER: hush-literal-4714, WORDS: correct-horse-battery-staple,
      GITHUB_TOKEN: abcdef, SOME: 9fJ2kQ7xLm, DATABASE_URL: "postgres://me:pgpass@db/x", API_KEY: abc}
  b: {url: "https://t0kent0ken@example.com/mcp?api_key=qkey&mode=production&x=a1b2c3d4e5%2B&loose1loose2", headers: {X-Key: literal}}
  c: {url: "https://me:pw4pw4@example.com/mcp", proxy: "http://me:proxypw@proxy"}
apis:
  d: {spec: "https://example.com/spec?token=spectoken", base: "https://example.com?key=basekey", auth: {o: {clientId: me, clientSecret: clientpw, tokenUrl: "https://example.com/t?key=tokenkey"}}}
models: {m: {url: "https://example.com/v1?key=modelkey"}}
embeddings: {url: "https://example.com/v1?key=embedkey", model: m}
recall: {ontologyQuery: {url: "https://example.com?key=recallkey"}}
`)
	want := []string{
		"abcdef", "9fJ2kQ7xLm", "hush-literal-4714", "correct-horse-battery-staple", "pgpass", "t0kent0ken", "qkey", "a1b2c3d4e5+",
		"loose1loose2", "literal", "pw4pw4", "proxypw", "argtoken", "argpassword", "argpwd",
		"spectoken", "basekey", "clientpw", "tokenkey", "modelkey", "embedkey", "recallkey",
	}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(cfg.Secrets))
	if !slices.Equal(got, want) {
		t.Errorf("got %q,\nwant %q", got, want)
	}
}
