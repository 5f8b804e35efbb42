package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/search"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// play is a random story of a catalog: a configuration, and servers whose lists change.
type play struct {
	*rand.Rand
	cfg   *config.Config
	lists map[tool.ServerID]upstream.Listing
	fails map[tool.ServerID]bool
}

func newPlay(seed uint64) *play {
	p := &play{Rand: rand.New(rand.NewPCG(seed, 25)), lists: map[tool.ServerID]upstream.Listing{}, fails: map[tool.ServerID]bool{}}
	p.configure()
	return p
}

func (p *play) once(n int) bool { return p.IntN(n) == 0 }

func oneOf[T any](p *play, list ...T) T { return list[p.IntN(len(list))] }

func (p *play) some(list ...string) (some []string) {
	for _, s := range list {
		if p.once(3) {
			some = append(some, s)
		}
	}
	return some
}

func (p *play) configure() {
	cfg := &config.Config{Detach: oneOf(p, config.DetachOff, config.DetachAuto), Approve: oneOf(p, "auto", "changes", "all"), ResultStore: oneOf(p, "cut", "none", "all")}
	for _, id := range []tool.ServerID{"a", "b", "a-b", "x.y", "服务", "é", "env"} {
		if !p.once(4) {
			cfg.Servers = append(cfg.Servers, config.Server{ID: id, Disabled: p.once(8), Headers: map[string]string{"k": oneOf(p, "1", "2")}})
		}
	}
	for range p.IntN(4) {
		o := config.Override{Tool: oneOf(p, "a__*", "*read*", "*", "b__t", "*__t"), Profile: oneOf(p, "", "", "p1"), Detach: oneOf(p, config.Detach(0), config.DetachOff, config.DetachAuto)}
		o.Name = oneOf(p, "", "", "read", "fetch_result", "a__t", "mine")
		o.Hidden = p.once(8)
		if p.once(4) {
			text := "another text"
			o.Description = &text
		}
		if p.once(4) {
			o.Rename = map[string]string{oneOf(p, "id", "nothing"): "other"}
		}
		cfg.Overrides = append(cfg.Overrides, o)
	}
	if p.once(2) {
		cfg.Results = []project.Rule{{Tool: oneOf(p, "a__read", "*__t", "none"), Keep: "items(id)", Profile: oneOf(p, "", "p1")}}
	}
	for i := range 3 {
		profile := config.Profile{
			Name: fmt.Sprintf("p%d", i), All: !p.once(3), Names: oneOf(p, "prefixed", "bare"), Dialect: oneOf(p, "", "", "", "openai", "openai-strict", "gemini"),
			Allow: p.some("*__t", "*read*", "a__*", "b__*", "*"), Deny: p.some("*__x", "fetch_result"), Paging: p.once(5), Tests: p.once(4),
			Budget: oneOf(p, 0, 0, 500), TextBudget: oneOf(p, 0, 900), DropEmpty: p.once(6), Validation: oneOf(p, "strict", "light"), Output: "off",
			Detach: oneOf(p, config.Detach(0), config.DetachOff, config.DetachAuto),
		}
		profile.Search = config.Search{Mode: oneOf(p, "off", "auto", "on"), Context: oneOf(p, 0, 3000, 8000, 20000), Pinned: p.some("*__t"), Prompt: p.once(4)}
		profile.Environment = config.Environment{Listed: p.once(4), Names: oneOf(p, "underscore", "slash", "both")}
		for _, s := range cfg.Servers {
			if !profile.All && p.once(2) {
				profile.Servers = append(profile.Servers, s.ID)
			}
		}
		cfg.Profiles = append(cfg.Profiles, profile)
	}
	p.cfg = cfg
}

func (p *play) listing(id tool.ServerID) upstream.Listing {
	l := upstream.Listing{TTL: oneOf(p, -1, time.Second, time.Hour), Era: oneOf(p, mcp.Legacy, mcp.Modern), Private: p.once(8), Instructions: oneOf(p, "", "use it well ", "使用")}
	l.Info = json.RawMessage(oneOf(p, `{"title":"One","description":"about boxes"}`, `{"name":"x"}`))
	l.Capabilities = json.RawMessage(oneOf(p, `{}`, `{"resources":{}}`))
	l.Notes = p.some("something was left out")
	names := []string{"read", "t", "a__t", "b__read", "fetch_result", "x", "读取文件", "read file", "browser_click", "list_boxes", strings.Repeat("n", 80), "find_tools"}
	if id == "env" || p.once(6) {
		names = append(names, "env_get_description", "env/get_description", "env_step", "env/step")
	}
	p.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:p.IntN(len(names)+1)] {
		def, err := tool.ParseDefinition(p.definition(name))
		if err != nil {
			panic(err)
		}
		l.Tools = append(l.Tools, def)
	}
	for _, name := range p.some("ask", "tools", "read", "问") {
		def, _ := tool.ParseDefinition(definition(name, oneOf(p, "one", "two")))
		l.Prompts = append(l.Prompts, def)
	}
	for _, uri := range p.some("file:///1", "file:///2", "box://3") {
		l.Resources = append(l.Resources, json.RawMessage(fmt.Sprintf(`{"uri":%q,"name":"%d"}`, uri, p.IntN(2))))
	}
	for _, text := range p.some("file:///{x}", "box://{n}/y") {
		l.Templates = append(l.Templates, json.RawMessage(fmt.Sprintf(`{"uriTemplate":%q,"name":"%d"}`, text, p.IntN(2))))
	}
	return l
}

func (p *play) definition(name string) json.RawMessage {
	properties := oneOf(p, `{}`, `{"id":{"type":"string"}}`, `{"id":{"type":"integer","x-mcp-header":"Id"},"q":{"type":["string","null"],"format":"date"}}`)
	raw := fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":%s}`, name, strings.Repeat(oneOf(p, "what it does ", "读取 "), 1+p.IntN(30)), properties)
	raw += oneOf(p, "", "", `,"execution":{"taskSupport":"required"}`, `,"execution":{"taskSupport":"optional"}`)
	raw += oneOf(p, "", "", `,"outputSchema":{"type":"object","properties":{"items":{"type":"array","items":{"properties":{"id":{}}}}}}`, `,"outputSchema":{"type":"array"}`)
	raw += oneOf(p, "", "", `,"annotations":{"readOnlyHint":true}`, `,"_meta":{"fastmcp":{"tags":["box","row"]}}`)
	return json.RawMessage(raw + "}")
}

// step lets something happen to the catalog.
func (p *play) step(c *Catalog) {
	ctx := context.Background()
	id := p.cfg.Servers[p.IntN(len(p.cfg.Servers))].ID
	switch p.IntN(8) {
	case 0:
		before := p.cfg
		p.configure()
		if len(p.cfg.Servers) == 0 {
			p.cfg = before
		}
		c.Apply(p.cfg)
	case 1:
		p.fails[id] = true
		c.Refresh(ctx, id)
		p.fails[id] = false
	case 2:
		c.Approve(ctx, "ann", id)
	case 3:
		c.KeepOut(ctx, "ann", id, "read", "t")
	default:
		p.lists[id] = p.listing(id)
		c.Refresh(ctx, id)
	}
}

func (p *play) List(_ context.Context, id tool.ServerID) (upstream.Listing, error) {
	if p.fails[id] {
		return upstream.Listing{}, errors.New("it is down")
	}
	return p.lists[id], nil
}

func (p *play) Recognize(tool.ServerID, upstream.Listing) {}

// ownInPlays are our own tools in a play.
func ownInPlays() OwnTools {
	own := ownTools
	own.Tests = []json.RawMessage{ownTool("run_steps", ""), ownTool("find_element", "")}
	own.Env = []json.RawMessage{ownTool("env_get_description", ""), ownTool("env_step", "")}
	return own
}

// described is all that can be seen of a catalog's views.
func described(c *Catalog) string {
	var b strings.Builder
	for _, name := range []string{"p0", "p1", "p2"} {
		v, err := c.View(name)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		describe(&b, v)
		describe(&b, v.Environment(true))
		describe(&b, v.Environment(false))
	}
	return b.String()
}

func describe(b *strings.Builder, v *View) {
	fmt.Fprintf(b, "== %s %s %q overview %q\n", v.Profile, v.Results.Keep, v.Instructions, v.Overview())
	fmt.Fprintln(b, v.Results.How, v.Pinned(), v.NotShown(), v.Searches(), v.Mirrors())
	for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
		for _, kind := range []Kind{ToolKind, PromptKind, ResourceKind, TemplateKind} {
			fmt.Fprintln(b, page(v, era, kind))
		}
		some, _ := v.Page(era, ToolKind, "", func(e *Entry) bool { return len(e.Shown)%2 == 0 })
		fmt.Fprintf(b, "%s\n", some)
	}
	for _, e := range slices.Concat(v.Entries, v.Prompts) {
		fmt.Fprintln(b, e.Shown, e.Name, e.Server, e.Override != nil, e.Browser, e.Own, e.Paged, e.Tasks, e.Detach, e.Environment, e.Listed(), e.pinned, e.slash())
	}
	for _, e := range v.Entries {
		found, err := v.Find(e.Shown)
		fmt.Fprintln(b, found == e, err, v.Named(e.Name) == e, e.Changed(), string(e.Raw()), v.Mirror(e) != nil)
		args, err := v.Fit(context.Background(), e, "", json.RawMessage(`{"id":"1","other":2}`))
		fmt.Fprintln(b, string(args.Args), err)
		args, err = v.Fit(context.Background(), e, "openai-strict", json.RawMessage(`{"id":1,"q":null}`))
		fmt.Fprintln(b, string(args.Args), err)
	}
	for _, name := range []string{"read", "a__t", "b__read", "env__env/step", "env__env_step", "a__env/step", "env_step", "env/step", "mine", "nothing", "tools", "fetch_result", "find_tools"} {
		e, err := v.Find(name)
		prompt, promptErr := v.FindPrompt(name)
		fmt.Fprintln(b, name, e != nil, err, prompt != nil, promptErr, v.Named(tool.Name(name)) != nil)
		if e != nil {
			fmt.Fprintln(b, e.Name, e.Shown)
		}
	}
	for _, uri := range []string{"file:///1", "file:///2", "file:///7", "box://3", "box://3/y", "x"} {
		fmt.Fprintln(b, uri)
		id, err := v.Owner(uri)
		fmt.Fprintln(b, id, err)
	}
	for _, hit := range v.Finder().Index.Search(search.Query{Text: "read the boxes", Limit: 5}) {
		fmt.Fprintln(b, v.Finder().Entries[hit.Index].Name)
	}
	tools, _ := json.Marshal(v.PromptTools())
	fmt.Fprintf(b, "%s\n", tools)
	for _, d := range []schema.Dialect{"openai-strict", "gemini"} {
		fitting, err := v.For(d)
		text, _ := json.Marshal(fitting.Tools)
		fmt.Fprintf(b, "%s %v\n", text, err)
	}
}

// TestViewsAreTheSameHoweverTheyCameAbout plays with catalogs, and compares views that were joined from what is left of earlier
// ones with views made of everything anew.
func TestViewsAreTheSameHoweverTheyCameAbout(t *testing.T) {
	for seed := range uint64(40) {
		p := newPlay(seed)
		if len(p.cfg.Servers) == 0 {
			continue
		}
		c, err := New(t.Context(), p, fakeKeeper{}, &Options{Own: ownInPlays(), Now: func() time.Time { return time.Unix(1, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(p.cfg)
		for i := range 20 {
			p.step(c)
			if i%4 > 0 {
				continue
			}
			joined := described(c)
			c.mu.Lock()
			c.framed = false
			c.frames = nil
			changed := c.rebuild()
			c.mu.Unlock()
			if anew := described(c); anew != joined || len(changed) > 0 {
				t.Fatalf("seed %d, step %d: changed %v\njoined %s\nanew %s", seed, i, changed, joined, anew)
			}
		}
	}
}
