package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

const agentsConfig = `
store: t.db
mcpServers: {shop: {builtin: demo-shop}}
models: {m: {url: "http://127.0.0.1:1/v1"}}
agents:
  filed: {name: Of the file}
`

// agentsInForce are the ids and names of the agents in force.
func agentsInForce(a *App) string {
	var list []string
	for _, one := range a.Config().Agents {
		list = append(list, one.ID+"="+one.Name)
	}
	return strings.Join(list, " ")
}

func TestOfOneIDTheFilesAgentCounts(t *testing.T) {
	a, log := start(t, agentsConfig)
	if _, err := a.SaveAgent(t.Context(), "filed", 0, []byte(`{}`)); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	if id, err := a.SaveAgent(t.Context(), "stored", 0, []byte(`{"name":"Of the store"}`)); err != nil || id != "stored" {
		t.Fatal(id, err)
	}
	if got := agentsInForce(a); got != "filed=Of the file stored=Of the store" {
		t.Errorf("in force: %s", got)
	}
	a.Reload(parse(t, a.Config().Path, agentsConfig+"  stored: {name: Now of the file}\n"))
	if got := agentsInForce(a); got != "filed=Of the file stored=Now of the file" {
		t.Errorf("in force: %s", got)
	}
	log.wait(t, "the file and the store both have this agent", 1)
	if warning, err := a.RemoveAgent(t.Context(), "stored"); err != nil || warning == "" {
		t.Errorf("%q, %v", warning, err)
	}
	if _, err := a.RemoveAgent(t.Context(), "stored"); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	if _, err := a.RemoveAgent(t.Context(), "nobody"); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
}

// TestTheDocsShowToolsUnderTheirOldNames takes the examples at their word: agents and clients of
// the systems before this one know tools by their own names.
func TestTheDocsShowToolsUnderTheirOldNames(t *testing.T) {
	example := func(doc string) string {
		text, err := os.ReadFile("../../../docs/" + doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
			if block, _, _ = strings.Cut(block, "```"); strings.Contains(block, "names: bare") {
				return block
			}
		}
		t.Fatalf("docs/%s has no example with names: bare", doc)
		return ""
	}
	a, _ := start(t, "store: t.db\n"+example("cloudbase.md"))
	a.Catalog.Ready(t.Context(), config.DefaultProfile)
	view, err := a.Catalog.View(config.DefaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"envQuery", "queryEnv", "envPick"} {
		if _, err := view.Find(name); err != nil {
			t.Error(err)
		}
	}
	cfg := parse(t, filepath.Join(t.TempDir(), "toolfit.yaml"), example("agents.md"))
	if cfg.Profiles[0].Names != "bare" || cfg.AgentNamed("excel").Available[0] != "read_data_from_excel" {
		t.Errorf("%+v, %+v", cfg.Profiles, cfg.Agents)
	}
}

func TestAgentsOfTheStoreOutlastARestartAndKeepNoOtherFromIt(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { testAgentsOutlast(t, "t.db") })
	t.Run("PostgreSQL", func(t *testing.T) { testAgentsOutlast(t, testparts.NeedPostgres(t).Schema(t)) })
}

func testAgentsOutlast(t *testing.T, dsn string) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	text := strings.Replace(agentsConfig, "t.db", strconv.Quote(dsn), 1)
	log := &logged{}
	run := func(f func(*App)) {
		a, err := New(t.Context(), parse(t, path, text), &Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		f(a)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	run(func(a *App) {
		if _, err := a.SaveAgent(t.Context(), "stored", 0, []byte(`{"name":"S"}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Store.SaveAgent(t.Context(), store.Document{ID: "broken", Body: []byte(`{"model":"gone"}`)}); err != nil {
			t.Fatal(err)
		}
	})
	run(func(a *App) {
		if got := agentsInForce(a); got != "filed=Of the file stored=S" {
			t.Errorf("in force: %s", got)
		}
		for _, s := range a.Agents() {
			if s.ID == "broken" && (s.Source != project.Store || !strings.Contains(s.Problem, `there is no model "gone"`)) {
				t.Errorf("%+v", s)
			}
		}
	})
	log.wait(t, "agent of the store left out", 1)
}

func TestAgentsThatOthersStoreAreFollowed(t *testing.T) {
	a, log := start(t, agentsConfig)
	if _, err := a.Store.SaveAgent(t.Context(), store.Document{ID: "other", Body: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.reread(t.Context(), "agents", a.agentsChanged); err != nil {
			t.Fatal(err)
		}
	}
	if got := agentsInForce(a); got != "filed=Of the file other=other" ||
		strings.Count(log.String(), "agents of the store were changed") != 1 {
		t.Errorf("in force: %s\n%s", got, log)
	}
}

func TestAgentsGetFetchResultWhereNoRuleCuts(t *testing.T) {
	a, _ := start(t, agentsConfig+"detach: off\nprofiles: {default: {budget: 0}, quiet: {budget: 0}}\n")
	a.Catalog.Ready(t.Context(), "default")
	for profile, want := range map[string]bool{"default": true, "quiet": false} {
		v, err := a.Catalog.View(profile)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Find("fetch_result"); (err == nil) != want {
			t.Errorf("%s: %v", profile, err)
		}
		if strings.Contains(string(v.List()), "fetch_result") {
			t.Errorf("%s: the list of MCP clients has it too", profile)
		}
	}
}
