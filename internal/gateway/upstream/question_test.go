//go:build unix

package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

func TestAQuestionToAPersonNamesItsServer(t *testing.T) {
	for params, want := range map[string]string{
		`{"message":"Which?","requestedSchema":{ "type":"object"}}`: `{"message":"[server a] Which?","requestedSchema":{ "type":"object"}}`,
		`{"message":"[server b] Your password?"}`:                   `{"message":"[server a] [server b] Your password?"}`,
		`{"mess\u0061ge":"\u0041\""}`:                               `{"mess\u0061ge":"[server a] \u0041\""}`,
		`{"message":"x","message":"y","Message":"z"}`:               `{"message":"[server a] x","message":"[server a] y","Message":"[server a] z"}`,
		`{"message":null}`:                                          `{"message":"[server a]"}`,
		` {"mode":"url"}`:                                           `{"message":"[server a]","mode":"url"}`,
		`{"content":{"message":"in"}}`:                              `{"message":"[server a]","content":{"message":"in"}}`,
		`[]`:                                                        `[]`,
		``:                                                          ``,
	} {
		if got := string(signed("a", elicitMethod, json.RawMessage(params))); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	const sampling = `{"messages":[],"message":"x"}`
	if got := string(signed("a", "sampling/createMessage", json.RawMessage(sampling))); got != sampling {
		t.Errorf("a question to a model became %s", got)
	}
}

// TestNoQuestionReachesAPersonUnsigned holds for all ways in which servers ask: a request of
// their own, a result that asks, and an error that sends to a page.
func TestNoQuestionReachesAPersonUnsigned(t *testing.T) {
	t.Parallel()
	const question = `{"method":"elicitation/create","params":{"message":"[server bank] Password?"}}`
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		name, _ := rawjson.String(rawjson.Get(m.Params, "name"))
		switch {
		case name == "page":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","message":"Go","url":"http://x","elicitationId":"1"}]}}}`, m.ID)
		case strings.Contains(string(m.Params), "inputResponses"):
			writeJSON(w, m.ID, `{"resultType":"complete","content":[]}`)
		default:
			writeJSON(w, m.ID, `{"resultType":"input_required","inputRequests":{"a":`+question+`,"b":{"method":"roots/list","method":"elicitation/create","params":{"message":"Two?"}},"r":{"method":"roots/list"}}}`)
		}
	})
	p, _ := newPool(t, nil, s.config())
	modern := mcp.Speaker{Era: mcp.Modern, Info: able.Info, Capabilities: able.Capabilities}
	out, err := p.Call(t.Context(), Call{Server: "new", Tool: "x", Params: json.RawMessage(`{"name":"x"}`), From: modern})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out.Raw); !strings.Contains(got, `"message":"[server new] [server bank] Password?"`) || !strings.Contains(got, `"message":"[server new] Two?"`) || strings.Count(got, "server new") != 2 {
		t.Errorf("a modern client gets %s", got)
	}
	for _, from := range []mcp.Speaker{modern, able} {
		_, err = p.Call(t.Context(), Call{Server: "new", Tool: "page", Params: json.RawMessage(`{"name":"page"}`), From: from})
		if rpc := new(mcp.Error); !errors.As(err, &rpc) || !strings.Contains(string(rpc.Raw), `{"mode":"url","message":"[server new] Go","url":"http://x"`) {
			t.Errorf("%s client: %v", from.Era, err)
		}
	}
	peer := asking{ask: func(_, params string) (string, error) { return params, nil }}
	asked := hooks{server: "old"}.answerServer(t.Context(), peer, mcp.Message{ID: json.RawMessage("1"), Method: elicitMethod, Params: json.RawMessage(`{"message":"?"}`)})
	if !strings.Contains(string(asked), `{"message":"[server old] ?"}`) {
		t.Errorf("a legacy server asked %s", asked)
	}
	if _, err := (patient{Peer: asking{ask: func(_, params string) (string, error) {
		if params != `{"message":"[server own] ?"}` {
			t.Errorf("a builtin asked %s", params)
		}
		return "{}", nil
	}}, server: "own"}).Ask(t.Context(), elicitMethod, json.RawMessage(`{"message":"?"}`)); err != nil {
		t.Error(err)
	}
}

func FuzzSigned(f *testing.F) {
	f.Add(`{"message":"x","m\u0065ssage":1}`)
	f.Fuzz(func(t *testing.T, params string) {
		if rawjson.Check([]byte(params)) != nil {
			return
		}
		got := signed("a", elicitMethod, json.RawMessage(params))
		var read struct{ Message *string }
		if rawjson.Check(got) != nil {
			t.Fatalf("%s became %s", params, got)
		}
		if json.Unmarshal(got, &read) == nil && strings.HasPrefix(strings.TrimSpace(params), "{") && (read.Message == nil || !strings.HasPrefix(*read.Message, "[server a]")) {
			t.Errorf("%s became %s", params, got)
		}
	})
}
