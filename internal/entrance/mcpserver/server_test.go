package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/entrance/mcpserver"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fakeCatalog struct {
	view  func(profile string) (*catalog.View, error)
	ready func()
}

func (f fakeCatalog) View(profile string) (*catalog.View, error) { return f.view(profile) }
func (f fakeCatalog) Listed(_ context.Context, profile string) (*catalog.View, error) {
	f.ready()
	return f.view(profile)
}

type fakeCaller struct {
	do func(call.Request) (*call.Result, error)
}

func (f fakeCaller) Do(_ context.Context, req call.Request) (*call.Result, error) { return f.do(req) }
func (fakeCaller) Prompt(context.Context, call.PromptRequest) (*prompt.Page, error) {
	return nil, errors.New("not asked here")
}

func serve(t *testing.T, do func(call.Request) (*call.Result, error), method, params string) (string, error) {
	t.Helper()
	ready := false
	cat := fakeCatalog{
		view: func(profile string) (*catalog.View, error) {
			if !ready {
				t.Error("the list was read before it was waited for")
			}
			if profile != "ops" {
				return nil, fault.New(fault.NotFound, "there is no profile %s", profile)
			}
			return &catalog.View{}, nil
		},
		ready: func() { ready = true },
	}
	s := mcpserver.New(cat, fakeCaller{do}, nil, nil)
	entry := s.Entry(access.Principal{ID: "k1", Role: access.Caller}, "ops")
	if entry.Owner != "k1" || entry.Group != "ops" {
		t.Errorf("owner %s, group %s", entry.Owner, entry.Group)
	}
	req := &mcp.Request{ID: json.RawMessage("1"), Method: method, Client: mcp.Deaf, Session: &mcp.Session{ID: "m1"}}
	if params != "" {
		req.Params = json.RawMessage(params)
	}
	raw, err := entry.Handler.Serve(t.Context(), req)
	return string(raw), err
}

func TestAListIsTheOneOfTheView(t *testing.T) {
	for _, params := range []string{"", `{}`, `{"cursor":""}`, `{"cursor":null}`, `{"_meta":{}}`} {
		got, err := serve(t, nil, "tools/list", params)
		if err != nil || got != `{"tools":[]}` {
			t.Errorf("params %s: %s, %v", params, got, err)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	cases := []struct {
		name, method, params string
		code                 int
	}{
		{"a cursor that we never gave out", "tools/list", `{"cursor":"5"}`, mcp.CodeInvalidParams},
		{"a method that we do not have", "nobody/knows", "", mcp.CodeMethodNotFound},
		{"a call without params", "tools/call", "", mcp.CodeInvalidParams},
		{"a call without a name", "tools/call", `{}`, mcp.CodeInvalidParams},
		{"a call with two names", "tools/call", `{"name":"a","name":"b"}`, mcp.CodeInvalidParams},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := serve(t, func(call.Request) (*call.Result, error) {
				t.Error("the call was made")
				return nil, nil
			}, c.method, c.params)
			var rpc *mcp.Error
			if !errors.As(err, &rpc) || rpc.Code != c.code {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhatACallBecomes(t *testing.T) {
	own := &mcp.Error{Code: -32001, Message: "own", Raw: json.RawMessage(`{"code":-32001,"message":"own","x":1.0}`)}
	internal := errors.New("a bug, with details")
	cases := []struct {
		name  string
		raw   string
		err   error
		want  string // the result; "": an error
		check func(error) bool
	}{
		{"a result passes as it is", `{"content":[ ],"isError":true,"x":1.0}`, nil, `{"content":[ ],"isError":true,"x":1.0}`, nil},
		{"the server's own error passes as it is", "", own, "", func(err error) bool { return errors.Is(err, own) }},
		{"an unknown tool is an error of the request", "", fault.New(fault.UnknownTool, "unknown tool: x"), "", func(err error) bool {
			var rpc *mcp.Error
			return errors.As(err, &rpc) && rpc.Code == mcp.CodeInvalidParams && strings.Contains(string(rpc.Data), `"code":"unknown_tool"`)
		}},
		{"a server that is down is a result that the model can read", "", fault.New(fault.UpstreamDown, "server \"x\"\nis down").WithHint("start it"),
			`{"content":[{"type":"text","text":"server \"x\"\nis down (start it)"}],"isError":true,"_meta":{"toolfit/error":{"code":"upstream_down","message":"server \"x\"\nis down","hint":"start it"}}}`, nil},
		{"an error of ours stays inside", "", internal, "", func(err error) bool {
			var rpc *mcp.Error
			return errors.Is(err, internal) && !errors.As(err, &rpc)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := serve(t, func(req call.Request) (*call.Result, error) {
				if req.Principal.ID != "k1" || req.Profile != "ops" || req.MCPSession != "m1" || req.Params.Tool != "x" || req.Reader != call.Model {
					t.Errorf("request %+v", req)
				}
				if c.err != nil {
					return nil, c.err
				}
				return &call.Result{Outcome: upstream.Outcome{Raw: json.RawMessage(c.raw)}}, nil
			}, "tools/call", `{"name":"x"}`)
			if got != c.want || (c.check == nil) != (err == nil) || c.check != nil && !c.check(err) {
				t.Errorf("got %s, %v", got, err)
			}
			if got != "" && !json.Valid([]byte(got)) {
				t.Error("no JSON")
			}
		})
	}
}
