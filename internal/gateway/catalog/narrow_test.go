package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ruledCatalog has a server with the tools t0 to t9, under rules; changed gets the lists that are announced.
func ruledCatalog(t testing.TB, changed *[]string) (*Catalog, func(more string)) {
	t.Helper()
	row := store.Server{ID: "s", ListedAt: time.Unix(1, 0)}
	for i := range 10 {
		row.Tools = append(row.Tools, store.Tool{Definition: definition(fmt.Sprintf("t%d", i), "")})
	}
	c, err := New(t.Context(), fakeLister{}, fakeKeeper{rows: []store.Server{row}}, &Options{Own: ownTools, Changed: func(profile, kind string) {
		*changed = append(*changed, profile+" "+kind)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c, func(more string) {
		t.Helper()
		cfg, err := config.Parse("toolfit.yaml", []byte("mcpServers: {s: {command: s}}\nprofiles: {default: {search: auto}, other: {}}\n"+more), nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(cfg)
	}
}

func keyOf(name string, groups ...string) access.Principal {
	return access.Principal{ID: "id-" + name, Name: name, Kind: access.KindKey, Role: access.Caller, Token: &access.Identity{Groups: groups}}
}

func TestViewsAreSharedByCallersWhoSeeTheSame(t *testing.T) {
	var changed []string
	c, apply := ruledCatalog(t, &changed)
	view := func() *View {
		v, err := c.View("default")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	apply("")
	if v := view(); v.As(keyOf("ann")) != v {
		t.Error("without rules there is another view")
	}
	apply("policy: [{name: a, then: deny, tools: [s__t1]}]\n")
	v := view()
	narrow := v.As(keyOf("ann"))
	if narrow == v || narrow != v.As(keyOf("bob", "eng")) || narrow.As(keyOf("ann")) != narrow || len(v.narrowing.byCaller) != 1 {
		t.Error("callers between whom no rule makes a difference see different views")
	}
	apply(`policy: [{name: a, then: deny, tools: [s__t1], when: '!("eng" in who.groups) || who.name == "eve"'}]` + "\n")
	v = view()
	if v.As(keyOf("ann", "eng")) != v || v.As(keyOf("bob")) != v.As(keyOf("eve", "eng")) || v.As(keyOf("bob")) == v {
		t.Error("views with the same tools are not the same")
	}
	apply(`policy: [{name: a, then: deny, when: 'tool.name.endsWith("t" + who.groups[0]) || tool.name.endsWith("t" + who.groups[1])'}]` + "\n")
	v = view()
	for i := range 10 * 10 {
		got := v.As(keyOf("ann", fmt.Sprint(i/10), fmt.Sprint(i%10)))
		if list := string(got.List()); strings.Contains(list, fmt.Sprintf(`"s__t%d"`, i/10)) || len(v.narrowing.byHidden) > maxNarrowed {
			t.Fatalf("caller %d sees %s", i, list)
		}
	}
}

func TestANarrowedViewAgreesWithItself(t *testing.T) {
	var changed []string
	c, apply := ruledCatalog(t, &changed)
	apply("policy: [{name: a, then: deny, tools: [s__t3, s__t4, 's__*8']}]\noverrides: [{tool: s__t4, fix: {nothing: 1}}, {tool: s__t5, name: other}]\n")
	whole, err := c.View("default")
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.ViewFor(access.Owner(), "default")
	if err != nil || v == whole {
		t.Fatal("the view is not narrowed", err)
	}
	page, err := v.Page(mcp.Modern, ToolKind, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"list": string(v.List()), "page": string(page), "search": fmt.Sprint(v.Finder().Texts), "pages": "", "prompt": ""}
	for _, e := range v.After("") {
		texts["pages"] += e.Shown + " " + string(e.Name) + "\n"
	}
	for _, p := range v.PromptTools() {
		texts["prompt"] += p.Name + "\n"
	}
	for what, text := range texts {
		for _, hidden := range []string{"t3", "t4", "t8"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s: has %s: %s", what, hidden, text)
			}
		}
		if !strings.Contains(text, "t9") {
			t.Errorf("%s: lacks t9: %s", what, text)
		}
	}
	for _, e := range v.Entries {
		if got, err := v.Find(e.Shown); err != nil || got != e || v.Named(e.Name) != e {
			t.Errorf("%s is listed and leads to %v, %v", e.Shown, got, err)
		}
	}
	if e, err := v.Find("s__t3"); err == nil || v.Named("s__t3") != nil || strings.Contains(err.Error(), "s__t8") {
		t.Errorf("a hidden tool: %v, %v", e, err)
	}
	if got := fmt.Sprint(v.NotShown()); got != fmt.Sprint([]NotShown{{"s", "t4", BadOverride}, {"s", "t3", Denied}, {"s", "t8", Denied}}) {
		t.Error(got)
	}
	if before, after := whole.Named("find_tools"), v.Named("find_tools"); before == nil || after == nil || v.Searches() != whole.Searches() {
		t.Error("the search tools are gone")
	}
}

func TestOtherRulesAreAnnouncedWhereTheyHold(t *testing.T) {
	var changed []string
	_, apply := ruledCatalog(t, &changed)
	const all = "default tools, default prompts, default resources"
	for _, step := range []struct{ config, want string }{
		{"", ""},
		{"policy: [{name: a, then: deny, profiles: [default], tools: [s__t1]}]\n", all},
		{"# on another line\npolicy: [{name: a, then: deny, profiles: [default], tools: [s__t1]}]\n", ""},
		{"policy: [{name: a, then: deny, profiles: [default], tools: [s__t2]}]\n", all},
		{"", all},
	} {
		changed = nil
		apply(step.config)
		if got := strings.Join(changed, ", "); got != step.want {
			t.Errorf("%q: announced %q, want %q", step.config, got, step.want)
		}
	}
}

// BenchmarkNarrowedList is the list of a view without rules, and of one that is narrowed for its callers.
func BenchmarkNarrowedList(b *testing.B) {
	for name, rules := range map[string]string{
		"no rules": "", "for all": "policy: [{name: a, then: deny, tools: [s__t1]}]\n",
		"by caller": "policy: [{name: a, then: deny, tools: [s__t1], who: {groups: [eng]}}]\n",
	} {
		b.Run(name, func(b *testing.B) {
			var changed []string
			c, apply := ruledCatalog(b, &changed)
			apply(rules)
			who := keyOf("ann", "eng")
			b.ReportAllocs()
			for b.Loop() {
				v, err := c.View("default")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := v.As(who).Page(mcp.Legacy, ToolKind, "", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
