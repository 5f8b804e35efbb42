package call

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const everything = "resultStore: all\nprofiles: {default: {search: on}}\n"

// typedWorld is a world whose stored results are read for types.
func typedWorld(t *testing.T, text string) *world {
	w := newWorld(t, text, nil)
	w.opts.PastResults = w.store.Results
	return w
}

// returns makes the tool own return results, or values as both text and structuredContent, each for another caller.
func (w *world) returns(values ...string) {
	w.t.Helper()
	for i, v := range values {
		w.answer = v
		if !strings.HasPrefix(v, `{"content":`) {
			w.answer = resultOf(v)
		}
		w.clock = w.clock.Add(time.Second)
		w.must(fmt.Sprint("caller", i), "cloud__own", `{}`)
	}
	w.clock = w.clock.Add(typeFresh + 1)
}

func (w *world) typeOf(name string) *ResultType {
	w.t.Helper()
	view, err := w.tools.View("default")
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := view.Find(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.ResultType(w.t.Context(), view, e)
}

func TestTypeOfResults(t *testing.T) {
	three := []string{`{"id":1,"who":"Ann"}`, `{"id":2,"who":"Bob"}`, `{"id":3}`}
	failed := `{"content":[{"type":"text","text":"it broke"}],"isError":true}`
	text := `{"content":[{"type":"text","text":"a,b"}]}`
	for _, c := range []struct {
		name    string
		config  string
		results []string
		want    string // "": unknown
		seen    int
	}{
		{"two results are too few", everything, three[:2], "", 0},
		{"three are enough, whoever called", everything, three, "{id: integer, who?: string}", 3},
		{"errors do not count", everything, append(three[:2:2], failed), "", 0},
		{"errors do not change it", everything, append(three[:3:3], failed), "{id: integer, who?: string}", 3},
		{"a text is a string", everything, []string{text, text, text}, "string", 3},
		{"with resultStore: none there is no type", "resultStore: none\n", three, "", 0},
		{"what was not cut is not stored", "", three, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := typedWorld(t, c.config)
			w.returns(c.results...)
			got := w.typeOf("cloud__own")
			if got == nil {
				got = &ResultType{}
			}
			if got.Type != c.want || got.Seen != c.seen {
				t.Errorf("got %q, seen %d", got.Type, got.Seen)
			}
		})
	}
}

func TestDeclaredTypeWins(t *testing.T) {
	w := typedWorld(t, everything)
	for range 3 {
		w.must("m", "cloud__env", `{}`)
	}
	want := "{rows: {id: integer, name: string, blob: string}[], total: integer, secret: string}"
	if got := w.typeOf("cloud__env"); got.Type != want || got.Seen != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTypeIsHeldForAWhileAndReadOnce(t *testing.T) {
	w := typedWorld(t, everything)
	w.returns(`{"a":1}`, `{"a":2}`, `{"a":3}`)
	var lists atomic.Int32
	w.opts.PastResults = func(ctx context.Context, f store.ResultFilter) ([]store.Result, error) {
		if f.Heads {
			lists.Add(1)
		}
		return w.store.Results(ctx, f)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if typ := w.typeOf("cloud__own"); typ == nil || typ.Type != "{a: integer}" {
				t.Errorf("got %+v", typ)
			}
		})
	}
	all.Wait()
	if n := lists.Load(); n != 1 {
		t.Errorf("read %d times", n)
	}
	w.returns(`{"a":"x"}`)
	if typ := w.typeOf("cloud__own"); typ.Type != "{a: string|integer}" || typ.Seen != 4 || lists.Load() != 2 {
		t.Errorf("later %+v, read %d times", typ, lists.Load())
	}
}

func TestTypeComesFromResultsOfBoundedSize(t *testing.T) {
	w := typedWorld(t, everything)
	w.returns(`{"a":1}`, `{"large":1}`, `{"large":1}`, `{"a":1}`, `{"a":1}`)
	w.opts.PastResults = func(ctx context.Context, f store.ResultFilter) ([]store.Result, error) {
		list, err := w.store.Results(ctx, f)
		for i := range list {
			if f.Heads && (i == 2 || i == 3) { // the newest is first
				list[i].Size = seenBytes
			}
		}
		return list, err
	}
	if typ := w.typeOf("cloud__own"); typ == nil || typ.Type != "{a: integer}" || typ.Seen != 3 {
		t.Errorf("got %+v", typ)
	}
}

func TestStoreThatFailsLeavesTheTypeOut(t *testing.T) {
	w := typedWorld(t, everything)
	w.opts.PastResults = func(context.Context, store.ResultFilter) ([]store.Result, error) {
		return nil, fault.New(fault.Internal, "down")
	}
	if typ := w.typeOf("cloud__own"); typ != nil {
		t.Errorf("got %+v", typ)
	}
	if page, err := w.Prompt(t.Context(), PromptRequest{Principal: access.Local(), Profile: "default"}); err != nil || page.Text == "" {
		t.Errorf("prompt: %v", err)
	}
}

func TestDescribeToolTellsWhatComesBack(t *testing.T) {
	w := typedWorld(t, everything)
	w.returns(`{"id":1,"who":"Ann"}`, `{"id":2,"who":"Bob"}`, `{"id":3}`)
	var d Description
	res, err := w.do("m", "describe_tool", `{"name":"cloud__own"}`)
	structured(t, res, err, &d)
	if d.Result == nil || d.Result.Type != "{id: integer, who?: string}" || d.Result.Seen != 3 || d.InputSchema == nil {
		t.Errorf("got %s", res.Raw)
	}
	for name, want := range map[string]string{
		"cloud__own": "declare const cloud: {\nown(args?: {\n_limit?: number\n}): Promise<{id: number, who?: string}>; // seen in 3 results\n};\n",
		"cloud__env": "declare const cloud: {\nenv(args?: {\naction?: string\n}): Promise<{\nrows: {\nid: number,\nname: string,\nblob: string\n}[],\n" +
			"total: number,\nsecret: string\n}>;\n};\n",
	} {
		var one Declared
		res, err := w.do("m", "describe_tool", `{"name":"`+name+`","detail":"ts"}`)
		structured(t, res, err, &one)
		if one.Declaration != want || one.Name != name || strings.Contains(string(res.Raw), "inputSchema") {
			t.Errorf("got\n%s\nwant\n%s", one.Declaration, want)
		}
	}
	if _, err := w.do("m", "describe_tool", `{"name":"cloud__own","detail":"java"}`); !fault.Is(err, fault.BadArguments) {
		t.Errorf("another detail: %v", err)
	}
}

func TestPromptHasTypesThatStayWithinASession(t *testing.T) {
	w := typedWorld(t, everything)
	write := func(session string, format prompt.Format) string {
		page, err := w.Prompt(t.Context(), PromptRequest{Principal: access.Local(), Profile: "default", Session: session, Variant: Variant{Format: format}})
		if err != nil {
			t.Fatal(err)
		}
		return page.Text
	}
	if text := write("early", ""); !strings.Contains(text, "type cloud__own = (_: {\n_limit?: integer\n}) => any;\n") ||
		!strings.Contains(text, "}) => {rows: {id: integer, name: string, blob: string}[], total: integer, secret: string};\n") {
		t.Errorf("before any result: %s", text)
	}
	w.returns(`{"id":1}`, `{"id":2}`, `{"id":3}`)
	typed := "}) => {id: integer}; // seen in 3+ results\n"
	if text := write("", "ts"); !strings.Contains(text, typed) {
		t.Errorf("after three: %s", text)
	}
	before := write("late", "")
	w.returns(`{"id":"x"}`)
	if text := write("late", ""); text != before || !strings.Contains(text, typed) {
		t.Errorf("a later text of the session: %s", text)
	}
	if text := write("", ""); !strings.Contains(text, "}) => {id: string|integer}; // seen in 3+ results\n") {
		t.Errorf("without a session: %s", text)
	}
	if text := write("", "sig"); strings.Contains(text, "results") {
		t.Errorf("signatures: %s", text)
	}
}
