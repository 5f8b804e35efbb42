package recipes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestProposalsHaveTheKindsOfTheRun(t *testing.T) {
	for name, c := range map[string]struct{ body, input, output, code string }{
		"no input takes no arguments": {`{"code":"return 1"}`, `{"properties":{},"type":"object"}`, ``, "return 1"},
		"null is no input":            {`{"code":"return 1","input":null}`, `{"properties":{},"type":"object"}`, ``, "return 1"},
		"all members are required, and no value is shown": {
			`{"code":"c","input":{"status":"secret","n":9007199254740993,"x":1.5,"on":true,"any":null}}`,
			`{"properties":{"any":{},"n":{"type":"integer"},"on":{"type":"boolean"},"status":{"type":"string"},"x":{"type":"number"}},` +
				`"required":["status","n","x","on","any"],"type":"object"}`, ``, "c",
		},
		"members of items are not required, and mixed items are not typed": {
			`{"code":"c","input":{"a":[{"b":1}],"m":[1,"x"],"e":[]}}`,
			`{"properties":{"a":{"items":{"properties":{"b":{"type":"number"}},"type":"object"},"type":"array"},"e":{"type":"array"},` +
				`"m":{"type":"array"}},"required":["a","m","e"],"type":"object"}`, ``, "c",
		},
		"an input that is no object is the one argument": {
			`{"code":"return input[0] // first","input":["a"]}`,
			`{"properties":{"input":{"items":{"type":"string"},"type":"array"}},"required":["input"],"type":"object"}`, ``,
			"return await (async (input) => {return input[0] // first\n})(input.input)",
		},
		"the result says what results are like": {
			`{"code":"c","result":{"total":1}}`, `{"properties":{},"type":"object"}`,
			`{"properties":{"total":{"type":"number"}},"type":"object"}`, "c",
		},
	} {
		r, err := Propose(store.ScriptRun{ID: "c_1", State: store.ScriptEnded, Body: []byte(c.body)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := rawjson.Encode(json.RawMessage(r.Input)); !tool.Same(got, json.RawMessage(c.input)) || string(r.Output) != c.output || r.Code != c.code {
			t.Errorf("%s:\n%s\n%s\n%s", name, got, r.Output, r.Code)
		}
	}
	const twice = `{"code":"c","log":[{"name":"shop.a","tool":"shop__a","hash":"1"},{"name":"search"},{"name":"shop.a","tool":"shop__a","hash":"1"}]}`
	r, err := Propose(store.ScriptRun{State: store.ScriptEnded, Body: []byte(twice)})
	if err != nil || len(r.Tools) != 1 || r.Tools[0] != (catalog.Used{Name: "shop__a", Hash: "1"}) {
		t.Errorf("%+v, %v", r.Tools, err)
	}
}

func TestOnlyWhatWorkedIsProposed(t *testing.T) {
	body := []byte(`{"code":"c"}`)
	for want, run := range map[string]store.ScriptRun{
		"has not ended": {State: store.ScriptPaused, Body: body},
		"has failed":    {State: store.ScriptEnded, Body: []byte(`{"code":"c","failed":true}`)},
		"another key":   {State: store.ScriptEnded, Err: fault.New(fault.BadConfig, "another key")},
	} {
		if _, err := Propose(run); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// look finds definitions by their annotations.
func look(t *testing.T, hints map[tool.Name]string) Look {
	return func(name tool.Name) (tool.Definition, bool) {
		text, ok := hints[name]
		if !ok {
			return tool.Definition{}, false
		}
		_, raw, _ := name.Split()
		def, err := tool.ParseDefinition(json.RawMessage(`{"name":"` + raw + `",` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return def, true
	}
}

func TestHintsFollowFromTheTools(t *testing.T) {
	const (
		reads  = `"annotations":{"readOnlyHint":true,"openWorldHint":false}`
		silent = `"inputSchema":{}`
		adds   = `"annotations":{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
	)
	for name, c := range map[string]struct {
		tools []string
		want  Hints
	}{
		"no tools":                         {nil, Hints{ReadOnly: true, Idempotent: true}},
		"all read":                         {[]string{reads, reads}, Hints{ReadOnly: true, Idempotent: true}},
		"a tool that says nothing is able": {[]string{reads, silent}, Hints{Destructive: true, OpenWorld: true}},
		"one writes":                       {[]string{reads, adds}, Hints{Idempotent: true}},
	} {
		all := map[tool.Name]string{}
		r := Recipe{Name: "r"}
		for i, text := range c.tools {
			n := tool.Name("s__" + string(rune('a'+i)))
			all[n] = text
			r.Tools = append(r.Tools, catalog.Used{Name: n})
		}
		if err := r.Pin(look(t, all)); err != nil || r.Hints != c.want {
			t.Errorf("%s: %+v, %v", name, r.Hints, err)
		}
	}
}

func TestARecipeIsPinnedToWhatItsRecipesUse(t *testing.T) {
	all := map[tool.Name]string{"s__a": `"x":1`}
	inner := Recipe{Name: "inner", Description: "d", Code: "c", Input: json.RawMessage(`{"type":"object"}`), Tools: []catalog.Used{{Name: "s__a"}}}
	if err := inner.Pin(look(t, all)); err != nil {
		t.Fatal(err)
	}
	def := strings.TrimPrefix(string(inner.Definition()), `{"name":"inner",`)
	all["recipes__inner"] = strings.TrimSuffix(def, "}")
	outer := Recipe{Name: "outer", Tools: []catalog.Used{{Name: "recipes__inner"}}}
	if err := outer.Pin(look(t, all)); err != nil || len(outer.Tools) != 2 || outer.Tools[1] != inner.Tools[0] {
		t.Fatalf("%+v, %v", outer.Tools, err)
	}
	if name, _ := outer.Changed(look(t, all)); name != "" {
		t.Errorf("%s has changed", name)
	}
	all["s__a"] = `"x":2`
	if name, why := outer.Changed(look(t, all)); name != "s__a" || why != "has another definition now" {
		t.Errorf("%s %s", name, why)
	}
	delete(all, "s__a")
	if name, why := inner.Changed(look(t, all)); name != "s__a" || why != "is gone" {
		t.Errorf("%s %s", name, why)
	}
	if err := inner.Pin(look(t, all)); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	self := Recipe{Name: "inner", Tools: []catalog.Used{{Name: "recipes__inner"}}}
	if err := self.Pin(look(t, all)); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}

func TestWrongRecipesAreRefused(t *testing.T) {
	good := Recipe{Name: "late_orders", Description: "d", Code: "c", Input: json.RawMessage(`{"type":"object"}`)}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Recipe){
		"capitals":             func(r *Recipe) { r.Name = "Late" },
		"a digit first":        func(r *Recipe) { r.Name = "1a" },
		"too long a name":      func(r *Recipe) { r.Name = strings.Repeat("a", 42) },
		"no description":       func(r *Recipe) { r.Description = " \n" },
		"a long description":   func(r *Recipe) { r.Description = strings.Repeat("字", 700) },
		"no script":            func(r *Recipe) { r.Code = "" },
		"a schema of an array": func(r *Recipe) { r.Input = json.RawMessage(`{"type":"array"}`) },
		"a schema of no kind":  func(r *Recipe) { r.Output = json.RawMessage(`{}`) },
		"no schema":            func(r *Recipe) { r.Input = nil },
		"no JSON":              func(r *Recipe) { r.Input = json.RawMessage(`{"type":"object"`) },
	} {
		r := good
		change(&r)
		if err := r.Check(); !fault.Is(err, fault.BadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheServerListsRecipes(t *testing.T) {
	r := Recipe{Name: "a", Description: "d", Code: "c", Input: json.RawMessage(`{"type":"object"}`), Version: 3, Tools: []catalog.Used{{Name: "s__a", Hash: "h"}}}
	h := Handler(func() []Recipe { return []Recipe{r} })
	raw, err := h.Serve(t.Context(), &mcp.Request{Method: "tools/list"})
	if err != nil {
		t.Fatal(err)
	}
	for w := rawjson.Array(rawjson.Get(raw, "tools")); w.Next(); {
		def, err := tool.ParseDefinition(w.Value)
		if err != nil || def.Name != "a" || len(catalog.RecipeUses(def)) != 1 || string(rawjson.Get(def.Raw, "_meta", catalog.RecipeMeta, "version")) != "3" {
			t.Errorf("%s, %v", raw, err)
		}
	}
	if _, err := h.Serve(t.Context(), &mcp.Request{Method: "tools/call"}); err == nil {
		t.Error("a call was answered")
	}
}
