package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const agentFile = `
agents:
  excel:
    name: 表格助手
    description: Reads and writes workbooks.
    personality: Careful.
    role: sub
    model: qwen
    profile: ops
    available_tools: [read_data_from_excel, "excel__write*"]
    denied_tools: ["*delete*"]
    timeout: 1m
    max_tokens: 5000
    heading: "## 工具"
    language: zh
    budget: 900
    prompt: "Price: $${not a variable}"
    capabilities: {enable_planning: true, enable_reflection: false, max_tool_calls: 1000, max_tool_result_length: 1000, max_reflection_iterations: 0, memory_limit: 7}
    metadata: {team: 数据, big: 10000000000000000001}
  plain:
    model: gpt
models:
  qwen: {url: "http://127.0.0.1:8000/v1/", model: qwen3, key: "${KEY}", dialect: qwen, tools: text, timeout: 30s, retries: 0, params: {temperature: 0.2}}
  gpt:  {url: "https://models.example.com/v1"}
profiles: {ops: {}}
`

func parseAgents(t *testing.T) *Config {
	t.Helper()
	cfg, err := Parse("toolfit.yaml", []byte(agentFile), func(name string) (string, bool) { return "s3cret-key", name == "KEY" })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestAgentsAndModelsAreReadWithTheirDefaults(t *testing.T) {
	cfg := parseAgents(t)
	wantModels := []Model{
		{Name: "qwen", URL: "http://127.0.0.1:8000/v1", Model: "qwen3", Key: "s3cret-key", Dialect: "qwen", Tools: TextTools,
			Timeout: 30 * time.Second, Params: []byte(`{"temperature":0.2}`)},
		{Name: "gpt", URL: "https://models.example.com/v1", Model: "gpt", Dialect: "openai", Tools: NativeTools, Timeout: 2 * time.Minute,
			Retries: 2, Params: []byte("{}")},
	}
	if diff := cmp.Diff(wantModels, cfg.Models); diff != "" {
		t.Error(diff)
	}
	excel := Agent{
		ID: "excel", Name: "表格助手", Description: "Reads and writes workbooks.", Personality: "Careful.", Role: SubAgent, Model: "qwen",
		Profile: "ops",
		Prompt:  "Price: ${not a variable}", Heading: "## 工具", Language: "zh", Budget: 900, Available: []string{"read_data_from_excel",
			"excel__write*"}, Denied: []string{"*delete*"},
		Timeout: time.Minute, MaxTokens: 5000, Metadata: []byte(`{"team":"数据","big":10000000000000000001}`),
		Capabilities: Capabilities{Planning: true, ToolCalling: true, Memory: true, MaxToolCalls: 1000, MaxToolResultLength: 1000,
			MemoryLimit: 7},
	}
	plain := Agent{
		ID: "plain", Name: "plain", Role: PrimaryAgent, Model: "gpt", Profile: DefaultProfile, Timeout: 10 * time.Minute, Metadata: []byte("{}"),
		Capabilities: Capabilities{ToolCalling: true, Reflection: true, Memory: true, MaxToolCalls: 20, MaxToolResultLength: 4000,
			MaxReflections: 3, MemoryLimit: 100},
	}
	if diff := cmp.Diff([]Agent{excel, plain}, cfg.Agents); diff != "" {
		t.Error(diff)
	}
	if fmt.Sprint(cfg.Secrets) != "[s3cret-key]" {
		t.Errorf("secrets %q", cfg.Secrets)
	}
	if cfg.AgentNamed("plain").Name != "plain" || cfg.AgentNamed("x") != nil || cfg.ModelNamed("gpt").Name != "gpt" ||
		cfg.ModelNamed("x") != nil {
		t.Error("not found by name")
	}
}

func TestAnAgentNeedsNoModelsNameWhereThereIsOne(t *testing.T) {
	cfg, err := Parse("toolfit.yaml", []byte("agents: {a: }\nmodels: {m: {url: 'http://h/v1'}}\n"), nil)
	if err != nil || cfg.Agents[0].Model != "m" {
		t.Errorf("%+v, %v", cfg, err)
	}
}

func TestAgentProblemsNameFieldAndFix(t *testing.T) {
	const models = "models: {m: {url: 'http://h/v1'}, n: {url: 'http://h/v1'}}\n"
	for text, want := range map[string]string{
		"agents: {a: {}}": "agents.a: needs model: the name of one of models, " +
			"and there is none",
		models + "agents: {a: {}}":                       "agents.a: needs model: one of m, n",
		models + "agents: {a: {model: o}}":               `agents.a: there is no model "o"`,
		models + "agents: {a b: {model: m}}":             `agents."a b": is not a valid id`,
		models + "agents: {a: {model: m, profile: ops}}": `agents.a.profile: there is no profile "ops"`,
		models + "agents: {a: {model: m, role: boss}}":   "agents.a.role: expected primary or sub",
		models + "agents: {a: {model: m, nmae: x}}":      `agents.a.nmae: unknown key; did you mean "name"?`,
		models + "agents: {a: {model: m, capabilities: {max_tool_calls: 0}}}": "max_tool_calls: expected a whole number from 1 to " +
			"1000",
		models + "agents: {a: {model: m, capabilities: {max_tool_calls: 1001}}}": "max_tool_calls: expected a whole number from 1 to " +
			"1000",
		models + "agents: {a: {model: m, capabilities: {max_tool_result_length: 999}}}": "max_tool_result_length: expected a whole number " +
			"from 1000",
		models + "agents: {a: {model: m, capabilities: {max_reflection_iterations: 11}}}": "max_reflection_iterations: expected a whole " +
			"number from 0 to 10",
		models + "agents: {a: {model: m, capabilities: {enable_memory: perhaps}}}": "enable_memory: expected true or false",
		models + "agents: {a: {model: m, language: fr}}":                           "agents.a.language: expected en or zh",
		models + "agents: {a: {model: m, budget: 99}}":                             "agents.a.budget: expected a whole number from 100",
		models + "agents: {a: {model: m, timeout: 1}}":                             "agents.a.timeout: expected a duration",
		models + "agents: {a: {model: m, metadata: [1]}}":                          "agents.a.metadata: expected a mapping",
		models + "agents: {a: {model: m, name: " + strings.Repeat("名", 51) +
			"}}": "agents.a.name: expected at most 50 characters, got 51",
		"models: {m: {}}":                                        "models.m: needs url",
		"models: {m: {url: 'ftp://h'}}":                          "models.m.url: expected an address",
		"models: {m: {url: 'http://h', tools: magic}}":           "models.m.tools: expected native or text",
		"models: {m: {url: 'http://h', dialect: klingon}}":       "models.m.dialect: expected",
		"models: {m: {url: 'http://h', params: {messages: []}}}": "models.m.params.messages: is set by the agent loop",
		"models: {m: {url: 'http://h', key: \"a\\nb\"}}":         "models.m.key: holds a line break",
	} {
		if _, err := Parse("toolfit.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestAgentsBoundsAreThoseOfTheirContract(t *testing.T) {
	for key, most := range map[string]int{"name": 50, "description": 500, "personality": 2000} {
		cfg := parseAgents(t)
		fits := fmt.Sprintf(`{"model":"gpt",%q:%q}`, key, strings.Repeat("字", most))
		if _, err := ParseAgent("a", []byte(fits), cfg); err != nil {
			t.Errorf("%s of %d characters: %v", key, most, err)
		}
		long := fmt.Sprintf(`{"model":"gpt",%q:%q}`, key, strings.Repeat("字", most+1))
		if _, err := ParseAgent("a", []byte(long), cfg); !fault.Is(err, fault.BadConfig) {
			t.Errorf("%s of %d characters: %v", key, most+1, err)
		}
	}
}

func TestParseAgentTakesTheKeysOfTheFile(t *testing.T) {
	cfg := parseAgents(t)
	a, err := ParseAgent("new",
		[]byte(`{"name":"N","model":"gpt","profile":"ops","prompt":"cost ${HOME} `+
			`$${x}","capabilities":{"max_tool_calls":3},"available_tools":[]}`), cfg)
	if err != nil || a.ID != "new" || a.Prompt != "cost ${HOME} $${x}" || a.Capabilities.MaxToolCalls != 3 || !a.Capabilities.Reflection {
		t.Errorf("%+v, %v", a, err)
	}
	for text, want := range map[string]string{
		`{"model":"gpt","profile":"nope"}`:      `profile: there is no profile "nope"`,
		`{"model":"nope"}`:                      `there is no model "nope"`,
		`{"model":"gpt","id":"x"}`:              "id: unknown key",
		`[]`:                                    "must be a JSON object",
		`{"model":`:                             "agent new",
		"{\"model\":\"gpt\",\"name\":\"\xff\"}": "is not UTF-8",
	} {
		if _, err := ParseAgent("new", []byte(text), cfg); err == nil || !strings.Contains(err.Error(), want) || !fault.Is(err, fault.BadConfig) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := ParseAgent("a/b", []byte("{}"), cfg); err == nil || !strings.Contains(err.Error(), `"a/b": is not a valid id`) {
		t.Errorf("%v", err)
	}
	if a, err := ParseAgent("new", []byte(`{"model":"gpt","name":""}`), cfg); err != nil || a.Name != "new" {
		t.Errorf("an empty name is none: %q, %v", a.Name, err)
	}
}

func FuzzParseAgent(f *testing.F) {
	cfg, err := Parse("toolfit.yaml", []byte("models: {m: {url: 'http://h/v1'}}"), os.LookupEnv)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"name":"a","capabilities":{"max_tool_calls":5}}`))
	f.Add([]byte(`{"metadata":{"a":[1,{"b":null}]},"available_tools":["x"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ParseAgent("a", data, cfg)
		if err == nil && (a.Capabilities.MaxToolCalls < 1 || a.Model != "m") {
			t.Errorf("%+v", a)
		}
	})
}
