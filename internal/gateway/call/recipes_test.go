package call

import (
	"encoding/json"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
)

// inside is a request that a script makes, or a recipe that uses tools, and that itself was called by a request.
func inside(of *Request, server tool.ServerID, uses string) *Request {
	def := tool.Definition{Name: "r", Raw: json.RawMessage(`{"name":"r","_meta":{"toolfit/recipe":{"tools":` + uses + `}}}`)}
	entry := &catalog.Entry{Server: server, Definition: def}
	return &Request{script: &scripted{run: &run{s: &sent{entry: entry}, req: of}}}
}

func TestARecipeCallsOnlyWhatItWasSavedWith(t *testing.T) {
	const uses = `[{"name":"shop__list","hash":"x"}]`
	list := &catalog.Entry{Name: "shop__list"}
	remove := &catalog.Entry{Name: "shop__delete"}
	recipe := inside(&Request{}, catalog.Recipes, uses)
	if err := recipe.script.may(list); err != nil {
		t.Error(err)
	}
	if err := recipe.script.may(remove); !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
	for name, free := range map[string]*Request{"a client": {}, "a script": inside(&Request{}, "", "[]")} {
		if err := free.script.may(remove); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecipesCallEachOtherThreeDeep(t *testing.T) {
	c := New(nil, nil, nil, &Options{Scripts: &script.Runner{}, ScriptRuns: noRuns{}})
	req := inside(&Request{}, "", "[]") // a script counts for nothing
	for range maxRecipes {
		req = inside(req, catalog.Recipes, "[]")
	}
	if n := req.script.recipes(); n != maxRecipes {
		t.Errorf("%d recipes", n)
	}
	_, err := c.runScript(t.Context(), &sent{entry: &catalog.Entry{Server: catalog.Recipes}}, req, nil)
	if !fault.Is(err, fault.BadRequest) {
		t.Error(err)
	}
}

type noRuns struct{ ScriptRuns }
