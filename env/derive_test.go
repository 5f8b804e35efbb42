package env_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolfit/toolfit/env"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDerived(t *testing.T) {
	call := func(context.Context, json.RawMessage) (any, error) { return nil, nil }
	tests := []struct {
		name string
		env  env.Environment
		meta env.Meta
		want string
	}{
		{"an environment with nothing has the default profile and agent", plain{}, env.Meta{},
			`{"id":"base-env","displayName":"Base Environment","capabilities":{"events":false,"logs":false,"mcpTools":false,"metrics":false,"profiles":true,"sessions":false},` +
				`"profiles":[{"id":"default","displayName":"Default Profile","primaryAgents":[{"id":"default","role":"primary","allowedTools":[]}]}]}`},
		{"the default agent has the system prompt and all tools",
			plain{tools: []env.Tool{{Name: "b", Call: call}, {Name: "a", Call: call}},
				prompts: []env.Prompt{{ID: "system"}}}, env.Meta{ID: "x", DisplayName: "X 系统", Version: "3"},
			`{"id":"x","displayName":"X 系统","version":"3","capabilities":{"events":false,"logs":false,"mcpTools":true,"metrics":false,"profiles":true,"sessions":false},` +
				`"profiles":[{"id":"default","displayName":"X 系统","primaryAgents":[{"id":"default","role":"primary","promptId":"system","allowedTools":["b","a"]}]}]}`},
		{"an environment that has more says so, and an empty list of profiles stays empty",
			&shop{profiles: func() ([]env.Profile, error) { return nil, nil }}, env.Meta{Version: "9"},
			`{"id":"shop","displayName":"商店","version":"9","capabilities":{"events":false,"logs":true,"mcpTools":true,"metrics":false,"profiles":true,"sessions":true},"profiles":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := connect(t, tt.env, &env.Options{Meta: tt.meta}).Description(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, asJSON(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnErrorOfProfilesIsToldAndNeverTheDefaultProfile(t *testing.T) {
	c := connect(t, &shop{profiles: func() ([]env.Profile, error) { return nil, errors.New("the disk is gone") }}, nil)
	calls := map[string]func() error{
		"description": func() error { _, err := c.Description(t.Context()); return err },
		"profiles":    func() error { _, err := c.Profiles(t.Context()); return err },
		"profile":     func() error { _, err := c.Profile(t.Context(), "default"); return err },
		"agents":      func() error { _, err := c.Agents(t.Context(), "", ""); return err },
		"agent":       func() error { _, err := c.Agent(t.Context(), "default", ""); return err },
	}
	for name, call := range calls {
		var told *env.ToolError
		if err := call(); !errors.As(err, &told) || told.Message != "profiles: the disk is gone" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestWhatIsWrittenByHandWins(t *testing.T) {
	opts := &env.Options{
		Describe: func(context.Context) (env.EnvDescription, error) {
			return env.EnvDescription{ID: "mine", DisplayName: "Mine"}, nil
		},
		ListAgents: func(context.Context, env.AgentFilter) ([]env.AgentSpec, error) {
			return []env.AgentSpec{{ID: "solo", Role: env.RolePrimary}}, nil
		},
	}
	c := connect(t, &shop{}, opts)
	if d, err := c.Description(t.Context()); err != nil || d.ID != "mine" {
		t.Errorf("got %v, %v", d, err)
	}
	if a, err := c.Agent(t.Context(), "solo", ""); err != nil || a.ID != "solo" {
		t.Errorf("the agent is found in the list that was written: got %v, %v", a, err)
	}
	if p, err := c.Profile(t.Context(), "day"); err != nil || p.DisplayName != "Day" {
		t.Errorf("the rest is derived: got %v, %v", p, err)
	}
}

func TestWithoutAnEnvironmentOnlyWhatIsWrittenIsOffered(t *testing.T) {
	c := connect(t, nil, &env.Options{Meta: env.Meta{ID: "hand"}})
	d, err := c.Description(t.Context())
	if err != nil || d.ID != "hand" || d.Capabilities.Logs || d.Capabilities.Profiles || d.Profiles != nil {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := c.Profiles(t.Context()); !errors.Is(err, env.ErrNotOffered) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Logs(t.Context(), env.LogQuery{}); !errors.Is(err, env.ErrNotOffered) {
		t.Errorf("got %v", err)
	}
	if _, err := c.CreateSession(t.Context(), env.SessionOptions{}); !errors.Is(err, env.ErrNotOffered) {
		t.Errorf("got %v", err)
	}
}

func TestUnknownNamesAreRefusedAtOnce(t *testing.T) {
	if _, err := env.NewServer(plain{}, &env.Options{Names: "dots"}); err == nil {
		t.Error("got no error")
	}
}

func TestAgents(t *testing.T) {
	c := connect(t, &shop{}, nil)
	tests := []struct {
		name    string
		role    env.Role
		profile string
		want    []string
	}{
		{"all, primary and sub, each once", "", "", []string{"clerk", "runner", "guard"}},
		{"of one role", env.RoleSub, "", []string{"runner"}},
		{"of one profile", "", "night", []string{"guard", "clerk"}},
		{"of both, and none", env.RoleSub, "night", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			agents, err := c.Agents(t.Context(), tt.role, tt.profile)
			var ids []string
			for _, a := range agents {
				ids = append(ids, a.ID)
			}
			if err != nil || !cmp.Equal(ids, tt.want) {
				t.Errorf("got %v, %v; want %v", ids, err, tt.want)
			}
		})
	}
	if a, err := c.Agent(t.Context(), "runner", "day"); err != nil || a.Role != env.RoleSub || a.DeniedTools[0] != "panic" {
		t.Errorf("got %v, %v", a, err)
	}
	if a, err := c.Agent(t.Context(), "guard", ""); err != nil || a.AllowedTools == nil || len(a.AllowedTools) > 0 {
		t.Errorf("an empty list of tools is not the same as none: got %v, %v", a, err)
	}
	missing := map[string]func() error{
		"Agent not found: 无":           func() error { _, err := c.Agent(t.Context(), "无", ""); return err },
		"Agent not found: clerk":       func() error { _, err := c.Agent(t.Context(), "clerk", "dusk"); return err },
		"Agent not found: runner":      func() error { _, err := c.Agent(t.Context(), "runner", "night"); return err },
		"Profile not found: dusk":      func() error { _, err := c.Profile(t.Context(), "dusk"); return err },
		"Profile not found: <dusk> &1": func() error { _, err := c.Agents(t.Context(), "", "<dusk> &1"); return err },
	}
	for want, call := range missing {
		var none *env.NotFoundError
		if err := call(); !errors.As(err, &none) || none.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWhatIsWrittenByHandNeedNotBeWhole(t *testing.T) {
	c := connect(t, nil, &env.Options{
		Meta:         env.Meta{ID: "yard"},
		Describe:     func(context.Context) (env.EnvDescription, error) { return env.EnvDescription{Version: "2"}, nil },
		ListProfiles: func(context.Context) ([]env.Profile, error) { return []env.Profile{{ID: "p"}}, nil },
		GetAgent:     func(context.Context, string, string) (env.AgentSpec, error) { return env.AgentSpec{}, nil },
	})
	if d, err := c.Description(t.Context()); err != nil || d.ID != "yard" || d.DisplayName != "Base Environment" || d.Version != "2" {
		t.Errorf("got %+v, %v", d, err)
	}
	if p, err := c.Profile(t.Context(), "p"); err != nil || p.DisplayName != "p" || p.PrimaryAgents == nil {
		t.Errorf("got %+v, %v", p, err)
	}
	var none *env.NotFoundError
	if _, err := c.Agent(t.Context(), "nobody", ""); !errors.As(err, &none) || none.ID != "nobody" {
		t.Errorf("got %v", err)
	}
}
