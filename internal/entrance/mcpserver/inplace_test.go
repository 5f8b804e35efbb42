package mcpserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// called is what a server of one era answers, in the buffer that it was read into.
func called(t *testing.T, era mcp.Era, result string) *upstream.Outcome {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id := rawjson.Get(body, "id")
		answer := result
		switch method, _ := rawjson.String(rawjson.Get(body, "method")); {
		case id == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case method == "initialize" && era == mcp.Legacy:
			answer = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`
		case method == "server/discover" && era == mcp.Modern:
			answer = `{"supportedVersions":["2026-07-28"],"capabilities":{}}`
		case method != "tools/call":
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, answer)
	}))
	t.Cleanup(srv.Close)
	p := upstream.New(nil)
	t.Cleanup(p.Close)
	p.Apply([]config.Server{{ID: "s", URL: srv.URL}})
	out, err := p.Call(t.Context(), upstream.Call{Server: "s", Tool: "t", Params: json.RawMessage(`{"name":"t","arguments":{}}`)})
	if err != nil {
		t.Fatal(err)
	}
	if out.Era != era || string(out.Raw) != result || !out.Scratch() {
		t.Fatalf("got %.200s of %s", out.Raw, out.Era)
	}
	return &out
}

// TestAnswersAreEditedWhereTheyWereRead: what is added and removed is the same as in a copy, and the brace behind it stays.
func TestAnswersAreEditedWhereTheyWereRead(t *testing.T) {
	v := modernVisitor(t)
	text := `"content":[{"type":"text","text":"` + strings.Repeat(`{\"resultType\":\"_meta\"} `, 3000) + `"}]`
	same := func(got, want json.RawMessage) bool {
		var a, b map[string]any
		return json.Unmarshal(got, &a) == nil && json.Unmarshal(want, &b) == nil && fmt.Sprint(a) == fmt.Sprint(b)
	}
	for _, c := range []string{
		`{"resultType":"complete",` + text + `}`, `{` + text + `,"resultType":"complete"}`,
		`{"ttlMs":1,` + text + `,"x":1.0,"resultType":"complete","structuredContent":{"a":1}}`,
		`{"_meta":{"io.modelcontextprotocol/serverInfo":{}},` + text + `}`, `{"resultType":"complete"}`,
	} {
		want := legacyResult(&upstream.Outcome{Raw: json.RawMessage(c)})
		out := called(t, mcp.Modern, c)
		for range 2 { // who could not be answered may be answered again
			got, err := v.inLegacy(&mcp.Request{}, out, nil)
			if err != nil || string(got) != string(want) || got[:len(got)+1][len(got)] != '}' {
				t.Errorf("%.60s: got %.200s, want %.200s, %v", c, got, want, err)
			}
		}
	}
	for _, c := range []string{
		`{` + text + `}`, `{` + text + "\n}", `{"isError":false,` + text + `}`, `{ }`, `{"resultType":7,` + text + `}`, `{"_meta":{"a":1},` + text + `}`,
	} {
		want := v.finished(json.RawMessage(c))
		out := called(t, mcp.Legacy, c)
		for range 2 {
			got, err := v.inModern(modernRequest("tools/call", `{}`), out, 0, nil)
			if err != nil || !same(got, want) {
				t.Errorf("%.60s: got %.200s, want %.200s, %v", c, got, want, err)
			}
		}
	}
}
