package catalog

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestAProfileWithAgentsHasFetchResultBesideItsList(t *testing.T) {
	calls := config.Capabilities{ToolCalling: true}
	for _, c := range []struct {
		name   string
		agents []config.Agent
		keep   string
		want   bool
	}{
		{"no agents", nil, "cut", false},
		{"an agent that calls tools", []config.Agent{{Profile: "p", Capabilities: calls}}, "cut", true},
		{"one that calls none", []config.Agent{{Profile: "p"}}, "cut", false},
		{"one of another profile", []config.Agent{{Profile: "q", Capabilities: calls}}, "cut", false},
		{"nothing is kept", []config.Agent{{Profile: "p", Capabilities: calls}}, "none", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cat, cfg := shelves(t, 1, config.Profile{})
			cfg.Agents, cfg.ResultStore = c.agents, c.keep
			cat.Apply(cfg)
			v := viewOf(t, cat)
			e, err := v.Find("fetch_result")
			if got := err == nil; got != c.want {
				t.Fatalf("there: %v, want %v", got, c.want)
			}
			if c.want && (e.Listed() || !e.Own || slices.Contains(listed(t, v), "fetch_result")) {
				t.Errorf("it is in the list, which is everybody's: %+v", e)
			}
		})
	}
}

func TestAProfileWithARuleListsFetchResultOnce(t *testing.T) {
	cat, cfg := shelves(t, 1, config.Profile{Budget: 500})
	cfg.Agents, cfg.ResultStore = []config.Agent{{Profile: "p", Capabilities: config.Capabilities{ToolCalling: true}}}, "cut"
	cat.Apply(cfg)
	v := viewOf(t, cat)
	if e, err := v.Find("fetch_result"); err != nil || !e.Listed() || !slices.Contains(listed(t, v), "fetch_result") {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestToolsSayWhetherTheyAct(t *testing.T) {
	for annotations, want := range map[string]bool{
		``:                          false, // it does not say
		`{}`:                        false,
		`{"readOnlyHint":true}`:     false,
		`{"readOnlyHint":false}`:    true,
		`{"destructiveHint":true}`:  true,
		`{"destructiveHint":false}`: false,
		`{"readOnlyHint":true,"destructiveHint":true}`:   false, // what only reads destroys nothing
		`{"readOnlyHint":false,"destructiveHint":false}`: true,
		`{"readOnlyHint":"false"}`:                       false, // no boolean says nothing
		`{"destructiveHint":1}`:                          false,
		`null`:                                           false,
		`[true]`:                                         false,
	} {
		raw := `{"name":"x"}`
		if annotations != "" {
			raw = `{"name":"x","annotations":` + annotations + `}`
		}
		e := Entry{Definition: tool.Definition{Name: "x", Raw: json.RawMessage(raw)}}
		if got := e.Acts(); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

func TestAnAgentHasTheToolsOfItsLists(t *testing.T) {
	on := config.Capabilities{ToolCalling: true}
	read := &Entry{Server: "files", Name: "files__read", Shown: "read", Definition: tool.Definition{Name: "read_file"}}
	find := &Entry{Own: true, Name: "find_tools", Shown: "find_tools", Definition: tool.Definition{Name: "find_tools"}}
	for _, c := range []struct {
		name       string
		agent      config.Agent
		read, find bool
	}{
		{"all without lists", config.Agent{Capabilities: on}, true, true},
		{"none that calls none", config.Agent{}, false, false},
		{"by its shown name", config.Agent{Capabilities: on, Available: []string{"read"}}, true, false},
		{"by its server's name", config.Agent{Capabilities: on, Available: []string{"read_file"}}, true, false},
		{"by a glob", config.Agent{Capabilities: on, Available: []string{"files__*"}}, true, false},
		{"another one", config.Agent{Capabilities: on, Available: []string{"write"}}, false, false},
		{"denied goes first", config.Agent{Capabilities: on, Available: []string{"read"}, Denied: []string{"files__*"}}, false, false},
		{"denied alone", config.Agent{Capabilities: on, Denied: []string{"find_*"}}, true, false},
		{"lists name tools of servers", config.Agent{Capabilities: on, Available: []string{"*"}}, true, false},
	} {
		if got := read.UsedBy(&c.agent); got != c.read {
			t.Errorf("%s: read %v", c.name, got)
		}
		if got := find.UsedBy(&c.agent); got != c.find {
			t.Errorf("%s: find_tools %v", c.name, got)
		}
	}
}
