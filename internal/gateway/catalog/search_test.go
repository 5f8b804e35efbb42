package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/search"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// manyTools is a server with n tools of some size.
func manyTools(id string, n int) store.Server {
	row := store.Server{ID: tool.ServerID(id), ListedAt: time.Unix(1, 0)}
	for i := range n {
		def := fmt.Sprintf(`{"name":"read_item_%d","description":"Reads item number %d from the shelf of %s and gives its color.",`+
			`"inputSchema":{"type":"object","properties":{"shelf":{"type":"string","description":"Which shelf."},"deep":{"type":"boolean"}},"required":["shelf"]}}`, i, i, id)
		row.Tools = append(row.Tools, store.Tool{Name: fmt.Sprint("read_item_", i), Definition: json.RawMessage(def)})
	}
	return row
}

// shelves is a catalog of one server, box, with n tools.
func shelves(t testing.TB, n int, p config.Profile) (*Catalog, *config.Config) {
	t.Helper()
	c, err := New(context.Background(), fakeLister{}, fakeKeeper{rows: []store.Server{manyTools("box", n)}}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	p.Name, p.All = "p", true
	cfg := &config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "box"}}, Profiles: []config.Profile{p}, Approve: "auto"}
	c.Apply(cfg)
	return c, cfg
}

func viewOf(t testing.TB, c *Catalog) *View {
	t.Helper()
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// listed are the names in the list.
func listed(t interface{ Fatal(...any) }, v *View) (names []string) {
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(v.List(), &list); err != nil {
		t.Fatal(err)
	}
	for _, l := range list.Tools {
		names = append(names, l.Name)
	}
	return names
}

func TestListInEachMode(t *testing.T) {
	searching := []string{"find_tools", "describe_tool", "call_tool"}
	cases := []struct {
		name  string
		tools int
		p     config.Profile
		want  []string // nil: every tool
	}{
		{"off lists all", 500, config.Profile{}, nil},
		{"auto lists few", 20, config.Profile{Search: config.Search{Mode: "auto"}}, nil},
		{"auto searches many", 500, config.Profile{Search: config.Search{Mode: "auto"}}, searching},
		{"auto goes by the context", 500, config.Profile{Search: config.Search{Mode: "auto", Context: 10_000_000}}, nil},
		{"a small context is soon full", 20, config.Profile{Search: config.Search{Mode: "auto", Context: 8000}}, searching},
		{"on searches even one", 1, config.Profile{Search: config.Search{Mode: "on"}}, searching},
		{"pinned tools stay", 30, config.Profile{Search: config.Search{Mode: "on", Pinned: []string{"*_7", "box__read_item_9"}}},
			append([]string{"box__read_item_7", "box__read_item_9"}, searching...)},
		{"what was cut can be fetched", 2, config.Profile{Budget: 500, Search: config.Search{Mode: "on"}}, append([]string{"fetch_result"}, searching...)},
		{"deny holds for our tools too", 2, config.Profile{Deny: []string{"describe_*"}, Search: config.Search{Mode: "on"}}, []string{"find_tools", "call_tool"}},
		{"a dialect shows the same tools", 30, config.Profile{Dialect: "openai-strict", Search: config.Search{Mode: "on", Pinned: []string{"*_7"}}},
			append([]string{"box__read_item_7"}, searching...)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cat, _ := shelves(t, c.tools, c.p)
			v := viewOf(t, cat)
			got := listed(t, v)
			if c.want == nil && len(got) != c.tools || c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%d listed: %.200q", len(got), got)
			}
			if e, err := v.Find("box__read_item_0"); err != nil || e.Own {
				t.Errorf("not callable by its name: %v", err)
			}
		})
	}
}

func TestAutoKeepsItsModeAcrossRebuilds(t *testing.T) {
	p := config.Profile{Search: config.Search{Mode: "auto", Context: 100_000}}
	border := 10 // where the mode changes without a past
	for ; border < 400; border += 5 {
		if c, _ := shelves(t, border, p); len(listed(t, viewOf(t, c))) == 3 {
			break
		}
	}
	c, cfg := shelves(t, border-5, p)
	change := func(n int) int {
		t.Helper()
		next := *cfg
		next.Servers = []config.Server{{ID: tool.ServerID(fmt.Sprint("box", n))}}
		c.mu.Lock()
		c.servers[next.Servers[0].ID] = c.fromRow(manyTools(string(next.Servers[0].ID), n))
		c.mu.Unlock()
		c.Apply(&next)
		return len(listed(t, viewOf(t, c)))
	}
	if n := change(border + 2); n == 3 {
		t.Error("two tools more changed the list")
	}
	if n := change(border * 13 / 10); n != 3 {
		t.Errorf("%d tools are listed beyond the margin", n)
	}
	if n := change(border - 2); n != 3 {
		t.Error("two tools less changed the list back")
	}
	if n := change(border * 7 / 10); n != border*7/10 {
		t.Errorf("%d tools are listed below the margin", n)
	}
}

// TestWhatIsFoundMayBeCalledAndNothingElse is the rule that search and call never disagree.
func TestWhatIsFoundMayBeCalledAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		plain := w.view(t)
		w.profile.Search = config.Search{
			Mode:   rapid.SampledFrom([]string{"auto", "on"}).Draw(t, "search"),
			Pinned: rapid.SliceOfN(rapid.SampledFrom([]string{"*", "a__*", "*t"}), 0, 2).Draw(t, "pinned"),
		}
		v := w.view(t)
		f := v.Finder()
		if f.Index.Len() != len(f.Entries) || len(f.Texts) != len(f.Entries) || len(f.Entries) != len(plain.Entries) {
			t.Fatalf("%d tools are searched, %d may be called", len(f.Entries), len(plain.Entries))
		}
		for i, e := range plain.Entries {
			found, err := v.Find(e.Shown)
			if err != nil || found.Own || found.Name != e.Name || f.Entries[i] != found {
				t.Fatalf("%s: found %v, %v; searched %v", e.Shown, found, err, f.Entries[i])
			}
		}
		for _, name := range listed(t, v) {
			if _, err := v.Find(name); err != nil {
				t.Fatalf("%s is listed and may not be called", name)
			}
		}
	})
}

func TestDescriptionOfTheSearchNamesTheServers(t *testing.T) {
	c, _ := shelves(t, 3, config.Profile{Search: config.Search{Mode: "on"}})
	e, err := viewOf(t, c).Find("find_tools")
	if err != nil || !strings.Contains(e.Description(), "There are tools of: box (item).") {
		t.Errorf("%v, %v", e, err)
	}
}

func TestPromptIsOfferedWithASearchOrOnRequest(t *testing.T) {
	for name, c := range map[string]struct {
		search config.Search
		want   bool
	}{
		"neither": {config.Search{Mode: "off"}, false}, "on request": {config.Search{Prompt: true}, true}, "with a search": {config.Search{Mode: "on"}, true},
		"auto that lists": {config.Search{Mode: "auto"}, false},
	} {
		cat, _ := shelves(t, 2, config.Profile{Search: c.search})
		v := viewOf(t, cat)
		if _, err := v.FindPrompt("tools"); (err == nil) != c.want || strings.Contains(page(v, mcp.Legacy, PromptKind), `"tools"`+`,"title"`) != c.want {
			t.Errorf("%s: %v, %s", name, err, page(v, mcp.Legacy, PromptKind))
		}
	}
}

func TestTagsAndLanguagesAreSearched(t *testing.T) {
	row := store.Server{ID: "s", ListedAt: time.Unix(1, 0), Tools: []store.Tool{
		{Name: "a", Definition: json.RawMessage(`{"name":"a","_meta":{"_fastmcp":{"tags":["weather",7,""]}}}`)},
		{Name: "b", Definition: json.RawMessage(`{"name":"b"}`)},
		{Name: "c", Definition: json.RawMessage(`{"name":"c","_meta":{"toolfit/operation":{"method":"GET","path":"/stores/{id}","tags":["pets"]}}}`)},
	}}
	c, err := New(t.Context(), fakeLister{}, fakeKeeper{rows: []store.Server{row}}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("t.yaml", []byte("mcpServers: {s: {command: x}}\nprofiles: {p: {search: on}}\noverrides: [{tool: s__b, name: bill, descriptions: {zh: 查询账单}}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(cfg)
	f := viewOf(t, c).Finder()
	for query, want := range map[string]string{"weather": "s__a", "账单": "bill", "bill": "bill", "s__b": "bill", "pets": "s__c", "stores": "s__c"} {
		hits := f.Index.Search(search.Query{Text: query, Limit: 1})
		if len(hits) != 1 || f.Entries[hits[0].Index].Shown != want {
			t.Errorf("%s: %v", query, hits)
		}
	}
	if e := viewOf(t, c).PromptTools(); len(e) != 7 || e[0].Tags[0] != "weather" || len(e[0].Tags) != 1 {
		t.Errorf("got %+v", e)
	}
}

func TestUnknownToolNamesTheNearest(t *testing.T) {
	c, _ := shelves(t, 20, config.Profile{})
	v := viewOf(t, c)
	for asked, want := range map[string]string{"box__read_itm_7": "did you mean box__read_item_", "Read-Item-7": "did you mean box__read_item_7, box__read_item_", "zzz": "", "": ""} {
		_, err := v.Find(asked)
		if f := fault.As(err); f.Code != fault.UnknownTool || !strings.HasPrefix(f.Hint, want) || want == "" && f.Hint != "" {
			t.Errorf("%s: %v", asked, err)
		}
	}
}

func TestTwoThousandToolsGiveAShortList(t *testing.T) {
	c, _ := shelves(t, 2000, config.Profile{Search: config.Search{Mode: "auto"}})
	v := viewOf(t, c)
	if len(v.List()) > 5000 || !regexp.MustCompile(`box \(item\)`).Match(v.List()) {
		t.Errorf("%d bytes: %.300s", len(v.List()), v.List())
	}
	if hits := v.Finder().Index.Search(search.Query{Text: "read item 1234", Limit: 1}); len(hits) != 1 || v.Finder().Entries[hits[0].Index].Shown != "box__read_item_1234" {
		t.Errorf("got %v", hits)
	}
}

func BenchmarkFinderOf2000(b *testing.B) {
	c, _ := shelves(b, 2000, config.Profile{Search: config.Search{Mode: "on"}})
	v := viewOf(b, c)
	b.ReportAllocs()
	for b.Loop() {
		v.finderOnce = sync.Once{}
		v.Finder()
	}
}
