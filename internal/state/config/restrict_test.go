package config

import (
	"strings"
	"testing"
)

func TestAKeyThatRestrictsNeedsAValue(t *testing.T) {
	for field, text := range map[string]string{
		"profiles":                 "profiles:",
		"profiles.p":               "profiles: {p: null}",
		"profiles.p.servers":       "profiles:\n  p:\n    servers:",
		"profiles.p.tools":         "profiles:\n  p:\n    tools: ~",
		"profiles.p.tools.allow":   "profiles: {p: {tools: {allow: null}}}",
		"profiles.p.tools.deny":    "profiles: {p: {tools: {deny: }}}",
		"profiles.p.safety":        "profiles: {p: {safety: null}}",
		"profiles.p.safety.strip":  "profiles: {p: {safety: {strip: }}}",
		"overrides":                "overrides:\n",
		"overrides[0].hide":        "overrides:\n  - tool: a__b\n    hide:\n",
		"overrides[0].fix":         "overrides: [{tool: a__b, fix: null}]",
		"overrides[0].enum":        "overrides: [{tool: a__b, enum: null}]",
		"overrides[0].enum.size":   "overrides: [{tool: a__b, enum: {size: null}}]",
		"overrides[0].require":     "overrides: [{tool: a__b, require: null}]",
		"approve":                  "approve:",
		"rate":                     "rate:",
		"rate.perKey":              "rate: {perKey: }",
		"mcpServers.a.disabled":    "mcpServers: {a: {command: x, disabled: }}",
		"mcpServers.a.concurrency": "mcpServers: {a: {command: x, concurrency: }}",
		"apis.a.readOnly":          "apis: {a: {spec: x.json, readOnly: }}",
		"apis.a.tags":              "apis: {a: {spec: x.json, tags: }}",
		"apis.a.operations":        "apis: {a: {spec: x.json, operations: null}}",
		"agents.a.available_tools": "models: {m: {model: x, url: 'http://h'}}\nagents: {a: {model: m, available_tools: }}",
	} {
		if _, err := Parse("toolfit.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), ": "+field+": ") ||
			!strings.Contains(err.Error(), "value") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestAnEmptyListThatWouldLetEverythingThroughIsRefused(t *testing.T) {
	for _, text := range []string{
		"profiles: {p: {tools: {allow: []}}}", "apis: {a: {spec: x.json, tags: []}}", "apis: {a: {spec: x.json, paths: []}}",
		"apis: {a: {spec: x.json, methods: []}}", "apis: {a: {spec: x.json, operations: []}}",
	} {
		if _, err := Parse("toolfit.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(),
			"is an empty list; name something, or remove the key for no limit") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
