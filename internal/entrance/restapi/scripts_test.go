package restapi_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ran stores a run of a script by ann, the calls it made, and the call that went on with it after a pause.
func (g *gateway) ran(t *testing.T) (first, second string) {
	t.Helper()
	who, now := g.keyID("ann"), time.Now()
	first, second = g.app.Records.NewID(), g.app.Records.NewID()
	script := store.Call{
		ID: first, At: now, Principal: who, Tool: "run_script", Upstream: "run_script", Outcome: "error", Code: "approval_required", Level: "error",
	}
	inner := store.Call{
		ID: g.app.Records.NewID(), At: now, Principal: who, Server: "shop", Tool: "shop__list_orders", Outcome: "ok", Level: "info", Parent: first,
	}
	again := script
	again.ID, again.Outcome, again.Code, again.Level = second, "ok", "", "warn"
	again.Message = "something else; goes on with " + first
	if err := g.app.Store.AppendCalls(t.Context(), []store.Call{script, inner, again}); err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"code":"return 客户","input":{"n":9007199254740993},"seed":"s","log":[
		{"name":"shop.list_orders","digest":"d","call":%q,"done":true},
		{"name":"shop.pay","digest":"d","done":true,"thrown":{"Message":"no money"}},
		{"name":"sleep","digest":"d"}]}`, inner.ID)
	err := g.app.Store.SaveScriptRun(t.Context(), store.ScriptRun{
		ID: first, Owner: who, Profile: "orders", Tool: "run_script", Digest: "d", State: store.ScriptPaused, At: now,
		Expires: now.Add(time.Hour), Body: []byte(body),
	})
	if err != nil {
		t.Fatal(err)
	}
	return first, second
}

func TestACallHasTheScriptThatItRan(t *testing.T) {
	g := newGateway(t)
	first, second := g.ran(t)
	inner := g.export(t, "ann", "parent="+first)
	if len(inner) != 1 || inner[0].Parent != first {
		t.Fatalf("calls of the script: %+v", inner)
	}
	want := []restapi.ScriptCall{
		{Name: "shop.list_orders", Call: inner[0].ID, Done: true}, {Name: "shop.pay", Done: true, Error: "no money"}, {Name: "sleep"},
	}
	for _, who := range []string{"ann", "eye", "root"} {
		for _, id := range []string{first, second} {
			s := g.one(t, who, "GET", id, "").Script
			if s == nil || s.Run != first || s.Code != "return 客户" || string(s.Input) != `{"n":9007199254740993}` || !slices.Equal(s.Log, want) {
				t.Errorf("%s of %s gets %+v", id, who, s)
			}
		}
	}
	if status, _ := g.ask(t, "bob", "GET", "/api/v1/calls/"+first, ""); status != 404 {
		t.Errorf("another caller: HTTP %d", status)
	}
	if n := len(g.export(t, "bob", "parent="+first)); n != 0 {
		t.Errorf("another caller sees %d calls of the script", n)
	}
	if c := g.one(t, "ann", "GET", inner[0].ID, ""); c.Script != nil || c.Parent != first {
		t.Errorf("a call of the script: %+v", c)
	}
	for _, c := range g.export(t, "root", "tool=run_script") {
		if c.Script != nil {
			t.Errorf("a list has the script of %s", c.ID)
		}
	}
}

func TestAScriptIsShownToItsOwnerAlone(t *testing.T) {
	g := newGateway(t)
	first, _ := g.ran(t)
	forged := store.Call{
		ID: g.app.Records.NewID(), At: time.Now(), Principal: g.keyID("bob"), Tool: "run_script", Outcome: "tool_error", Level: "error",
		Message: "x; goes on with " + first,
	}
	if err := g.app.Store.AppendCalls(t.Context(), []store.Call{forged}); err != nil {
		t.Fatal(err)
	}
	if c := g.one(t, "bob", "GET", forged.ID, ""); c.Script != nil {
		t.Errorf("bob gets %+v", c.Script)
	}
}
