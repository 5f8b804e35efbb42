package gatewayenv_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
)

// FuzzTools holds that every tool answers any arguments with what it promises or with a
// refusal in words, and that nothing is our own mistake.
func FuzzTools(f *testing.F) {
	for _, seed := range []struct{ tool, args string }{
		{"query_logs", `{"since":"2026-01-02T23:59:60Z","until":"9999-12-31T23:59:59.999999999+14:00","limit":1e2}`},
		{"query_logs", `{"limit":1e400,"level":"warn","sessionId":"\ud800"}`},
		{"query_logs", `{"limit":"7","limit":9}`},
		{"create_session", `{"id":"ses_1","metadata":{"a":1e400,"\u0000":null,"深":{"x":[[]]}}}`},
		{"create_session", `{"metadata":` + strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500) + `}`},
		{"update_session", `{"id":"ses_1","title":"\u0000","metadata":{}}`},
		{"list_sessions", `{"metadata":{"a":1.0},"cursor":"9.x","since":"0001-01-01T00:00:00Z"}`},
		{"get_session", `{"id":"\u0000"}`}, {"delete_session", `{"id":"ses_1"}`},
		{"get_profile", `{"id":"默认"}`}, {"list_agents", `{"role":"sub","profileId":"ops"}`}, {"get_agent", `null`},
		{"get_description", "\xff"}, {"list_profiles", `[]`},
	} {
		f.Add(seed.tool, []byte(seed.args), true)
		f.Add(seed.tool, []byte(seed.args), false)
	}
	w := newWorld(f, f.TempDir()+"/t.db")
	tools, err := w.Tools()
	if err != nil {
		f.Fatal(err)
	}
	var published struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(env.Schema(), &published); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string, args []byte, admin bool) {
		tool := tools["env_"+name]
		if tool == nil {
			t.Skip()
		}
		who := caller("k1", "ops")
		if admin {
			who = access.Owner()
		}
		raw, err := tool(t.Context(), &call.Request{Principal: who, Profile: "ops"}, args)
		if err != nil || !json.Valid(raw) || strings.Contains(string(raw), "internal error") {
			t.Fatalf("%s %s: %s, %v", name, args, raw, err)
		}
		if string(rawjson.Get(raw, "isError")) == "true" {
			return
		}
		promise, err := fit.Compile(published.Defs[name+".output"], nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := promise.Check(t.Context(), rawjson.Get(raw, "structuredContent")); err != nil {
			t.Errorf("%s %s: %s: %v", name, args, raw, err)
		}
	})
}
