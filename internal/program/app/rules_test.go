package app

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/overlay"
	"github.com/toolfit/toolfit/internal/state/store"
)

const shopRules = `
store: t.db
mcpServers: {shop: {builtin: demo-shop}}
results:
  - {id: filed, tool: shop__list_orders, keep: "orders(id)"}
`

// rule finds the rule of a source.
func rule(t *testing.T, a *App, id string, from project.Source) overlay.Entry[project.Rule] {
	t.Helper()
	for _, s := range a.Rules() {
		if s.ID == id && s.Source == from {
			return s
		}
	}
	t.Fatalf("there is no rule %s", id)
	return overlay.Entry[project.Rule]{}
}

// inForce are the ids of the rules in force.
func inForce(a *App) string {
	var ids []string
	for _, r := range a.Config().Results {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func save(t *testing.T, a *App, id, text string) {
	t.Helper()
	if err := a.SaveRule(t.Context(), id, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestOfOneIDTheFilesRuleCounts(t *testing.T) {
	a, log := start(t, shopRules)
	if err := a.SaveRule(t.Context(), "filed", []byte(`{"tool":"shop__list_orders","keep":"orders"}`)); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	save(t, a, "stored", `{"tool":"shop__list_orders","keep":"orders(status)"}`)
	if got := inForce(a); got != "filed stored" {
		t.Errorf("in force: %s", got)
	}
	change := a.Reload(parse(t, a.Config().Path, shopRules+"  - {id: stored, tool: shop__get_order, drop: secret}\n"))
	if got := fmt.Sprint(change.Settings); got != "[results]" {
		t.Errorf("changed: %s", got)
	}
	if s := rule(t, a, "stored", project.Store); !s.Hidden || rule(t, a, "stored", project.File).Hidden || inForce(a) != "filed stored" {
		t.Errorf("%+v, in force: %s", s, inForce(a))
	}
	log.wait(t, "the file and the store both have this rule", 1)
	if warning, err := a.RemoveRule(t.Context(), "stored"); err != nil || warning == "" {
		t.Errorf("%q, %v", warning, err)
	}
	if _, err := a.RemoveRule(t.Context(), "stored"); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	if _, err := a.RemoveRule(t.Context(), "nothing"); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
}

func TestRulesOfTheStoreOutlastARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	log := &logged{}
	run := func(f func(*App)) {
		a, err := New(t.Context(), parse(t, path, shopRules), &Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		f(a)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	run(func(a *App) {
		save(t, a, "stored", `{"tool":"shop__get_order","keep":"id"}`)
		if _, err := a.Store.SaveRule(t.Context(), store.Document{ID: "broken", Body: []byte(`{"rule":{"tool":"x","keep":"a("}}`)}); err != nil {
			t.Fatal(err)
		}
	})
	run(func(a *App) {
		if inForce(a) != "filed stored" {
			t.Errorf("in force: %s", inForce(a))
		}
		if s := rule(t, a, "broken", project.Store); !strings.Contains(s.Problem, "at byte 2") {
			t.Errorf("%+v", s)
		}
	})
	log.wait(t, "rule of the store left out", 1)
}

func TestAFileWithAWrongMaskLeavesTheRulesAsTheyAre(t *testing.T) {
	a, log := start(t, shopRules)
	again := watch(t, a)
	put(t, a.Config().Path, strings.Replace(shopRules, "orders(id)", "orders(id", 1))
	again <- nil
	log.wait(t, "configuration refused, the old one stays in force", 1)
	if text := log.String(); !strings.Contains(text, "toolfit.yaml:5: results[0].keep: at byte 9") {
		t.Errorf("the log does not say where:\n%s", text)
	}
	if r := a.Config().Results; len(r) != 1 || r[0].Keep != "orders(id)" {
		t.Errorf("%+v", r)
	}
	put(t, a.Config().Path, strings.Replace(shopRules, "orders(id)", "orders(status)", 1))
	again <- nil
	log.wait(t, "configuration reloaded", 1)
	if r := a.Config().Results; r[0].Keep != "orders(status)" {
		t.Errorf("%+v", r)
	}
}

func TestRulesThatOthersStoreAreFollowed(t *testing.T) {
	a, log := start(t, shopRules)
	if _, err := a.Store.SaveRule(t.Context(),
		store.Document{ID: "other", Body: []byte(`{"rule":{"tool":"shop__get_order","keep":"id"}}`)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.reread(t.Context(), "rules", a.rulesChanged); err != nil {
			t.Fatal(err)
		}
	}
	if inForce(a) != "filed other" || strings.Count(log.String(), "rules of the store were changed") != 1 {
		t.Errorf("in force: %s\n%s", inForce(a), log)
	}
	if err := a.Store.DeleteRule(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	if err := a.reread(t.Context(), "rules", a.rulesChanged); err != nil || inForce(a) != "filed" {
		t.Errorf("in force: %s, %v", inForce(a), err)
	}
}

// used writes records of calls that a rule cut, of some of which more was fetched.
func used(t *testing.T, a *App, id string, calls, fetched int) {
	t.Helper()
	var rows []store.Call
	for i := range calls + fetched {
		at := time.Now()
		c := store.Call{ID: fmt.Sprintf("%s%s%06d", record.FirstID(at), id, i), At: at, Principal: "p", Tool: "shop__list_orders", Rule: id,
			Outcome: "ok", Level: "info"}
		if c.Ref = fmt.Sprint("r_", i); i >= calls {
			c.Tool = tool.Name(call.FetchResult)
			c.Ref = fmt.Sprint("r_", (i-calls)/2) // each twice
		}
		rows = append(rows, c)
	}
	if err := a.Store.AppendCalls(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

func TestARuleOfWhichMuchIsFetchedGoesBackToShadow(t *testing.T) {
	a, log := start(t, shopRules)
	save(t, a, "greedy", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	save(t, a, "fine", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	used(t, a, "greedy", 60, 40)
	used(t, a, "fine", 60, 4)
	used(t, a, "filed", 60, 60)
	if err := a.judgeRules(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := rule(t, a, "greedy", project.Store); s.Value.Mode != project.Shadow ||
		restapi.ShowRule(s, call.RuleCount{}).Reason != "more was fetched for 20 of 60 results" ||
		s.Value.Keep != "orders(id)" {
		t.Errorf("%+v", s)
	}
	if rule(t, a, "fine", project.Store).Value.Mode != project.On || rule(t, a, "filed", project.File).Value.Mode != project.On {
		t.Error("another rule was switched off")
	}
	log.wait(t, "a rule is back in shadow", 1)
	if err := a.judgeRules(t.Context()); err != nil || strings.Count(log.String(), "a rule is back in shadow") != 1 {
		t.Errorf("it is said again: %v", err)
	}
	save(t, a, "greedy", `{"tool":"shop__list_orders","keep":"orders(id)"}`) // a person decides anew
	if err := a.judgeRules(t.Context()); err != nil || rule(t, a, "greedy", project.Store).Value.Mode != project.On {
		t.Errorf("%v, %+v", err, rule(t, a, "greedy", project.Store))
	}
}

func TestBuiltInRulesFollowTheirServersName(t *testing.T) {
	a, _ := start(t, "store: t.db\nmcpServers: {mine: {builtin: demo-cloud}}\n")
	for _, r := range a.Config().Results {
		if r.Source != project.Builtin || !strings.HasPrefix(r.Tool, "mine__") {
			t.Errorf("%+v", r)
		}
	}
	if len(a.Config().Results) == 0 {
		t.Error("there are none")
	}
}
