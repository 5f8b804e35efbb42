package catalog

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// bothEras is a catalog with one tool of a server of each era.
func bothEras(t *testing.T, ttl time.Duration) *View {
	t.Helper()
	odd := json.RawMessage(`{"name":"t","zeta":1.0,"inputSchema":{"type":"object","properties":{"a":{"x-mcp-header":"A","type":"string"}}},"outputSchema":{"type":"array"},"execution":{"taskSupport":"optional"}}`)
	row := func(id tool.ServerID, era mcp.Era) store.Server {
		return store.Server{
			ID: id, Era: string(era), TTL: ttl, ListedAt: time.Unix(1, 0), Tools: []store.Tool{{Name: "t", Definition: odd}},
			Resources: []json.RawMessage{json.RawMessage(`{"uri":"` + string(id) + `"}`)},
		}
	}
	rows := []store.Server{row("old", mcp.Legacy), row("new", mcp.Modern)}
	c, err := New(t.Context(), fakeLister{}, fakeKeeper{rows: rows}, &Options{Self: json.RawMessage(`{"name":"us"}`)})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "old"}, {ID: "new"}}, Profiles: []config.Profile{{Name: "p", All: true}}, Approve: "auto"})
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestListsInTheWordsOfEachEra(t *testing.T) {
	v := bothEras(t, 5*time.Second)
	const (
		head = `{"name":"old__t","zeta":1.0,"inputSchema":{"type":"object","properties":{"a":{`
		next = `{"name":"new__t","zeta":1.0,"inputSchema":{"type":"object","properties":{"a":{`
		task = `,"execution":{"taskSupport":"optional"}}`
	)
	legacy := `{"tools":[` + head + `"x-mcp-header":"A","type":"string"}}},"outputSchema":{"type":"array"}` + task + `,` + next + `"type":"string"}}}` + task + `]}`
	modern := `{"resultType":"complete","tools":[` + head + `"type":"string"}}},"outputSchema":{"type":"array"}},` +
		next + `"x-mcp-header":"A","type":"string"}}},"outputSchema":{"type":"array"}}],"ttlMs":5000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"us"}}}`
	if got := page(v, mcp.Legacy, ToolKind); got != legacy {
		t.Errorf("legacy:\ngot  %s\nwant %s", got, legacy)
	}
	if got := page(v, mcp.Modern, ToolKind); got != modern {
		t.Errorf("modern:\ngot  %s\nwant %s", got, modern)
	}
	want := `{"resultType":"complete","resources":[{"uri":"old"},{"uri":"new"}],"ttlMs":5000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"us"}}}`
	if got := page(v, mcp.Modern, ResourceKind); got != want {
		t.Errorf("got %s", got)
	}
	if got := page(v, mcp.Legacy, ResourceKind); !strings.HasPrefix(got, `{"resources":[`) || strings.Contains(got, "ttlMs") {
		t.Error("a legacy list of resources was changed")
	}
}

func TestNoToolNeedsATaskInTheListForLegacyClients(t *testing.T) {
	row := store.Server{ID: "s", ListedAt: time.Unix(1, 0), Tools: []store.Tool{
		{Name: "t", Definition: json.RawMessage(`{"name":"t","execution":{"x":1.0,"taskSupport":"required"},"inputSchema":{"type":"object"}}`)},
		{Name: "odd", Definition: json.RawMessage(`{"name":"odd","execution":"required","inputSchema":{"type":"object"}}`)},
	}}
	c, err := New(t.Context(), fakeLister{}, fakeKeeper{rows: []store.Server{row}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{Servers: []config.Server{{ID: "s"}}, Profiles: []config.Profile{{Name: "p", All: true}}, Approve: "auto"})
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"tools":[{"name":"s__t","execution":{"x":1.0,"taskSupport":"optional"},"inputSchema":{"type":"object"}},` +
		`{"name":"s__odd","execution":"required","inputSchema":{"type":"object"}}]}`
	if got := page(v, mcp.Legacy, ToolKind); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := page(v, mcp.Modern, ToolKind); strings.Contains(got, "execution") || !strings.Contains(got, "s__t") {
		t.Errorf("modern: %s", got)
	}
	if e, err := v.Find("s__t"); err != nil || e.Definition.TaskSupport() != "required" || !e.Definition.NeedsTask() {
		t.Errorf("%v, %v", e, err)
	}
}

func TestOnlyModernToolsHaveTheirArgumentsRepeated(t *testing.T) {
	v := bothEras(t, -1)
	for shown, want := range map[string]bool{"old__t": false, "new__t": true} {
		e, err := v.Find(shown)
		if err != nil || (v.Mirror(e) != nil) != want {
			t.Errorf("%s: %v, %v", shown, v.Mirror(e), err)
		}
	}
	if !strings.Contains(page(v, mcp.Modern, ToolKind), `"ttlMs":60000`) {
		t.Error("without a word of the servers a list holds for a minute")
	}
}

// TestPrivateListIsNotServedToOtherCredentials: what a server listed for one token may be
// another list for another token, also after a restart.
func TestPrivateListIsNotServedToOtherCredentials(t *testing.T) {
	cfg := func(token string) *config.Config {
		s := config.Server{ID: "s", URL: "http://x", Headers: map[string]string{"Authorization": token}, Refresh: time.Hour}
		return &config.Config{Detach: config.DetachOff, Servers: []config.Server{s}, Profiles: []config.Profile{{Name: "p", All: true}}, Approve: "changed"}
	}
	var saved store.Server
	lister := fakeLister{list: func(tool.ServerID) (upstream.Listing, error) {
		l := listing("secret")
		l.Era, l.Private = mcp.Modern, true
		return l, nil
	}}
	open := func(rows ...store.Server) *Catalog {
		c, err := New(t.Context(), lister, fakeKeeper{rows: rows, save: func(s store.Server) error { saved = s; return nil }}, &Options{Own: ownTools})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	tools := func(c *Catalog) int {
		v, _ := c.View("p")
		return len(v.Entries)
	}
	c := open()
	c.Apply(cfg("one"))
	if err := c.Refresh(t.Context(), "s"); err != nil || tools(c) != 1 {
		t.Fatalf("%d tools, %v", tools(c), err)
	}
	if saved.PrivateTo == "" || strings.Contains(saved.PrivateTo, "one") || saved.Era != "modern" {
		t.Errorf("stored: %+v", saved)
	}
	c.Apply(cfg("two"))
	if tools(c) != 0 {
		t.Error("the list of one token was served for another")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if c.Ready(ctx, "p"); ctx.Err() == nil {
		t.Error("nobody waits for the new list")
	}
	if due := c.takeDue(); due["s"] == nil {
		t.Error("the server is not listed again")
	}
	c.servers["s"].listing = false
	if err := c.Refresh(t.Context(), "s"); err != nil || tools(c) != 1 {
		t.Errorf("%d tools, %v: what was pinned stays pinned, and passes when it is the same", tools(c), err)
	}
	again := open(saved)
	if again.Apply(cfg("two")); tools(again) != 1 {
		t.Error("after a restart the list is gone")
	}
	other := open(saved)
	if other.Apply(cfg("three")); tools(other) != 0 {
		t.Error("after a restart the list was served for another token")
	}
}

func TestListIsReadAgainWhenItsServerSaysThatItGrowsOld(t *testing.T) {
	k := &known{cfg: config.Server{Refresh: time.Hour}}
	for _, c := range []struct {
		name  string
		offer upstream.Listing
		want  time.Duration
	}{
		{"a legacy server says nothing", upstream.Listing{Era: mcp.Legacy, TTL: -1}, time.Hour},
		{"a modern one says it", upstream.Listing{Era: mcp.Modern, TTL: 10 * time.Minute}, 10 * time.Minute},
		{"but is not asked all the time", upstream.Listing{Era: mcp.Modern, TTL: 0}, time.Minute},
		{"and not at all when it tells of changes", upstream.Listing{Era: mcp.Modern, TTL: 0, Capabilities: json.RawMessage(`{"tools":{"listChanged":true}}`)}, time.Hour},
		{"what we are told to do comes first", upstream.Listing{Era: mcp.Modern, TTL: 24 * time.Hour}, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			k.offer = c.offer
			if got := k.freshFor(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// page is the first page of a list.
func page(v *View, era mcp.Era, kind Kind) string {
	raw, err := v.Page(era, kind, "", nil)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
