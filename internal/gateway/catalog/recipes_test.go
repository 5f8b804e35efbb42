package catalog

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// recipeOf is the definition of a recipe that uses tools.
func recipeOf(name string, used ...Used) json.RawMessage {
	meta := rawjson.Encode(map[string]any{RecipeMeta: map[string]any{"tools": used}})
	return json.RawMessage(`{"name":"` + name + `","inputSchema":{"type":"object"},"_meta":` + string(meta) + `}`)
}

func TestRecipesAreShownWhereTheirToolsCanBeCalled(t *testing.T) {
	used := func(name string, def json.RawMessage) Used { return Used{tool.Name(name), tool.Hash(def)} }
	one := used("s__one", definition("one", ""))
	inner := recipeOf("inner", one)
	s := store.Server{ID: "s", ListedAt: time.Unix(1, 0), Tools: []store.Tool{{Definition: definition("one", "")}, {Definition: definition("two", "")}}}
	row := store.Server{ID: Recipes, ListedAt: time.Unix(1, 0), Tools: []store.Tool{
		{Definition: recipeOf("outer", used("recipes__inner", inner), one)}, {Definition: inner}, {Definition: recipeOf("none")},
		{Definition: recipeOf("both", one, used("s__two", definition("two", "")))}, {Definition: recipeOf("gone", Used{"s__three", "x"})},
		{Definition: recipeOf("changed", Used{"s__one", "x"})},
	}}
	fresh := listing("one", "two")
	list := func(id tool.ServerID) (upstream.Listing, error) { return fresh, nil }
	c, err := New(t.Context(), fakeLister{list}, fakeKeeper{rows: []store.Server{s, row}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(text string) {
		t.Helper()
		cfg, err := config.Parse("toolfit.yaml", []byte("mcpServers: {s: {command: s}}\n"+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Servers = append(cfg.Servers, config.RecipeServer())
		c.Apply(cfg)
	}
	shown := func(who string) string {
		t.Helper()
		v, err := c.View("default")
		if err != nil {
			t.Fatal(err)
		}
		v = v.As(keyOf(who))
		var names []string
		for _, e := range v.Entries {
			if found, err := v.Find(e.Shown); err != nil || found != e {
				t.Errorf("%s is listed and not found: %v", e.Shown, err)
			}
			if e.Server == Recipes {
				names = append(names, e.Shown)
			}
		}
		return strings.Join(names, " ")
	}
	for text, want := range map[string]string{
		"":                                   "recipes__outer recipes__inner recipes__none recipes__both",
		"profiles: {default: {names: bare}}": "outer inner none both",
		"profiles: {default: {tools: {deny: [s__two]}}}":                        "recipes__outer recipes__inner recipes__none",
		"profiles: {default: {servers: [recipes]}}":                             "recipes__none",
		"profiles: {default: {servers: [s]}}":                                   "",
		"profiles: {default: {tools: {deny: [recipes__inner]}}}":                "recipes__none recipes__both",
		"overrides: [{tool: s__one, hide: true}]":                               "recipes__none",
		"overrides: [{tool: recipes__inner, name: first}]":                      "recipes__outer first recipes__none recipes__both",
		"policy: [{name: a, tools: [s__two], then: deny}]":                      "recipes__outer recipes__inner recipes__none",
		"policy: [{name: a, tools: [recipes__inner], then: deny}]":              "recipes__none recipes__both",
		"policy: [{name: a, tools: [s__one], then: deny, when: 'args.x == 1'}]": "recipes__outer recipes__inner recipes__none recipes__both",
	} {
		apply(text)
		if got := shown("ann"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	apply("")
	v, _ := c.View("default")
	if hint := v.Unknown("recipes__changed", nil).Hint; !strings.Contains(hint, "uses s__one, which has changed") {
		t.Error(hint)
	}
	if hint := v.Unknown("recipes__gone", nil).Hint; !strings.Contains(hint, "a tool that the profile does not have") {
		t.Error(hint)
	}
	fresh = listing("two")
	if err := c.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := shown("ann"); got != "recipes__none" {
		t.Errorf("after a change of another server: %s", got)
	}
	if _, ok := c.Definition("s__one"); ok {
		t.Error("what is gone is found")
	}
}
