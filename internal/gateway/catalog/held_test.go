package catalog

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestToolThatIsKeptOutWaitsNoLongerUntilItChangesAgain(t *testing.T) {
	next := listing("a:1", "b:1")
	cat := newCatalog(t, "changed", func(tool.ServerID) (upstream.Listing, error) { return next, nil }, nil)
	refresh := func(want string) {
		t.Helper()
		if err := cat.Refresh(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if s := cat.Servers()[0]; fmt.Sprintf("%v %v %s", s.Held, s.KeptOut, shownBy(t, cat)) != want {
			t.Errorf("held %v, kept out %v, shown %s; want %s", s.Held, s.KeptOut, shownBy(t, cat), want)
		}
	}
	decide := func(n int, err error, want int) {
		t.Helper()
		if n != want || err != nil {
			t.Errorf("%d tools, %v; want %d", n, err, want)
		}
	}
	refresh("[] [] a:1 b:1")
	next = listing("a:2", "b:2", "c:1")
	refresh("[a b c] [] ")
	n, err := cat.KeepOut(t.Context(), "local", "s", "a", "c", "nobody")
	decide(n, err, 2)
	n, err = cat.KeepOut(t.Context(), "local", "s", "a")
	decide(n, err, 0)
	refresh("[b] [a c] ")
	n, err = cat.Approve(t.Context(), "local", "s") // all that wait
	decide(n, err, 1)
	refresh("[] [a c] b:2")
	next = listing("a:3", "b:2", "c:1")
	refresh("[a] [c] b:2")
	n, err = cat.Approve(t.Context(), "local", "s", "c")
	decide(n, err, 1)
	refresh("[a] [] b:2 c:1")
	if _, err := cat.KeepOut(t.Context(), "local", "other", "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("another server: %v", err)
	}
}

func TestNoTwoThingsOfAServerAreCalledTheSame(t *testing.T) {
	seen := map[string]pin{}
	names := []string{"a", "instructions", "tool:a", "prompt:a", "resource:x", "template:x", "instructions:", ":", "", "host:a", "tool:tool:a"}
	for kind := range kinds {
		for _, name := range names {
			p := pin{kind, name}
			if kind == InstructionsKind {
				p.name = ""
			}
			if other, ok := seen[p.String()]; ok && other != p {
				t.Errorf("%q is both %+v and %+v", p, p, other)
			}
			seen[p.String()] = p
		}
	}
	if got := (pin{ToolKind, "read_file"}).String(); got != "read_file" {
		t.Errorf("a tool is called %s", got)
	}
}

func TestManyChangesAreLoggedInFewLines(t *testing.T) {
	c := &Catalog{config: &config.Config{Approve: "changed"}}
	k := &known{cfg: config.Server{ID: "s"}, listedAt: time.Unix(1, 0)}
	var l upstream.Listing
	for i := range 1000 {
		l.Resources = append(l.Resources, []byte(fmt.Sprintf(`{"uri":"r:%d"}`, i)))
	}
	held, news := c.pin(k, l, nil)
	if len(held) != 1000 || len(news) != maxNews+1 || news[0] != "resource r:0 is new and is held until approved: toolfit servers approve s" || news[maxNews] != "980 more are new or have another definition" {
		t.Errorf("%d held, %q", len(held), news)
	}
}

func TestWithAllTheFirstListIsHeldToo(t *testing.T) {
	next := listing("a:1")
	next.Instructions, next.Resources, next.Templates = "Hi.", []json.RawMessage{[]byte(`{"uri":"r:"}`)}, []json.RawMessage{[]byte(`{"uriTemplate":"t:{x}"}`)}
	next.Prompts = listing("p:1").Tools
	cat := newCatalog(t, "all", func(tool.ServerID) (upstream.Listing, error) { return next, nil }, nil)
	if got := len(heldNow(t, cat)); got != 5 {
		t.Errorf("%d are held", got)
	}
	v, _ := cat.View("p")
	if v.Instructions != "" || len(v.Entries) != 0 || len(v.Prompts) != 0 || page(v, mcp.Legacy, ResourceKind) != `{"resources":[]}` || page(v, mcp.Legacy, TemplateKind) != `{"resourceTemplates":[]}` {
		t.Errorf("shown: %q %s %s %s %s", v.Instructions, v.List(), page(v, mcp.Legacy, PromptKind), page(v, mcp.Legacy, ResourceKind), page(v, mcp.Legacy, TemplateKind))
	}
}
