package call

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// bench is a caller over one server, with what reached the server and what was recorded.
type bench struct {
	caller   *Caller
	sent     []upstream.Call
	record   store.Call
	answer   string
	failures map[string]error // by tool
}

const fitConfig = `
mcpServers:
  s: {command: x}
profiles:
  default: {}
  strict-gpt: {dialect: openai-strict, output: strict}
  warned: {output: warn}
  light: {validation: light}
overrides:
  - {tool: s__make, fix: {region: eu}, hide: [debug], name: make_vm}
  - {tool: s__find, retry: 2, fallback: [s__gone, {arguments: {q: other}}, s__search]}
  - {tool: s__make, profile: warned, fix: {nowhere: 1}}
`

func newBench(t *testing.T) *bench {
	t.Helper()
	cfg, err := config.Parse("toolfit.yaml", []byte(fitConfig), nil)
	if err != nil {
		t.Fatal(err)
	}
	row := store.Server{ID: "s", ListedAt: time.Now()}
	for _, def := range []string{
		`{"name":"find","inputSchema":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"},"tag":{"type":"string"}},"required":["q"],"additionalProperties":false},
		  "outputSchema":{"type":"object","properties":{"hits":{"type":"integer"}},"required":["hits"]}}`,
		`{"name":"search","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`,
		`{"name":"sort","inputSchema":{"type":"object","properties":{"by":{"type":"string","enum":["name","date"]},"tags":{"type":"array","items":{"type":"string"}},"exact":{"type":"boolean"}}}}`,
		`{"name":"slow","inputSchema":{"type":"object","properties":{"q":{"type":"string","pattern":"(a?){400}b"}}}}`,
		`{"name":"make","inputSchema":{"type":"object","properties":{"region":{"type":"string"},"debug":{"type":"boolean"},"size":{"type":"integer"}}}}`,
	} {
		row.Tools = append(row.Tools, store.Tool{Definition: json.RawMessage(def)})
	}
	cat, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{row}}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	cat.Apply(cfg)
	b := &bench{answer: `{"content":[],"structuredContent":{"hits":1}}`, failures: map[string]error{}}
	b.caller = New(cat, fakeSender{call: func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		b.sent = append(b.sent, c)
		return upstream.Outcome{Raw: json.RawMessage(b.answer)}, b.failures[c.Tool]
	}}, fakeRecorder{add: func(_ context.Context, c store.Call) error { b.record = c; return nil }}, nil)
	return b
}

func (b *bench) do(t *testing.T, profile, tool, args string) (*Result, error) {
	t.Helper()
	params, err := ParseParams(json.RawMessage(`{"name":"` + tool + `","arguments":` + args + `}`))
	if err != nil {
		t.Fatal(err)
	}
	b.sent = nil
	return b.caller.Do(t.Context(), Request{Principal: access.Local(), Profile: profile, Params: params, AsListed: true})
}

func (b *bench) got() string {
	if len(b.sent) == 0 {
		return ""
	}
	return string(rawjson.Get(b.sent[len(b.sent)-1].Params, "arguments"))
}

// A call whose arguments were repaired is no warning: it went well.
func TestArgumentsThatReachTheServer(t *testing.T) {
	for _, c := range []struct {
		name, profile, tool, args, want string
		repaired                        bool
	}{
		{"what fits keeps its bytes", "default", "s__find", `{"n":1 , "q":"a"}`, `{"n":1 , "q":"a"}`, false},
		{"a number in a string", "default", "s__find", `{"q":"a","n":"3"}`, `{"q":"a","n":3}`, true},
		{"all arguments in a string", "default", "s__find", `"{\"q\":\"a\"}"`, `{"q":"a"}`, true},
		{"null for absence in a strict dialect", "strict-gpt", "s__find", `{"q":"a","n":null,"tag":null}`, `{"q":"a"}`, false},
		{"a value that is bound here, whatever is sent for it", "default", "make_vm", `{"region":"us"}`, `{"region":"eu"}`, false},
		{"a value that is bound here", "default", "make_vm", `{"size":2}`, `{"size":2,"region":"eu"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			if _, err := b.do(t, c.profile, c.tool, c.args); err != nil {
				t.Fatal(err)
			}
			if b.got() != c.want || b.record.Level != "info" || (b.record.Repairs != "") != c.repaired {
				t.Errorf("got %s, record %+v", b.got(), b.record)
			}
		})
	}
}

func TestArgumentsThatAreRefusedReachNobody(t *testing.T) {
	b := newBench(t)
	_, err := b.do(t, "default", "s__search", `{"q":5}`)
	if !fault.Is(err, fault.BadArguments) || len(b.sent) != 0 || b.record.Code != "bad_arguments" || !strings.Contains(err.Error(), "/q") {
		t.Errorf("got %v, %d sent, %+v", err, len(b.sent), b.record)
	}
	if _, err := b.do(t, "default", "make_vm", `{"debug":true}`); !fault.Is(err, fault.BadArguments) || len(b.sent) != 0 {
		t.Errorf("what is hidden cannot be given: %v", err)
	}
}

func TestAFitEndsWhenItsClientLeaves(t *testing.T) {
	b := newBench(t)
	params, err := ParseParams(json.RawMessage(`{"name":"s__slow","arguments":{"q":"` + strings.Repeat("a", 1<<20) + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err = b.caller.Do(ctx, Request{Principal: access.Local(), Profile: "default", Params: params})
	if !fault.Is(err, fault.Canceled) || len(b.sent) != 0 || b.record.Outcome != "canceled" {
		t.Errorf("%.200v, %d sent, %+v", err, len(b.sent), b.record.Outcome)
	}
}

func TestToolWhoseOverrideCannotBeAppliedIsNotThere(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"make_vm", "s__make"} {
		if _, err := b.do(t, "warned", name, `{}`); !fault.Is(err, fault.UnknownTool) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestResultIsHeldToWhatTheToolPromises(t *testing.T) {
	b := newBench(t)
	b.answer = `{"content":[],"structuredContent":{"hits":"many"}}`
	if _, err := b.do(t, "default", "s__find", `{"q":"a"}`); err != nil {
		t.Errorf("off: %v", err)
	}
	if _, err := b.do(t, "warned", "s__find", `{"q":"a"}`); err != nil || b.record.Level != "warn" || !strings.Contains(b.record.Message, "not what the tool promises") {
		t.Errorf("warn: %v, %+v", err, b.record)
	}
	if _, err := b.do(t, "strict-gpt", "s__find", `{"q":"a","n":null,"tag":null}`); !fault.Is(err, fault.BadResult) {
		t.Errorf("strict: %v", err)
	}
	b.answer = `{"content":[],"isError":true}`
	if _, err := b.do(t, "strict-gpt", "s__find", `{"q":"a","n":null,"tag":null}`); err != nil {
		t.Errorf("an error promises nothing: %v", err)
	}
}

func TestCallThatDidNotActIsMadeAgainAndThenOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.failures["find"] = fault.New(fault.UpstreamDown, "it is down").Unsent()
		res, err := b.do(t, "default", "s__find", `{"q":"a"}`)
		if err != nil || res == nil {
			t.Fatal(err)
		}
		var tools []string
		for _, c := range b.sent {
			tools = append(tools, c.Tool+string(rawjson.Get(c.Params, "arguments")))
		}
		want := `[find{"q":"a"} find{"q":"a"} find{"q":"a"} find{"q":"other"} search{"q":"a"}]`
		if fmt.Sprint(tools) != want {
			t.Errorf("got %v, want %s", tools, want)
		}
		if b.record.Tool != "s__search" || b.record.Level != "warn" || strings.Count(b.record.Message, "Fallback failed: ") != 2 {
			t.Errorf("got %+v", b.record)
		}
		b.failures["search"] = fault.New(fault.UpstreamTimeout, "no answer")
		if _, err := b.do(t, "default", "s__find", `{"q":"a"}`); !fault.Is(err, fault.UpstreamDown) {
			t.Errorf("the first error counts: %v", err)
		}
	})
}

func TestCallThatMayHaveActedIsNotRepeated(t *testing.T) {
	b := newBench(t)
	for _, err := range []error{fault.New(fault.UpstreamDown, "it died"), fault.New(fault.UpstreamTimeout, "no answer")} {
		b.failures["find"] = err
		if _, got := b.do(t, "default", "s__find", `{"q":"a"}`); !fault.Is(got, fault.As(err).Code) || len(b.sent) != 1 {
			t.Errorf("%v: got %v after %d requests", err, got, len(b.sent))
		}
	}
	delete(b.failures, "find")
	b.answer = `{"content":[],"isError":true}`
	if _, err := b.do(t, "default", "s__find", `{"q":"a"}`); err != nil || len(b.sent) != 1 {
		t.Errorf("a tool's own error: %v after %d requests", err, len(b.sent))
	}
}

func TestTextInAModelsWordsReachesTheServerAsJSON(t *testing.T) {
	b := newBench(t)
	for args, want := range map[string]string{
		`"{'by': 'name', 'tags': ['a', 'b'], 'exact': True,}"`: `{"by":"name","tags":["a","b"],"exact":true}`,
		`{"tags":"['a', 'b']","exact":"True"}`:                 `{"tags":["a","b"],"exact":true}`,
	} {
		if _, err := b.do(t, "default", "s__sort", args); err != nil || string(rawjson.Get(b.sent[0].Params, "arguments")) != want {
			t.Errorf("%s: %v, %v", args, b.sent, err)
		}
	}
	if _, err := b.do(t, "default", "s__sort", `"{'by': 'name'"`); !fault.Is(err, fault.BadArguments) || len(b.sent) != 0 {
		t.Errorf("%v, sent %v", err, b.sent)
	}
}

// TestAValueThatTheServerTookIsWarnedOf holds that a list which is behind its server does not refuse for
// ever what calls in another profile have shown to work.
func TestAValueThatTheServerTookIsWarnedOf(t *testing.T) {
	b := newBench(t)
	refused := func(args string) bool {
		_, err := b.do(t, "default", "s__sort", args)
		return fault.Is(err, fault.BadArguments)
	}
	if !refused(`{"by":"size"}`) {
		t.Error("nobody has shown that it works")
	}
	b.answer = `{"content":[],"isError":true}`
	if _, err := b.do(t, "light", "s__sort", `{"by":"size"}`); err != nil || !refused(`{"by":"size"}`) {
		t.Error("it did not work", err)
	}
	b.answer = `{"content":[]}`
	if _, err := b.do(t, "light", "s__sort", `{"by":"size"}`); err != nil || refused(`{"by":"size"}`) || !refused(`{"by":"color"}`) {
		t.Error("it worked", err)
	}
	if _, err := b.do(t, "default", "s__sort", `{"by":"size"}`); err != nil || b.record.Level != "warn" || !strings.Contains(b.record.Message, `does not list string "size"`) {
		t.Errorf("%v, %+v", err, b.record)
	}
}
