package serverjson

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

// shown is a server as text: what runs, or the address, then variables and headers.
func shown(s config.Server) string {
	words := append([]string{s.Command}, s.Args...)
	if s.URL != "" {
		words = []string{s.URL, s.Type}
	}
	for _, pairs := range []map[string]string{s.Env, s.Headers} {
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			words = append(words, "| "+name+"="+pairs[name])
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// made is the server of a document whose packages or remotes are given.
func made(t *testing.T, ways string, wish Wish, answers Answers) (string, []Question, error) {
	t.Helper()
	doc, err := Parse([]byte(`{"name": "io.github.acme/weather", "version": "1.0.2", ` + ways + `}`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := doc.Choose(wish)
	if err != nil {
		return "", nil, err
	}
	s, open, err := plan.Fill(answers)
	return shown(s), open, err
}

const hybrid = `"packages": [
	{"registryType": "nuget", "identifier": "Acme.Weather", "version": "1.0.2", "transport": {"type": "stdio"}},
	{"registryType": "oci", "identifier": "example.com/acme/weather:1.0.2", "transport": {"type": "stdio"}},
	{"registryType": "npm", "identifier": "@acme/weather", "version": "1.0.2", "transport": {"type": "streamable-http",
		"url": "http://127.0.0.1:80/mcp"}},
	{"registryType": "pypi", "identifier": "acme-weather", "version": "1.0.2", "runtimeHint": "uvx", "transport": {"type": "stdio"}}],
	"remotes": [{"type": "sse", "url": "https://weather.example.com/sse"}, {"type": "streamable-http",
		"url": "https://weather.example.com/mcp"}]`

func TestServersAreMadeAsTheirDocumentsSay(t *testing.T) {
	for rule, one := range map[string]struct {
		ways    string
		wish    Wish
		answers Answers
		want    string
	}{
		"npm runs by npx, secrets are what the person gives": {
			`"packages": [{"registryType": "npm", "identifier": "@acme/weather", "version": "1.0.2", "transport": {"type": "stdio"},
				"environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true}, {"name": "UNITS", "default": "metric"},
					{"name": "LOG"}]}]`,
			Wish{}, Answers{"KEY": {"${WEATHER_KEY}"}},
			"npx -y @acme/weather@1.0.2 | KEY=${WEATHER_KEY} | UNITS=metric",
		},
		"arguments in their order, named ones as two words": {
			`"packages": [{"registryType": "npm", "identifier": "weather", "version": "1.0.2", "runtimeArguments": [{"type": "named",
				"name": "-y"}],
				"packageArguments": [{"type": "positional", "value": "mcp"}, {"type": "named", "name": "--stdio"}, {"type": "named",
					"name": "--port", "default": 80},
				{"type": "named", "name": "--loud", "format": "boolean", "default": true}, {"type": "named", "name": "--trace",
					"format": "boolean", "value": "false"},
				{"type": "named", "name": "--host", "description": "optional"}, {"type": "positional", "valueHint": "dir", "isRequired": true,
					"isRepeated": true}]}]`,
			Wish{}, Answers{"dir": {"a", "b c"}},
			"npx -y weather@1.0.2 mcp --stdio --port 80 --loud a b c",
		},
		"an image gets the variables by name, and its version": {
			`"packages": [{"registryType": "oci", "registryBaseUrl": "https://images.example.com", "identifier": "acme/weather", "version": "3.1",
				"runtimeArguments": [{"type": "positional", "value": "run"}, {"type": "named", "name": "--rm"},
				{"type": "named", "name": "--mount", "value": "type=bind,src={from},dst={to}", "variables": {"from": {"isRequired": true},
					"to": {"default": "/x"}}},
				{"type": "named", "name": "-e", "value": "DB={db}", "variables": {"db": {"choices": ["a"]}}}],
				"environmentVariables": [{"name": "USER_ID", "value": "u-{id}", "variables": {"id": {"isRequired": true}}}]}]`,
			Wish{}, Answers{"from": {"/data"}, "id": {"7"}},
			"docker run -i --rm --mount type=bind,src=/data,dst=/x -e USER_ID images.example.com/acme/weather:3.1 | USER_ID=u-7",
		},
		"a package that speaks stdio is preferred": {hybrid, Wish{}, nil, "uvx acme-weather@1.0.2"},
		"another kind can be wished for":           {hybrid, Wish{Package: "oci"}, nil, "docker run -i --rm example.com/acme/weather:1.0.2"},
		"so can the address, the newer transport":  {hybrid, Wish{Remote: true}, nil, "https://weather.example.com/mcp"},
		"the older transport is named": {
			`"remotes": [{"type": "sse", "url": "https://weather.example.com/sse"}]`, Wish{}, nil, "https://weather.example.com/sse sse"},
		"variables of addresses and headers": {
			`"remotes": [{"type": "streamable-http", "url": "https://{tenant}.example.com/{other}", "variables": {"tenant": {"isRequired": true}},
				"headers": [{"name": "Authorization", "value": "Bearer ${token}", "variables": {"token": {"isRequired": true, "isSecret": true}}}]}]`,
			Wish{}, Answers{"tenant": {"blue"}, "token": {"${TOKEN}"}},
			"https://blue.example.com/{other} | Authorization=Bearer ${TOKEN}",
		},
		"a port is a variable, too": {
			`"remotes": [{"type": "streamable-http", "url": "http://localhost:{port}/mcp", "variables": {"port": {"default": 9000}}}]`,
			Wish{}, nil, "http://localhost:9000/mcp"},
		"what strangers write refers to nothing of ours": {
			`"packages": [{"registryType": "npm", "identifier": "weather", "version": "1", "packageArguments": [{"type": "positional",
				"value": "${HOME}"}],
				"environmentVariables": [{"name": "A", "default": "${file:/etc/passwd}"},
				{"name": "B", "value": "{x}{file:/etc/passwd}", "variables": {"x": {"default": "$"}}},
				{"name": "C", "value": "{x}{y}", "variables": {"x": {"default": "$"}, "y": {"default": "{HOME}"}}}]}]`,
			Wish{}, nil,
			"npx -y weather@1 $${HOME} | A=$${file:/etc/passwd} | B=$${file:/etc/passwd} | C=$${HOME}",
		},
	} {
		got, open, err := made(t, one.ways, one.wish, one.answers)
		if err != nil || got != one.want || len(open) > 0 {
			t.Errorf("%s: got\n%s, want\n%s; open %v, %v", rule, got, one.want, open, err)
		}
	}
}

func TestHostileDocumentsAreRefused(t *testing.T) {
	pack := `"packages": [{"registryType": %q, "identifier": %q, "version": %q, "transport": {"type": "stdio"}}]`
	remote := `"remotes": [{"type": %q, "url": %q}]`
	value := `"packages": [{"registryType": "npm", "identifier": "a", "version": "1", "packageArguments": [{"type": "positional",
		"value": "%s"}]}]`
	for rule, ways := range map[string]string{
		"a flag is no package":        fmt.Sprintf(pack, "npm", "--eval", "1"),
		"a path is no package":        fmt.Sprintf(pack, "npm", "../x", "1"),
		"an address is no package":    fmt.Sprintf(pack, "npm", "git+https://example.com/x", "1"),
		"an alias is no package":      fmt.Sprintf(pack, "npm", "x@npm:y", "1"),
		"a flag is no Python package": fmt.Sprintf(pack, "pypi", "-c", "1"),
		"a flag is no image":          fmt.Sprintf(pack, "oci", "--privileged", "1"),
		"an image is one word":        fmt.Sprintf(pack, "oci", "x y", ""),
		"a version is one word":       fmt.Sprintf(pack, "npm", "x", "1 --eval"),
		"a version is no flag":        fmt.Sprintf(pack, "oci", "x", "--privileged"),
		"a bundle needs its sum":      fmt.Sprintf(pack, "mcpb", "https://example.com/x.mcpb", "1"),
		"a bundle comes over https":   fmt.Sprintf(pack, "mcpb", "http://example.com/x.mcpb", "1"),
		"an unknown kind":             fmt.Sprintf(pack, "cargo", "x", "1"),
		"an address without TLS":      fmt.Sprintf(remote, "streamable-http", "http://example.com/mcp"),
		"an address of another kind":  fmt.Sprintf(remote, "streamable-http", "file:///etc/passwd"),
		"an unknown transport":        fmt.Sprintf(remote, "carrier-pigeon", "https://example.com"),
		"no way at all":               `"packages": []`,
		"control characters":          fmt.Sprintf(value, `a\u001bb`),
		"several lines":               fmt.Sprintf(value, `a\nb`),
		"very long values":            fmt.Sprintf(value, strings.Repeat("x", 5000)),
		"values that multiply": fmt.Sprintf(value, strings.Repeat("{a}", 100_000)+`", "variables": {"a": {"default": "`+
			strings.Repeat("x", 400_000)+`"}}, "hint": "`),
		"runtime arguments for some other": `"packages": [{"registryType": "npm", "identifier": "x", "runtimeHint": "sh",
			"runtimeArguments": [{"type": "positional", "value": "-c"}]}]`,
	} {
		got, _, err := made(t, ways, Wish{}, nil)
		if err == nil || fault.As(err).Code == fault.Internal {
			t.Errorf("%s: got %s, %v", rule, got, err)
		}
	}
	for _, text := range []string{`[]`, `{}`, `{"name": "weather"}`, `{"name": "a.b/../c"}`, `{"name": "a.b/c@1"}`, `{"name": "a.b/c",
		"packages": 1}`,
		`{"name": "a.b/c", "x": "` + strings.Repeat("x", maxDocument) + `"}`, `nonsense`, ``} {
		if doc, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.40s: got %v", text, doc)
		}
	}
}

func TestOptionsOfTheRunnerAreTold(t *testing.T) {
	for more, want := range map[string]bool{
		`"packageArguments": [{"type": "positional", "value": "-v"}]`:                                          false,
		`"runtimeArguments": [{"type": "positional", "value": "-v"}]`:                                          true,
		`"environmentVariables": [{"name": "NODE_ENV", "value": "production"}, {"name": "HTTPS_PROXY"}]`:       false,
		`"environmentVariables": [{"name": "NPM_CONFIG_REGISTRY", "default": "https://packages.example.com"}]`: true,
		`"environmentVariables": [{"name": "NODE_OPTIONS", "value": "--require {x}", "variables": {"x": {}}}]`: true,
	} {
		doc, err := Parse([]byte(`{"name": "a.b/c", "packages": [{"registryType": "npm", "identifier": "x", ` + more + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if plan, err := doc.Choose(Wish{}); err != nil || plan.Risky != want {
			t.Errorf("%s: got %v, %v", more, plan, err)
		}
	}
}

func TestTheErrorNamesWhatThereIs(t *testing.T) {
	_, _, err := made(t, hybrid, Wish{Package: "npm"}, nil)
	want := "it has: nuget (stdio), oci (stdio), npm (streamable-http), pypi (stdio), remote (sse)"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

func TestTheRegistrysWordOnAVersionCounts(t *testing.T) {
	answer := `{"server": {"name": "a.b/c", "version": "1", ` + hybrid + `},
		"_meta": {"io.modelcontextprotocol.registry/official": {"status": %q}}}`
	for status, want := range map[string]string{"active": "", "deprecated": "deprecated", "deleted": "deleted"} {
		doc, err := Parse(fmt.Appendf(nil, answer, status))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := doc.Choose(Wish{})
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.Join(plan.Notes, "")
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %s", status, got)
		}
	}
}

func TestAnswersAreChecked(t *testing.T) {
	ways := `"packages": [{"registryType": "npm", "identifier": "a", "version": "1", "packageArguments": [
		{"type": "named", "name": "--mode", "choices": ["one", "two"], "description": "x"}, {"type": "named", "name": "--n",
			"format": "number", "description": "x"},
		{"type": "named", "name": "--b", "format": "boolean", "description": "x"}]}]`
	for answer, ok := range map[string]bool{
		"mode=one": true, "mode=three": false, "mode=${MODE}": true, "n=1.5": true, "n=many": false, "b=true": true, "b=yes": false,
		"other=1": false,
	} {
		name, value, _ := strings.Cut(answer, "=")
		if got, _, err := made(t, ways, Wish{}, Answers{name: {value}}); (err == nil) != ok {
			t.Errorf("%s: got %s, %v", answer, got, err)
		}
	}
	if got, _, err := made(t, ways, Wish{}, Answers{"mode": {"one", "two"}}); err == nil {
		t.Errorf("two values for one: got %s", got)
	}
	often := `"packages": [{"registryType": "npm", "identifier": "a", "environmentVariables": [{"name": "A", "value": "` +
		strings.Repeat("{x}", 100_000) + `", "variables": {"x": {}}}]}]`
	if got, _, err := made(t, often, Wish{}, Answers{"x": {"y"}}); err == nil {
		t.Errorf("one value very often: got %d bytes", len(got))
	}
}

func TestRequiredValuesWithoutAnswersAreListed(t *testing.T) {
	_, open, err := made(t, `"packages": [{"registryType": "npm", "identifier": "a", "version": "1",
		"packageArguments": [{"type": "named", "name": "--dir", "isRequired": true, "default": "/tmp"}, {"type": "positional",
			"isRequired": true}],
		"environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true, "description": "the key"},
			{"name": "LOG"}]}]`, Wish{}, nil)
	_, address, _ := made(t, `"remotes": [{"type": "sse", "url": "https://{tenant}.example.com", "variables": {"tenant": {}}}]`, Wish{}, nil)
	open = append(open, address...)
	var names []string
	for _, q := range open {
		names = append(names, q.Name+strings.Join(q.Default, ""))
	}
	if got := strings.Join(names, " "); err != nil || got != "KEY dir/tmp argument2 tenant" {
		t.Errorf("got %s, %v", got, err)
	}
}

// FuzzServerJSON holds that no text of a stranger becomes a reference, and that nothing passes for a flag of the runner.
func FuzzServerJSON(f *testing.F) {
	f.Add([]byte(`{"name": "a.b/c", `+hybrid+`}`), true)
	f.Add([]byte(`{"name": "a.b/c", "packages": [{"registryType": "npm", "identifier": "a", "packageArguments": [
		{"type": "named", "name": "--x", "value": "{a}{b}$", "variables": {"a": {"default": "$"}, "b": {"isRequired": true}}}]}]}`), false)
	f.Fuzz(func(t *testing.T, data []byte, remote bool) {
		doc, err := Parse(data)
		if err != nil {
			return
		}
		plan, err := doc.Choose(Wish{Remote: remote})
		if err != nil || plan.Bundle != nil {
			return
		}
		answers := Answers{}
		for _, q := range plan.Questions() {
			answers[q.Name] = []string{"{file:own}"}
		}
		s, _, err := plan.Fill(answers)
		if err != nil {
			return
		}
		values := slices.Concat(s.Args, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
		for _, text := range append(values, s.URL, s.Command) {
			if strings.Contains(strings.ReplaceAll(text, "$${", "_"), "${") {
				t.Errorf("%q refers to something", text)
			}
		}
	})
}
