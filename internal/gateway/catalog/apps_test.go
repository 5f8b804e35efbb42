package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// stage is a catalog whose servers have these tools and capabilities.
func stage(t *testing.T, profile config.Profile, servers map[tool.ServerID]upstream.Listing) (*Catalog, *View) {
	t.Helper()
	c, err := New(t.Context(), fakeLister{func(id tool.ServerID) (upstream.Listing, error) { return servers[id], nil }}, fakeKeeper{},
		&Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	profile.Name = "p"
	profile.All = true
	cfg := &config.Config{Detach: config.DetachOff, Profiles: []config.Profile{profile}, Approve: "auto"}
	for _, id := range []tool.ServerID{"a", "b", "c"} {
		if _, there := servers[id]; there {
			cfg.Servers = append(cfg.Servers, config.Server{ID: id})
		}
	}
	c.Apply(cfg)
	for _, s := range cfg.Servers {
		if err := c.Refresh(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	return c, v
}

// offered is a listing of tools by their definitions without inputSchema.
func offered(t *testing.T, capabilities string, tools ...string) upstream.Listing {
	t.Helper()
	l := upstream.Listing{TTL: -1, Capabilities: json.RawMessage(capabilities)}
	for _, text := range tools {
		def, err := tool.ParseDefinition(json.RawMessage(strings.TrimSuffix(text, "}") + `,"inputSchema":{"type":"object"}}`))
		if err != nil {
			t.Fatal(err)
		}
		l.Tools = append(l.Tools, def)
	}
	return l
}

// namesIn are the names of the tools in a list.
func namesIn(t *testing.T, v *View) (names []string) {
	t.Helper()
	for w := rawjson.Array(rawjson.Get([]byte(page(v, mcp.Legacy, ToolKind)), "tools")); w.Next(); {
		names = append(names, textOf(w.Value, "name"))
	}
	return names
}

const (
	shows    = `{"name":"show","description":"Show the sales","_meta":{"ui":{"resourceUri":"ui://sales/page.html"},"ui/resourceUri":"ui://sales/page.html"}}`
	refresh  = `{"name":"refresh","description":"Read the sales again","_meta":{"ui":{"visibility":["app"]}}}`
	plain    = `{"name":"count","description":"Count the sales"}`
	noApps   = `{"name":"secret","_meta":{"ui":{"visibility":["model"]}}}`
	appsOnly = "refresh"
)

func TestToolsForAppsAreNotForModels(t *testing.T) {
	_, v := stage(t, config.Profile{Search: config.Search{Mode: "auto", Context: 1 << 20}}, map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", shows, refresh, plain)})
	if names := namesIn(t, v); slices.Contains(names, "a__refresh") || !slices.Contains(names, "a__show") {
		t.Errorf("a client that renders no apps gets %q", names)
	}
	if names := namesIn(t, v.ForApps()); !slices.Contains(names, "a__refresh") || !slices.Contains(names, "a__count") {
		t.Errorf("a client that renders apps gets %q", names)
	}
	for _, e := range v.Finder().Entries {
		if e.Definition.Name == appsOnly {
			t.Error("a search finds it")
		}
	}
	for _, one := range v.PromptTools() {
		if strings.HasSuffix(one.Name, appsOnly) {
			t.Error("a prompt has it")
		}
	}
	e, err := v.Find("a__refresh")
	if err != nil {
		t.Fatal(err)
	}
	if e.UsedBy(&config.Agent{Capabilities: config.Capabilities{ToolCalling: true}}) {
		t.Error("an agent has it")
	}
}

func TestToolsWithAnAppStayListedBesideASearch(t *testing.T) {
	_, v := stage(t, config.Profile{Search: config.Search{Mode: "on"}}, map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", shows, refresh, plain)})
	if names := namesIn(t, v); slices.Contains(names, "a__show") {
		t.Errorf("a client that renders no apps gets %q", names)
	}
	if names := namesIn(t, v.ForApps()); !slices.Contains(names, "a__show") || slices.Contains(names, "a__count") {
		t.Errorf("a client that renders apps gets %q", names)
	}
}

func TestWithoutAppsAllClientsShareAList(t *testing.T) {
	_, v := stage(t, config.Profile{}, map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", plain)})
	if v.ForApps() != v {
		t.Error("a list is written twice")
	}
}

func TestAPageThatNoListHasBelongsToTheServerWhoseToolNamesIt(t *testing.T) {
	both := upstream.Listing{TTL: -1, Capabilities: json.RawMessage(`{"resources":{}}`)}
	servers := map[tool.ServerID]upstream.Listing{"a": both, "b": offered(t, `{"resources":{}}`, shows)}
	_, v := stage(t, config.Profile{}, servers)
	if owner, err := v.Owner("ui://sales/page.html"); owner != "b" || err != nil {
		t.Errorf("owner %q, %v", owner, err)
	}
	if owner, err := v.Owner("ui://other/page.html"); err == nil {
		t.Errorf("a page that nobody names belongs to %s", owner)
	}
	_, v = stage(t, config.Profile{Deny: []string{"b__*"}}, servers)
	if owner, err := v.Owner("ui://sales/page.html"); err == nil && owner == "b" {
		t.Error("the page of a tool that the profile does not have can be read")
	}
}

func TestEqualPagesOfTwoServersStayApart(t *testing.T) {
	listed := offered(t, `{"resources":{}}`, shows)
	listed.Resources = []json.RawMessage{json.RawMessage(`{"uri":"ui://sales/page.html","name":"page"}`)}
	servers := map[tool.ServerID]upstream.Listing{"a": listed, "b": listed, "c": offered(t, `{"resources":{}}`, shows)}
	_, v := stage(t, config.Profile{}, servers)
	want := map[string]tool.ServerID{"ui://sales/page.html": "a", "ui://b/sales/page.html": "b", "ui://c/sales/page.html": "c"}
	for w := rawjson.Array(rawjson.Get([]byte(page(v, mcp.Modern, ToolKind)), "tools")); w.Next(); {
		server, _, _ := strings.Cut(textOf(w.Value, "name"), "__")
		uri := textOf(rawjson.Get(w.Value, "_meta", "ui"), "resourceUri")
		if string(want[uri]) != server || textOf(rawjson.Get(w.Value, "_meta"), "ui/resourceUri") != uri {
			t.Errorf("%s", w.Value)
		}
	}
	for uri, server := range want {
		if owner, err := v.Owner(uri); owner != server || err != nil || v.Original(uri) != "ui://sales/page.html" {
			t.Errorf("%s belongs to %q, %v, and is %s there", uri, owner, err, v.Original(uri))
		}
	}
	if list := page(v, mcp.Legacy, ResourceKind); !strings.Contains(list, `[{"uri":"ui://sales/page.html","name":"page"},{"uri":"ui://b/sales/page.html","name":"page"}]`) {
		t.Error(list)
	}
}

// A server that already has the URI which another's page would get keeps it.
func TestAMovedPageTakesNobodysPlace(t *testing.T) {
	own := offered(t, "{}", `{"name":"x","_meta":{"ui":{"resourceUri":"ui://b/sales/page.html"}}}`, shows)
	_, v := stage(t, config.Profile{}, map[tool.ServerID]upstream.Listing{"a": own, "b": offered(t, "{}", shows)})
	if owner, _ := v.Owner("ui://b/sales/page.html"); owner != "a" || v.Original("ui://b/sales/page.html") != "ui://b/sales/page.html" {
		t.Errorf("it belongs to %s", owner)
	}
	checkPages(t, v)
}

// checkPages checks that each tool's app is the page that its own server has for it.
func checkPages(t *testing.T, v *View) {
	t.Helper()
	for _, e := range v.Entries {
		if e.App() == "" {
			continue
		}
		uri := textOf(rawjson.Get(v.withApp(e, e.Raw()), "_meta", "ui"), "resourceUri")
		if owner, err := v.Owner(uri); owner != e.Server || v.Original(uri) != e.App() {
			t.Errorf("%s of %s is shown by %s of %q, %v", e.App(), e.Shown, v.Original(uri), owner, err)
		}
	}
}

// A server cannot show its page in place of another's by naming the URI which that one would get, nor can one of its own be lost.
func TestNoServerTakesThePageOfAnother(t *testing.T) {
	named := func(name, uri string) string {
		return `{"name":"` + name + `","_meta":{"ui":{"resourceUri":"` + uri + `"}}}`
	}
	for _, own := range [][]string{
		{named("x", "ui://p"), named("y", "ui://b/p")}, {named("y", "ui://b/p"), named("x", "ui://p")},
		{named("x", "ui://p"), named("y", "ui://b/p"), named("z", "ui://b/b/p")},
	} {
		listed := offered(t, "{}", own...)
		listed.Resources = []json.RawMessage{json.RawMessage(`{"uri":"ui://b/p","name":"p"}`)}
		for _, all := range []map[tool.ServerID]upstream.Listing{
			{"a": offered(t, "{}", own...), "b": offered(t, "{}", named("x", "ui://p")), "c": offered(t, "{}", own...)},
			{"a": offered(t, "{}", named("x", "ui://p")), "b": offered(t, "{}", own...)},
			{"a": offered(t, "{}", named("x", "ui://p")), "b": listed, "c": listed},
		} {
			_, v := stage(t, config.Profile{}, all)
			checkPages(t, v)
		}
	}
}

// A page that is held is nobody's, though another server has an equal one.
func TestAHeldPageIsNotShownByAnotherServer(t *testing.T) {
	held := &beside{server: "a", apps: []string{"ui://p"}, withheld: []string{"ui://p"}}
	other := &beside{server: "b", apps: []string{"ui://p"}}
	for _, from := range [][]*beside{{held, other}, {other, held}} {
		v := &View{}
		v.beside = newGroup(from, false)
		for _, b := range from {
			uri := "ui://p"
			if moved, found := v.beside.moved[appPage{b.server, uri}]; found {
				uri = moved
			}
			if owner, err := v.Owner(uri); (err == nil) != (b == other) || err == nil && owner != "b" {
				t.Errorf("%s of %s belongs to %q, %v", uri, b.server, owner, err)
			}
		}
	}
}

func TestManyExtensionsAreMergedInTime(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, `,"com.example/%d":{}`, i)
	}
	many := json.RawMessage("{" + text.String()[1:] + "}")
	within := json.RawMessage(`{"com.example/one":` + string(many) + `}`)
	begin := time.Now()
	g := newGroup([]*beside{{server: "a", extensions: many}, {server: "b", extensions: many}, {server: "c", extensions: within}, {server: "d", extensions: within}}, false)
	if took := time.Since(begin); took > 5*time.Second || len(g.extensions) < 2*len(many) {
		t.Errorf("it took %s, and there are %d bytes", took, len(g.extensions))
	}
}

// A profile with some tools of a server only declares apps, if it has one, and nothing else of the server.
func TestAProfileWithOneToolOfAServerDeclaresItsApp(t *testing.T) {
	servers := map[tool.ServerID]upstream.Listing{"a": offered(t, `{"extensions":{"io.modelcontextprotocol/ui":{"x":1},"com.example/x":{}}}`, shows, plain)}
	for allowed, want := range map[string]string{"a__show": `{"io.modelcontextprotocol/ui":{"x":1}}`, "a__count": ""} {
		_, v := stage(t, config.Profile{Allow: []string{allowed}}, servers)
		if all, others := v.Extensions(); string(all) != want || others != nil {
			t.Errorf("%s: %s of %q", allowed, all, others)
		}
	}
}

// What tools/list says can change by another server's resource, and by a rule that apps do not mind.
func TestAChangedListOfToolsWithAppsIsAnnounced(t *testing.T) {
	listed := offered(t, `{"resources":{}}`, plain)
	servers := map[tool.ServerID]upstream.Listing{"a": listed, "b": offered(t, "{}", strings.Replace(shows, `"_meta"`, `"outputSchema":{"type":"object","properties":{"rows":{"type":"array"}},"required":["rows"]},"_meta"`, 1))}
	c, _ := stage(t, config.Profile{}, servers)
	var heard []string
	c.opts.Changed = func(_, kind string) { heard = append(heard, kind) }
	listed.Resources = []json.RawMessage{json.RawMessage(`{"uri":"ui://sales/page.html","name":"page"}`)}
	servers["a"] = listed
	if err := c.Refresh(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(heard, "tools") {
		t.Errorf("a page was moved, and announced are %q", heard)
	}
	heard = nil
	cfg := *c.config
	cfg.Profiles = []config.Profile{{Name: "p", All: true, Budget: 100}}
	c.Apply(&cfg)
	if !slices.Contains(heard, "tools") {
		t.Errorf("a schema is another one, and announced are %q", heard)
	}
}

func TestAnAppCallsItsServersToolsByTheirOwnNames(t *testing.T) {
	for name, c := range map[string]struct {
		servers map[tool.ServerID]upstream.Listing
		call    string
		want    string
	}{
		"the only server that has it":           {map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", shows, refresh), "b": offered(t, "{}", plain)}, "refresh", "a__refresh"},
		"the only one with apps":                {map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", plain), "b": offered(t, "{}", shows, plain)}, "count", "b__count"},
		"none":                                  {map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", shows)}, "nope", ""},
		"several":                               {map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", shows, refresh), "b": offered(t, "{}", shows, refresh)}, "refresh", "several servers have a tool refresh (call one of a__refresh, b__refresh)"},
		"one that apps may not call":            {map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", shows, noApps)}, "secret", ""},
		"a server without apps and another one": {map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", plain), "b": offered(t, "{}", plain)}, "count", "several servers have a tool count (call one of a__count, b__count)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, v := stage(t, config.Profile{}, c.servers)
			e, err := v.FromApp(c.call)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case e != nil:
				got = e.Shown
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestExtensionsOfAllServersAreShown(t *testing.T) {
	_, v := stage(t, config.Profile{}, map[tool.ServerID]upstream.Listing{
		"a": offered(t, `{"extensions":{"io.modelcontextprotocol/tasks":{},"com.example/x":{"y":1}}}`),
		"b": offered(t, `{"extensions":{"com.example/x":{"y":2,"z":true},"com.example/b":{}, "com.example/wrong":7}}`),
	})
	all, servers := v.Extensions()
	var got map[string]map[string]any
	if err := json.Unmarshal(all, &got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(servers, []tool.ServerID{"a", "b"}) || len(got) != 2 || got["com.example/x"]["y"] != 1.0 || got["com.example/x"]["z"] != true || got["com.example/b"] == nil {
		t.Errorf("%s of %q", all, servers)
	}
	_, v = stage(t, config.Profile{}, map[tool.ServerID]upstream.Listing{"a": offered(t, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)})
	if all, servers := v.Extensions(); all != nil || servers != nil {
		t.Errorf("%s of %q", all, servers)
	}
}

// The list promises what is sent: an app gets all of structuredContent, others what the budget leaves.
func TestTheOutputSchemaOfAToolWithAnAppStaysForClientsThatRenderIt(t *testing.T) {
	const def = `{"name":"show","outputSchema":{"type":"object","properties":{"rows":{"type":"array"}},"required":["rows"]},"_meta":{"ui":{"resourceUri":"ui://x"}}}`
	_, v := stage(t, config.Profile{Budget: 100}, map[tool.ServerID]upstream.Listing{"a": offered(t, "{}", def)})
	e, err := v.Find("a__show")
	if err != nil {
		t.Fatal(err)
	}
	if v.ForApps(); string(v.ForApps().promised(e, e.Raw())) != string(e.Raw()) {
		t.Error("another schema is promised to clients that render apps")
	}
	cut := project.OutputSchema(rawjson.Get(e.Raw(), "outputSchema"), nil, false, 100)
	if got := rawjson.Get(v.promised(e, e.Raw()), "outputSchema"); string(got) != string(cut) {
		t.Errorf("others are promised %s", got)
	}
}
