package gatewayenv_test

import (
	"encoding/json"

	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/integration/gatewayenv"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// serve is a client of the options, by a pair of pipes.
func serve(t *testing.T, opts *env.Options) *env.Client {
	t.Helper()
	server, err := env.NewServer(nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context(), fromClient, toClient) }()
	c, err := env.NewClient(t.Context(), fromServer, toServer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		<-ended
		server.Close()
		toClient.Close()
	})
	return c
}

func TestTheGatewaySaysWhatItIsAndHas(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	d, err := w.ask(t, access.Owner(), "default").Description(t.Context())
	if err != nil || d.ID != "toolfit" || d.Version != "1.2" || len(d.Profiles) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	want := env.Capabilities{Logs: true, Sessions: true, Profiles: true, MCPTools: true}
	if fmt.Sprint(d.Capabilities) != fmt.Sprint(want) {
		t.Errorf("capabilities %+v, want %+v: nothing is served over HTTP here", d.Capabilities, want)
	}
	if d, err := w.ask(t, viewer("v"), "default").Description(t.Context()); err != nil || d.Capabilities.MCPTools {
		t.Errorf("a viewer calls no tools: %+v, %v", d.Capabilities, err)
	}
}

func TestProfilesHaveTheAgentsOfTheConfiguration(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	c := w.ask(t, access.Owner(), "default")
	p, err := c.Profile(t.Context(), "default")
	if err != nil || len(p.PrimaryAgents) != 1 || len(p.SubAgents) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	helper := p.PrimaryAgents[0]
	if helper.ID != "helper" || !slices.Equal(helper.AllowedTools, []string{"list_orders"}) || helper.PromptOverride != "the key is ***" {
		t.Errorf("%+v: tools are named as the profile shows them, and no secret is told", helper)
	}
	raw, _ := json.Marshal(p.SubAgents[0])
	if s := string(raw); strings.Contains(s, "s3cret") || !strings.Contains(s, `"big":10000000000000000001`) ||
		!strings.Contains(s, `"team":"数据"`) {
		t.Errorf("%s", s)
	}
	subs, err := c.Agents(t.Context(), env.RoleSub, "")
	if err != nil || len(subs) != 2 || subs[1].ID != "guard" || subs[1].AllowedTools == nil || len(subs[1].AllowedTools) != 0 {
		t.Errorf("%+v, %v: an agent whose tools are not there has none", subs, err)
	}
	if _, err := c.Agent(t.Context(), "guard", "default"); err == nil || err.Error() != "Agent not found: guard" {
		t.Errorf("%v", err)
	}
}

func TestACallerSeesItsOwnProfileAlone(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	c := w.ask(t, caller("k1", "ops"), "ops")
	all, err := c.Profiles(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != "ops" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := c.Profile(t.Context(), "default"); err == nil || err.Error() != "Profile not found: default" {
		t.Errorf("%v", err)
	}
}

func TestAnAgentMayUseItsTools(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	if _, err := w.May("ops", "helper"); err == nil || err.Error() != "Agent not found: helper" {
		t.Errorf("%v", err)
	}
	if _, err := w.May("default", "helper"); err != nil {
		t.Error(err)
	}
}

// at is the time of the i-th call.
func at(i int) time.Time { return time.Unix(1_800_000_000+int64(i), 0).UTC() }

func (w *world) fill(t *testing.T, n int) {
	t.Helper()
	var calls []store.Call
	for i := range n {
		calls = append(calls, store.Call{
			ID: string(store.AppendCallTime(nil, at(i))) + fmt.Sprintf("%06d", i), At: at(i), Principal: fmt.Sprint("k", i%2),
			Profile: "default",
			Session: fmt.Sprint("ses_", i%3), Agent: fmt.Sprint("a", i%5), Server: "shop", Tool: "shop__fail", Upstream: "fail",
			Outcome: "ok", Level: []string{"info", "info", "warn", "error"}[i%4], Repairs: []string{"", `[{"field":"/n"}]`}[i%2],
			Message: "say \x00 什么",
		})
	}
	if err := w.store.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
}

func TestLogsAreTheCallsThatTheFiltersChoose(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(t, 240)
		for _, tt := range []struct {
			name string
			who  access.Principal
			q    env.LogQuery
			want func(i int) bool
		}{
			{"everybody's for a viewer", viewer("v"), env.LogQuery{Limit: 1000}, func(int) bool { return true }},
			{"own ones for a caller", caller("k1", "default"), env.LogQuery{Limit: 1000}, func(i int) bool { return i%2 == 1 }},
			{"nobody's for a stranger", caller("k9", "default"), env.LogQuery{}, func(int) bool { return false }},
			{"of a session", access.Owner(), env.LogQuery{SessionID: "ses_2"}, func(i int) bool { return i%3 == 2 }},
			{"of an agent", access.Owner(), env.LogQuery{AgentID: "a4"}, func(i int) bool { return i%5 == 4 }},
			{"from a level on", access.Owner(), env.LogQuery{Level: env.LevelWarn, Limit: 1000}, func(i int) bool { return i%4 >= 2 }},
			{"from debug on", access.Owner(), env.LogQuery{Level: env.LevelDebug, Limit: 1000}, func(int) bool { return true }},
			{"both ends of a time", access.Owner(), env.LogQuery{Since: at(10), Until: at(20)},
				func(i int) bool { return i >= 10 && i <= 20 }},
			{"just after a call", access.Owner(), env.LogQuery{Since: at(10).Add(1), Until: at(12)},
				func(i int) bool { return i == 11 || i == 12 }},
			{"everything at once", caller("k1", "default"),
				env.LogQuery{SessionID: "ses_0", AgentID: "a3", Level: env.LevelError, Since: at(1), Until: at(200)},
				func(i int) bool { return i%2 == 1 && i%3 == 0 && i%5 == 3 && i%4 == 3 && i >= 1 && i <= 200 }},
			{"with a byte that nothing has", access.Owner(), env.LogQuery{SessionID: "ses_\x00"}, func(int) bool { return false }},
			{"long before and long after", access.Owner(),
				env.LogQuery{Since: time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
					Limit: 1000}, func(int) bool { return true }},
		} {
			t.Run(tt.name, func(t *testing.T) {
				logs, err := w.ask(t, tt.who, "default").Logs(t.Context(), tt.q)
				if err != nil {
					t.Fatal(err)
				}
				var want []time.Time
				for i := range 240 {
					if tt.want(i) {
						want = append(want, at(i))
					}
				}
				limit := tt.q.Limit
				if limit == 0 {
					limit = 100
				}
				want = want[max(0, len(want)-limit):]
				var got []time.Time
				for _, e := range logs {
					got = append(got, e.Timestamp.UTC())
				}
				if !slices.Equal(got, want) {
					t.Errorf("got %d entries, want %d, the newest last", len(got), len(want))
				}
			})
		}
	})
}

func TestACallIsInTheLogsBeforeTheStoreHasIt(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	w.fill(t, 4)
	w.recent = []store.Call{
		{ID: "c_z2", At: at(6), Principal: "k2", Level: "error", Tool: "shop__fail"},
		{ID: "c_z1", At: at(5), Principal: "k1", Level: "info", Tool: "shop__fail", Agent: "a9"},
	}
	stored, err := w.store.Calls(t.Context(), store.CallFilter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.recent = append(w.recent, stored...) // it has just been written
	for _, tt := range []struct {
		name string
		who  access.Principal
		q    env.LogQuery
		want int
	}{
		{"each once", access.Owner(), env.LogQuery{}, 6},
		{"own ones alone", caller("k1", "default"), env.LogQuery{}, 3},
		{"as the filters choose", access.Owner(), env.LogQuery{AgentID: "a9"}, 1},
		{"not more than asked for", access.Owner(), env.LogQuery{Limit: 3}, 3},
	} {
		logs, err := w.ask(t, tt.who, "default").Logs(t.Context(), tt.q)
		if err != nil || len(logs) != tt.want ||
			!slices.IsSortedFunc(logs, func(a, b env.LogEntry) int { return a.Timestamp.Compare(b.Timestamp) }) {
			t.Errorf("%s: %d entries, %v", tt.name, len(logs), err)
		}
	}
}

func TestALogEntryTellsAllOfACall(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	w.fill(t, 4)
	logs, err := w.ask(t, access.Owner(), "default").Logs(t.Context(), env.LogQuery{Limit: 1})
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v", logs, err)
	}
	e := logs[0]
	if e.Level != env.LevelError || e.SessionID != "ses_0" || e.AgentID != "a3" || e.ToolName != "shop__fail" ||
		e.Message != "shop__fail: ok: say \x00 什么" {
		t.Errorf("%+v", e)
	}
	var repairs []struct{ Field string }
	if !e.Context.Get("repairs", &repairs) || len(repairs) != 1 || repairs[0].Field != "/n" {
		t.Errorf("repairs %s", e.Context["repairs"])
	}
}

func TestBadArgumentsOfEveryKindAreRefusedInWords(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	c := w.ask(t, access.Owner(), "default")
	for _, tt := range []struct{ tool, args, want string }{
		{"query_logs", `{"limit":0}`, "limit"},
		{"query_logs", `{"limit":1001}`, "limit"},
		{"query_logs", `{"limit":-1}`, "limit"},
		{"query_logs", `{"limit":1.5}`, "limit"},
		{"query_logs", `{"limit":"many"}`, "limit"},
		{"query_logs", `{"since":"yesterday"}`, "since"},
		{"query_logs", `{"since":"2026-13-01T00:00:00Z"}`, "since"},
		{"query_logs", `{"until":12}`, "until"},
		{"query_logs", `{"since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`, "is after until"},
		{"query_logs", `{"level":"loud"}`, "level"},
		{"query_logs", `{"user":"x"}`, "user"},
		{"get_profile", `{}`, "id"},
		{"get_profile", `{"id":"x"}`, "Profile not found: x"},
		{"get_profile", `{"id":""}`, "id"},
		{"list_agents", `{"role":"boss"}`, "role"},
		{"list_agents", `{"profileId":"x"}`, "Profile not found: x"},
		{"get_agent", `{"id":"x"}`, "Agent not found: x"},
		{"get_description", `{"a":1}`, "a"},
		{"get_session", `{"id":"ses_x"}`, "Session not found: ses_x"},
		{"update_session", `{"id":"ses_x","title":"t"}`, "Session not found: ses_x"},
		{"update_session", `{"id":"ses_x"}`, "nothing to change"},
		{"create_session", `{"id":""}`, "id"},
		{"create_session", `{"metadata":{"":1}}`, "metadata name"},
		{"create_session", `{"metadata":[1]}`, "metadata"},
		{"create_session", `{"title":"` + strings.Repeat("字", 1001) + `"}`, "title"},
		{"list_sessions", `{"cursor":"not one"}`, "not a valid cursor"},
		{"list_sessions", `{"limit":1001}`, "limit"},
	} {
		err := c.Call(t.Context(), "env_"+tt.tool, json.RawMessage(tt.args), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: got %v, want %s", tt.tool, tt.args, err, tt.want)
		}
	}
}

func TestAStoreThatIsGoneIsNoNewsOfItsInside(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	w.store.Close()
	tools, err := w.Tools()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"env_query_logs", "env/list_sessions"} {
		raw, err := tools[name](t.Context(), &call.Request{Principal: access.Owner(), Profile: "default"}, nil)
		if err != nil || !strings.Contains(string(raw), `"isError":true`) || strings.Contains(string(raw), "sql") {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
}

func TestDefinitionsAreOfTheNamesThatEveryProviderTakes(t *testing.T) {
	defs, err := gatewayenv.Definitions()
	if err != nil || len(defs) != 11 {
		t.Fatalf("%d definitions, %v", len(defs), err)
	}
	w := newWorld(t, t.TempDir()+"/t.db")
	tools, err := w.Tools()
	if err != nil || len(tools) != 22 {
		t.Fatalf("%d tools, %v: each has two names", len(tools), err)
	}
	for _, def := range defs {
		var d struct{ Name string }
		if json.Unmarshal(def, &d) != nil || tools[d.Name] == nil || !strings.HasPrefix(d.Name, "env_") {
			t.Errorf("%s", def)
		}
	}
}
