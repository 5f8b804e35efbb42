package mcpserver

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

func modernVisitor(t *testing.T) *visitor {
	b := newBench(t, nil)
	return &visitor{server: b.Server, principal: access.Principal{ID: "ann"}, profile: "default"}
}

func modernRequest(method, caps string) *mcp.Request {
	return &mcp.Request{
		ID: json.RawMessage("1"), Method: method, Params: json.RawMessage(`{"name":"x"}`), Client: mcp.Deaf,
		Meta: &mcp.Meta{Version: mcp.ModernVersion, Capabilities: json.RawMessage(caps)},
	}
}

func TestModernResultForALegacyClient(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing but the modern members goes", `{"resultType":"complete","content":[ {"type":"hologram","x":1.0} ],"ttlMs":1,"big":9007199254740993,"cacheScope":"public"}`,
			`{"content":[ {"type":"hologram","x":1.0} ],"big":9007199254740993}`},
		{"a structured object stays", `{"content":[],"structuredContent":{"a":1},"resultType":"complete"}`, `{"content":[],"structuredContent":{"a":1}}`},
		{"a structured list becomes text", `{"resultType":"complete","structuredContent":[1,"a"]}`, `{"content":[{"type":"text","text":"[1,\"a\"]"}]}`},
		{"a structured list beside its text goes", `{"content":[{"type":"text","text":"x"}],"structuredContent":null}`, `{"content":[{"type":"text","text":"x"}]}`},
		{"who the server is goes", `{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{}}}`, `{"content":[]}`},
		{"what else _meta says stays", `{"content":[],"_meta":{"a":1.0,"io.modelcontextprotocol/serverInfo":{}}}`, `{"_meta":{"a":1.0},"content":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(legacyResult(&upstream.Outcome{Raw: json.RawMessage(c.in)})); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAnswersForAModernClient(t *testing.T) {
	v := modernVisitor(t)
	const us = `{"io.modelcontextprotocol/serverInfo":{"name":"toolfit","title":"toolfit","version":"dev"}`
	for _, c := range []struct{ name, method, in, want string }{
		{"a modern result passes as it is", "tools/call", `{"content":[ ],"resultType":"complete","x":1.0}`, `{"content":[ ],"resultType":"complete","x":1.0}`},
		{"a legacy one says that it is complete", "tools/call", `{"content":[ ]}`, `{"resultType":"complete","_meta":` + us + `},"content":[ ]}`},
		{"an empty one too", "tools/call", `{ }`, `{"resultType":"complete","_meta":` + us + `}}`},
		{"what _meta said stays", "tools/call", `{"content":[],"_meta":{"a":1.0}}`, `{"resultType":"complete","_meta":` + us + `,"a":1.0},"content":[]}`},
		{"a type that is no text says nothing", "tools/call", `{"resultType":7,"content":[]}`, `{"resultType":"complete","_meta":` + us + `},"content":[]}`},
		{"a resource is not kept where its server does not say", "resources/read", `{"resultType":"complete","contents":[]}`,
			`{"cacheScope":"private","ttlMs":0,"resultType":"complete","contents":[]}`},
		{"and never for others", "resources/read", `{"resultType":"complete","contents":[],"ttlMs":5,"cacheScope":"public"}`,
			`{"cacheScope":"private","ttlMs":5,"resultType":"complete","contents":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := v.inModern(modernRequest(c.method, `{}`), &upstream.Outcome{Raw: json.RawMessage(c.in)}, 0, nil)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestErrorsAreSaidInTheClientsWords(t *testing.T) {
	v := modernVisitor(t)
	rpc := func(code int) error {
		return &mcp.Error{Code: code, Message: "m", Raw: json.RawMessage(`{"code":1,"message":"m","data":{"d":1.0}}`)}
	}
	code := func(err error) int {
		var e *mcp.Error
		errors.As(err, &e)
		return e.Code
	}
	for came, want := range map[int]int{
		mcp.CodeNoResource: mcp.CodeInvalidParams, mcp.CodeMissingCapability: mcp.CodeMissingCapability, mcp.CodeHeaderMismatch: mcp.CodeInternal,
		mcp.CodeUnsupportedVersion: mcp.CodeInternal, -32001: -32001, mcp.CodeURLRequired: mcp.CodeURLRequired,
	} {
		if _, err := v.inModern(modernRequest("resources/read", `{}`), nil, 0, rpc(came)); code(err) != want {
			t.Errorf("%d became %v for a modern client, want %d", came, err, want)
		}
	}
	legacy := &mcp.Request{Method: "prompts/get"}
	for came, want := range map[int]int{
		mcp.CodeNoResource: mcp.CodeNoResource, mcp.CodeMissingCapability: mcp.CodeInternal, mcp.CodeHeaderMismatch: mcp.CodeInternal, -32001: -32001,
	} {
		if _, err := v.inLegacy(legacy, nil, rpc(came)); code(err) != want {
			t.Errorf("%d became %v for a legacy client, want %d", came, err, want)
		}
	}
	legacy.Method = "tools/call"
	if raw, err := v.inLegacy(legacy, nil, rpc(mcp.CodeMissingCapability)); err != nil || !strings.Contains(string(raw), `"isError":true`) {
		t.Errorf("what the client lacks must reach the model: %s, %v", raw, err)
	}
}

func TestModernServersQuestionIsSealedForItsClient(t *testing.T) {
	v := modernVisitor(t)
	req := modernRequest("tools/call", `{"elicitation":{}}`)
	question := func(method, mode string) *upstream.Outcome {
		return &upstream.Outcome{Kind: upstream.InputRequired, Raw: json.RawMessage(`{"resultType":"input_required","x":1.0,"inputRequests":{"a":{"method":"` + method + `","params":{"mode":"` + mode + `"}}},"requestState":"s\u0031"}`)}
	}
	got, err := v.inModern(req, question("elicitation/create", "form"), 0, nil)
	if err != nil || strings.Contains(string(got), "u0031") || !strings.Contains(string(got), `"x":1.0`) {
		t.Fatalf("%s, %v", got, err)
	}
	sealed, _ := rawjson.String(rawjson.Get(got, "requestState"))
	st, err := v.server.seal.open(sealed, v.binding(req))
	if err != nil || st.Kind != stateServer || string(st.State) != `"s\u0031"` || st.Round != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	for _, c := range []struct {
		method, mode string
		code         int
	}{
		{"sampling/createMessage", "form", mcp.CodeMissingCapability}, {"elicitation/create", "url", mcp.CodeMissingCapability}, {"files/delete", "", mcp.CodeInternal},
	} {
		_, err := v.inModern(req, question(c.method, c.mode), 0, nil)
		var rpc *mcp.Error
		if !errors.As(err, &rpc) || rpc.Code != c.code {
			t.Errorf("%s: %v", c.method, err)
		}
	}
	endless := question("elicitation/create", "form")
	if _, err := v.inModern(req, endless, maxRounds, nil); err == nil || !strings.Contains(err.Error(), "asked for more 32 times") {
		t.Error(err)
	}
	bare := &upstream.Outcome{Kind: upstream.InputRequired, Raw: json.RawMessage(`{"resultType":"input_required","inputRequests":{}}`)}
	if got, err := v.inModern(req, bare, 0, nil); err != nil || string(got) != string(bare.Raw) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestModernClientsStateAtServersIsItsOwn(t *testing.T) {
	v := modernVisitor(t)
	req := modernRequest("prompts/get", `{}`)
	if got := v.sessionKey(req); got != "ann" {
		t.Errorf("without a name: %q", got)
	}
	req.Params = json.RawMessage(`{"name":"x","_meta":{"toolfit/session":"one"}}`)
	if got := v.sessionKey(req); got != "ann/one" {
		t.Errorf("with a name: %q", got)
	}
	legacy := &mcp.Request{Session: &mcp.Session{ID: "s1"}}
	if got := v.sessionKey(legacy); got != "s1" {
		t.Errorf("legacy: %q", got)
	}
}

// TestPagesOfALegacyServerAreAQuestion holds that the error by which legacy servers send a
// person to a page is a question for a modern client, and that the call is then made anew.
func TestPagesOfALegacyServerAreAQuestion(t *testing.T) {
	v := modernVisitor(t)
	refusal := &mcp.Error{Code: mcp.CodeURLRequired, Message: "m", Raw: json.RawMessage(`{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"http://x","elicitationId":"1"}]}}`)}
	req := modernRequest("tools/call", `{"elicitation":{"url":{}}}`)
	got, err := v.inModern(req, nil, 0, refusal)
	if err != nil || !strings.HasPrefix(string(got), `{"resultType":"input_required","inputRequests":{"q1":{"method":"elicitation/create","params":{"mode":"url","url":"http://x"}}},"requestState":"`) {
		t.Fatalf("%s, %v", got, err)
	}
	sealed, _ := rawjson.String(rawjson.Get(got, "requestState"))
	if st, err := v.server.seal.open(sealed, v.binding(req)); err != nil || st.Kind != stateRepeat {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := v.inModern(modernRequest("tools/call", `{"elicitation":{}}`), nil, 0, refusal); err == nil {
		t.Error("a client that shows no pages was asked to")
	}
}
