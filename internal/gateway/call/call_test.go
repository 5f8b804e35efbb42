package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == script.Argument {
		syscall.Exit(script.Main(os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

type fakeSender struct {
	Tasks
	call func(context.Context, upstream.Call) (upstream.Outcome, error)
}

func (f fakeSender) Curl(context.Context, upstream.Call) (string, error) { return "", nil }

func (f fakeSender) Call(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
	return f.call(ctx, c)
}

type fakeRecorder struct {
	add     func(context.Context, store.Call) error
	refuses error
}

func (fakeRecorder) NewID() string                                 { return "c_1" }
func (f fakeRecorder) Add(ctx context.Context, c store.Call) error { return f.add(ctx, c) }
func (f fakeRecorder) Refuses() error                              { return f.refuses }

type fakeKeeper struct{ rows []store.Server }

func (f fakeKeeper) Servers(context.Context) ([]store.Server, error) { return f.rows, nil }
func (fakeKeeper) SaveTools(context.Context, store.Server) error     { return nil }
func (fakeKeeper) Server(context.Context, tool.ServerID) (store.Server, error) {
	return store.Server{}, nil
}
func (fakeKeeper) Decide(context.Context, tool.ServerID, []store.Decision) error     { return nil }
func (fakeKeeper) SaveCheck(context.Context, tool.ServerID, time.Time, string) error { return nil }

type noLister struct{}

func (noLister) List(context.Context, tool.ServerID) (upstream.Listing, error) {
	return upstream.Listing{}, errors.New("not asked here")
}
func (noLister) Recognize(tool.ServerID, upstream.Listing) {}

// viewer is a catalog with one server, files, and its tool read.
func viewer(t *testing.T) *catalog.Catalog {
	return viewerOf(t, store.Tool{Name: "read", Definition: json.RawMessage(`{"name":"read"}`)})
}

// viewerOf is a catalog with the one server files.
func viewerOf(t *testing.T, tools ...store.Tool) *catalog.Catalog {
	t.Helper()
	row := store.Server{ID: "files", ListedAt: time.Now(), Tools: tools}
	c, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{row}}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{Servers: []config.Server{{ID: "files"}}, Profiles: []config.Profile{{Name: "default", All: true}}})
	return c
}

func TestEveryOutcomeIsRecorded(t *testing.T) {
	long := strings.Repeat("ä", 1000) + "hush"
	cases := []struct {
		name, tool, raw string
		err             error
		profile         string
		role            access.Role
		want            store.Call // outcome, level, code, tool, upstream
	}{
		{"a result", "files__read", `{"content":[]}`, nil, "default", access.Caller,
			store.Call{Outcome: "ok", Level: "info", Tool: "files__read", Upstream: "read"}},
		{"a result that says it did not work", "files__read", `{"isError" : true}`, nil, "default", access.Caller,
			store.Call{Outcome: "tool_error", Level: "error", Tool: "files__read", Upstream: "read"}},
		{"a result that says why it did not work", "files__read", `{"content":[{"type":"text","text":" no such file: 文 \n"}],"isError":true}`, nil, "default", access.Caller,
			store.Call{Outcome: "tool_error", Level: "error", Tool: "files__read", Upstream: "read", Message: "no such file: 文"}},
		{"a reason without end", "files__read", `{"content":[{"type":"text","text":"` + strings.Repeat("好", 1000) + `"}],"isError":true}`, nil, "default", access.Caller,
			store.Call{Outcome: "tool_error", Level: "error", Tool: "files__read", Upstream: "read", Message: strings.Repeat("好", 333)}},
		{"a result that only mentions isError", "files__read", `{"x":"\"isError\":true","y":{"isError":true}}`, nil, "default", access.Caller,
			store.Call{Outcome: "ok", Level: "info", Tool: "files__read", Upstream: "read"}},
		{"a question", "files__read", `{"resultType":"input_required","inputRequests":{}}`, nil, "default", access.Caller,
			store.Call{Outcome: "question", Level: "info", Tool: "files__read", Upstream: "read"}},
		{"a result that is no object", "files__read", `null`, nil, "default", access.Caller,
			store.Call{Outcome: "error", Level: "error", Code: "upstream_protocol", Tool: "files__read", Upstream: "read"}},
		{"an unknown tool", "nope", ``, nil, "default", access.Caller,
			store.Call{Outcome: "error", Level: "error", Code: "unknown_tool", Upstream: "nope"}},
		{"an unknown profile", "files__read", ``, nil, "other", access.Caller,
			store.Call{Outcome: "error", Level: "error", Code: "not_found", Upstream: "files__read"}},
		{"a caller that may not call", "files__read", ``, nil, "default", access.Viewer,
			store.Call{Outcome: "error", Level: "error", Code: "forbidden", Upstream: "files__read"}},
		{"the server's own error", "files__read", ``, &mcp.Error{Code: -32000, Message: long}, "default", access.Caller,
			store.Call{Outcome: "error", Level: "error", Code: "-32000", Tool: "files__read", Upstream: "read"}},
		{"a canceled call", "files__read", ``, fault.New(fault.Canceled, "gone"), "default", access.Caller,
			store.Call{Outcome: "canceled", Level: "info", Code: "canceled", Tool: "files__read", Upstream: "read"}},
		{"a timeout", "files__read", ``, fault.New(fault.UpstreamTimeout, "slow"), "default", access.Caller,
			store.Call{Outcome: "error", Level: "error", Code: "upstream_timeout", Tool: "files__read", Upstream: "read"}},
		{"an error of ours", "files__read", ``, errors.New("hush: a bug"), "default", access.Caller,
			store.Call{Outcome: "error", Level: "error", Code: "internal", Tool: "files__read", Upstream: "read"}},
		{"a name without end", strings.Repeat("好", 10_000), ``, nil, "default", access.Caller,
			store.Call{Outcome: "error", Level: "error", Code: "unknown_tool", Upstream: strings.Repeat("好", 66)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var records []store.Call
			sender := fakeSender{call: func(context.Context, upstream.Call) (upstream.Outcome, error) {
				out := upstream.Outcome{Raw: json.RawMessage(c.raw)}
				if c.want.Outcome == "question" {
					out.Kind = upstream.InputRequired
				}
				return out, c.err
			}}
			recorder := fakeRecorder{add: func(_ context.Context, r store.Call) error { records = append(records, r); return nil }}
			caller := New(viewer(t), sender, recorder, nil)
			params, err := NewParams(c.tool, json.RawMessage(`{"a":1}`))
			if err != nil {
				t.Fatal(err)
			}
			res, err := caller.Do(t.Context(), Request{Principal: access.Principal{ID: "p", Role: c.role}, Profile: c.profile, Params: params})
			if (err == nil) != (c.want.Code == "") || err == nil && string(res.Raw) != c.raw {
				t.Errorf("got %v, %v", res, err)
			}
			if len(records) != 1 {
				t.Fatalf("%d records", len(records))
			}
			got := records[0]
			if got.Outcome != c.want.Outcome || got.Level != c.want.Level || got.Code != c.want.Code || got.Tool != c.want.Tool || got.Upstream != c.want.Upstream {
				t.Errorf("got %+v", got)
			}
			if c.want.Outcome == "tool_error" && got.Message != c.want.Message {
				t.Errorf("the reason is %q", got.Message)
			}
			if got.BytesIn != 7 || c.want.Code == "internal" && strings.Contains(got.Message, "hush") || err == nil && got.BytesSent != int64(len(c.raw)) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRecordIsKeptAlsoWhenTheCallerHasLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sender := fakeSender{call: func(ctx context.Context, _ upstream.Call) (upstream.Outcome, error) {
		cancel()
		return upstream.Outcome{}, fault.New(fault.Canceled, "gone: %w", ctx.Err())
	}}
	kept := false
	caller := New(viewer(t), sender, fakeRecorder{add: func(ctx context.Context, _ store.Call) error { kept = ctx.Err() == nil; return nil }}, nil)
	params, _ := NewParams("files__read", nil)
	caller.Do(ctx, Request{Principal: access.Local(), Profile: "default", Params: params})
	if !kept {
		t.Error("the record was given a context that has ended")
	}
}

func TestParseParamsRefuses(t *testing.T) {
	cases := []struct{ name, in string }{
		{"nothing", ``}, {"null", `null`}, {"no name", `{"arguments":{}}`}, {"an empty name", `{"name":""}`}, {"a name that is no text", `{"name":5}`},
		{"two names", `{"name":"a","name":"b"}`},
		{"two names, one escaped", `{"name":"a","n\u0061me":"b"}`},
		{"a name and its lookalike", `{"name":"a","Name":"b"}`},
		{"two arguments", `{"name":"a","arguments":{},"arguments":{}}`},
		{"arguments and a lookalike with a long s", `{"name":"a","argument\u017f":{}}`},
		{"arguments that are an array", `{"name":"a","arguments":[]}`},
		{"two metas", `{"name":"a","_meta":{},"_meta":{}}`},
		{"a lookalike of _meta", `{"name":"a","_META":{}}`},
		{"two progress tokens: the server would use the other", `{"name":"a","_meta":{"progressToken":1,"progressToken":2}}`},
		{"two progress tokens, the first null", `{"name":"a","_meta":{"progressToken":null,"progressToken":2}}`},
		{"a lookalike of a progress token", `{"name":"a","_meta":{"ProgressToken":2}}`},
		{"a session without end", `{"name":"a","_meta":{"toolfit/session":"` + strings.Repeat("x", 300) + `"}}`},
		{"bytes that are no UTF-8", "{\"name\":\"a\",\"arguments\":{\"x\":\"\xff\"}}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseParams(json.RawMessage(c.in)); !fault.Is(err, fault.BadRequest) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestServerGetsTheCallersBytesUnderItsOwnName holds that forServer changes nothing but the
// tool's name, and says exactly where _meta stands, however it is written.
func TestServerGetsTheCallersBytesUnderItsOwnName(t *testing.T) {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\t "})
	text := rapid.String()
	value := rapid.SampledFrom([]string{`1`, `"x"`, `9007199254740993`, `1.0`, `null`, `{"name":"inner","_meta":{"progressToken":3}}`, `[{"name":1}]`, `"progressToken"`})
	rapid.Check(t, func(t *rapid.T) {
		shown := rapid.StringMatching(`[a-z_"\\é好]{1,70}`).Draw(t, "shown")
		own := text.Draw(t, "own")
		meta := ""
		var members []string
		members = append(members, rapid.SampledFrom([]string{`"name"`, `"n\u0061me"`}).Draw(t, "key")+space.Draw(t, "s1")+":"+space.Draw(t, "s2")+"\x00")
		if rapid.Bool().Draw(t, "args") {
			members = append(members, `"arguments":{"a":`+value.Draw(t, "arg")+`,"b":`+string(rawjson.AppendString(nil, text.Draw(t, "argtext")))+`}`)
		}
		if rapid.Bool().Draw(t, "extra") {
			members = append(members, `"extra":`+value.Draw(t, "extravalue"))
		}
		if rapid.Bool().Draw(t, "meta") {
			inner := []string{`"other":` + value.Draw(t, "other")}
			if rapid.Bool().Draw(t, "token") {
				token := rapid.SampledFrom([]string{`"t"`, `7`, `""`, `"\u0041"`, `1.50`}).Draw(t, "tokenvalue")
				inner = append(inner, rapid.SampledFrom([]string{`"progressToken"`, `"progress\u0054oken"`}).Draw(t, "tokenkey")+":"+space.Draw(t, "s3")+token)
			}
			meta = `{` + strings.Join(rapid.Permutation(inner).Draw(t, "inner"), ",") + `}`
			members = append(members, `"_meta":`+meta)
		}
		shape := "{" + strings.Join(rapid.Permutation(members).Draw(t, "members"), ","+space.Draw(t, "s4")) + "}"
		raw := strings.Replace(shape, "\x00", string(rawjson.AppendString(nil, shown)), 1)
		p, err := ParseParams(json.RawMessage(raw))
		if err != nil || p.Tool != shown {
			t.Fatalf("%s: %q, %v", raw, p.Tool, err)
		}
		before := bytes.Clone(p.Raw)
		got, at := p.forServer(own, p.Args)
		if want := strings.Replace(shape, "\x00", string(rawjson.AppendString(nil, own)), 1); string(got) != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if string(got[at.Start:at.End]) != meta {
			t.Fatalf("_meta %s at %v of %s, want %s", got[at.Start:at.End], at, got, meta)
		}
		fitted := json.RawMessage(`{"fitted":[1,2]}`)
		got, at = p.forServer(own, fitted)
		if again := rawjson.Get(got, "arguments"); !json.Valid(got) || !bytes.Equal(again, fitted) {
			t.Fatalf("with other arguments: %s", got)
		}
		if string(got[at.Start:at.End]) != meta {
			t.Fatalf("with other arguments: _meta %s at %v of %s, want %s", got[at.Start:at.End], at, got, meta)
		}
		if !bytes.Equal(before, p.Raw) {
			t.Fatal("the caller's bytes were changed")
		}
	})
}

func FuzzParseParams(f *testing.F) {
	f.Add([]byte(`{"name":"a","arguments":{},"_meta":{"progressToken":1,"toolfit/session":"s"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseParams(data)
		if err != nil {
			return
		}
		raw, at := p.forServer("x", p.Args)
		var v struct {
			Name string          `json:"name"`
			Meta json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal(raw, &v); err != nil || v.Name != "x" {
			t.Fatalf("%s: %q, %v", raw, v.Name, err)
		}
		if at.End > 0 && !json.Valid(raw[at.Start:at.End]) {
			t.Fatalf("_meta at %v of %s", at, raw)
		}
	})
}

func TestSessionKeyIsTheCallersOwn(t *testing.T) {
	a := Request{Principal: access.Principal{ID: "a"}, MCPSession: "m", Params: Params{Session: "s"}}
	b := Request{Principal: access.Principal{ID: "b"}, MCPSession: "m2", Params: Params{Session: "s"}}
	if a.session() == b.session() {
		t.Error(fmt.Sprint("two callers share ", a.session()))
	}
}
