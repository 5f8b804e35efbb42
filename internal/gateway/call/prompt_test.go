package call

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// shop is a catalog whose servers have so many tools each, listed in the order of the seed.
func shop(t testing.TB, tools int, seed uint64) *catalog.Catalog {
	t.Helper()
	var rows []store.Server
	cfg := &config.Config{Profiles: []config.Profile{{
		Name: "p", All: true, Search: config.Search{Mode: "on", Pinned: []string{"b__do_3"}, Examples: true},
	}}}
	for _, id := range []tool.ServerID{"a", "b", "c"} {
		row := store.Server{ID: id, ListedAt: time.Unix(1, 0)}
		for i := range tools {
			def := fmt.Sprintf(`{"name":"do_%d","description":"Does number %d of many.","inputSchema":{"type":"object","properties":{"x":{"type":"integer","description":"How often."}}}}`, i, i)
			row.Tools = append(row.Tools, store.Tool{Definition: json.RawMessage(def)})
		}
		rows, cfg.Servers = append(rows, row), append(cfg.Servers, config.Server{ID: id})
	}
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(rows), func(i, j int) { cfg.Servers[i], cfg.Servers[j] = cfg.Servers[j], cfg.Servers[i] })
	for _, row := range rows {
		r.Shuffle(len(row.Tools), func(i, j int) { row.Tools[i], row.Tools[j] = row.Tools[j], row.Tools[i] })
	}
	c, err := catalog.New(t.Context(), noLister{}, fakeKeeper{rows}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(cfg)
	return c
}

func write(t testing.TB, c *Caller, session string, v Variant) string {
	t.Helper()
	page, err := c.Prompt(t.Context(), PromptRequest{Principal: access.Local(), Profile: "p", Session: session, Variant: v})
	if err != nil {
		t.Fatal(err)
	}
	return page.Text
}

func TestPromptIsTheSameForTheSameToolsInAnyOrder(t *testing.T) {
	for _, v := range []Variant{{}, {Format: "sig", Budget: 600}, {Format: "md", Groups: true}, {Format: "json", Dialect: "gemini"}} {
		want := ""
		for seed := range uint64(8) {
			text := write(t, New(shop(t, 12, seed), fakeSender{}, fakeRecorder{}, nil), "", v)
			if want == "" {
				want = text
			}
			if text != want || text == "" {
				t.Errorf("%+v: seed %d gives another text", v, seed)
			}
		}
	}
}

func TestPromptOnlyGrowsWithinASession(t *testing.T) {
	cat := shop(t, 5, 1)
	c := New(cat, fakeSender{}, fakeRecorder{}, nil)
	v := Variant{Format: "sig", Budget: 500}
	first := write(t, c, "s", v)
	if !strings.Contains(first, "b__do_3(") {
		t.Errorf("the pinned tool is not told in full: %s", first)
	}
	c.tools = shop(t, 9, 2) // four tools more on each server
	second := write(t, c, "s", v)
	if head := strings.TrimSuffix(first, "\n"); !strings.HasPrefix(second, head) || len(second) == len(first) {
		t.Errorf("first\n%s\nthen\n%s", first, second)
	}
	if write(t, c, "other", v) == second {
		t.Error("a new session has the old one's order")
	}
	if c.EndSession("s"); write(t, c, "s", v) != write(t, c, "", v) {
		t.Error("an ended session is remembered")
	}
}

func TestPromptKeepsItsBudget(t *testing.T) {
	c := New(shop(t, 300, 1), fakeSender{}, fakeRecorder{}, nil)
	for _, format := range []prompt.Format{"ts", "sig", "md", "json"} {
		for _, budget := range []int{300, 3000, 30_000} {
			if n := tokens.Estimate(write(t, c, "", Variant{Format: format, Budget: budget})); n > budget+budget/20 {
				t.Errorf("%s: %d tokens of %d", format, n, budget)
			}
		}
	}
}

func TestExamplesAreOfTheCallersOwnCalls(t *testing.T) {
	earlier := func(_ context.Context, f store.ResultFilter) ([]store.Result, error) {
		if f.Heads { // for the types of results
			return nil, nil
		}
		if f.Owner != "local" {
			t.Errorf("looked at the results of %q", f.Owner)
		}
		raw := func(s string) json.RawMessage { return json.RawMessage(s) }
		return []store.Result{
			{Tool: "a__do_1", Args: raw(`{"x":41}`), Body: raw(`{"isError":true}`)},
			{Tool: "a__do_1", Args: raw(`{"x":42}`), Body: raw(`{}`)},
			{Tool: "a__do_1", Args: raw(`{"x":43}`), Body: raw(`{}`)},
			{Tool: "a__gone", Args: raw(`{"x":44}`), Body: raw(`{}`)},
			{Tool: "b__do_1", Args: raw(`{}`), Body: raw(`{}`)},
			{Tool: "b__do_2", Args: raw(`{"x":"` + strings.Repeat("9", 600) + `"}`), Body: raw(`{}`)},
		}, nil
	}
	c := New(shop(t, 3, 1), fakeSender{}, fakeRecorder{}, &Options{PastResults: earlier})
	text := write(t, c, "", Variant{})
	if strings.Count(text, "// Example: ") != 1 || !strings.Contains(text, `// Example: {"x":42}`) {
		t.Errorf("got %s", text)
	}
}

func TestWrongPromptsAreRefused(t *testing.T) {
	c := New(shop(t, 1, 1), fakeSender{}, fakeRecorder{}, nil)
	for _, req := range []PromptRequest{
		{Profile: "p", Variant: Variant{Format: "pdf"}}, {Profile: "p", Variant: Variant{Budget: -1}}, {Profile: "p", Variant: Variant{Dialect: "klingon"}}, {Profile: "nope"},
	} {
		if _, err := c.Prompt(t.Context(), req); !fault.Is(err, fault.BadRequest) && !fault.Is(err, fault.NotFound) {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

type fakeMeaning struct {
	tools func([]catalog.Text) [][]float32
	query func(string) []float32
}

func (f fakeMeaning) Tools(texts []catalog.Text) [][]float32         { return f.tools(texts) }
func (f fakeMeaning) Query(_ context.Context, text string) []float32 { return f.query(text) }

func TestMeaningFindsWhatWordsDoNot(t *testing.T) {
	model := fakeMeaning{
		tools: func(texts []catalog.Text) [][]float32 {
			list := make([][]float32, len(texts))
			for i, text := range texts {
				list[i] = []float32{1, 0}
				if strings.HasPrefix(text.Text, "do_2: Does number 2") {
					list[i] = []float32{0, 1}
				}
			}
			return list
		},
		query: func(string) []float32 { return []float32{.1, 1} },
	}
	c := New(shop(t, 4, 1), fakeSender{}, fakeRecorder{}, &Options{Meaning: model})
	found, err := c.Search(t.Context(), access.Local(), "p", Query{Text: "zzz"})
	if err != nil || len(found.Tools) != 3 || !strings.HasSuffix(found.Tools[0].Name, "__do_2") {
		t.Errorf("%+v, %v", found, err)
	}
	model.tools = func([]catalog.Text) [][]float32 { return nil }
	model.query = func(string) []float32 { t.Error("a query was asked for without tools"); return nil }
	c = New(shop(t, 4, 1), fakeSender{}, fakeRecorder{}, &Options{Meaning: model})
	if found, err := c.Search(t.Context(), access.Local(), "p", Query{Text: "number 2"}); err != nil || len(found.Tools) == 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

func BenchmarkFindAmong2000(b *testing.B) {
	c := New(shop(b, 667, 1), fakeSender{}, fakeRecorder{}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if found, err := c.Search(b.Context(), access.Local(), "p", Query{Text: "does number 42 of many"}); err != nil || len(found.Tools) != 5 {
			b.Fatal(found, err)
		}
	}
}
