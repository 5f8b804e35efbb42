package env_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

// The schemas are written by hand beside the types; this holds them together.
func TestSchemasAndTypesHaveTheSameMembers(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]any
			Required   []string
		} `json:"$defs"`
	}
	if err := json.Unmarshal(env.Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		"EnvDescription": env.EnvDescription{}, "EnvProfile": env.Profile{}, "AgentSpec": env.AgentSpec{},
		"LogEntry": env.LogEntry{}, "Session": env.Session{}, "create_session.input": env.SessionOptions{},
		"list_sessions.output": env.SessionPage{},
	} {
		var members, always []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			member, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
			members = append(members, member)
			if flags == "" {
				always = append(always, member)
			}
		}
		if got := slices.Sorted(maps.Keys(doc.Defs[name].Properties)); !slices.Equal(got, slices.Sorted(slices.Values(members))) {
			t.Errorf("%s: the schema has %v, the type %v", name, got, members)
		}
		if got := doc.Defs[name].Required; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(always))) {
			t.Errorf("%s: the schema requires %v, the type always has %v", name, got, always)
		}
	}
}
