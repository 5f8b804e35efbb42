package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/mcp"
)

// others are replicas that note what they are given.
type others struct {
	home   string
	down   bool
	passed []string // "replica body"
	told   []string
}

func (o *others) Home(_ context.Context, _, gone string) (string, []byte) {
	if gone != "" {
		return "me", []byte("held")
	}
	return o.home, nil
}

func (o *others) Forward(w http.ResponseWriter, _ *http.Request, body []byte, replica string) bool {
	if o.down {
		return false
	}
	o.passed = append(o.passed, replica+" "+string(body))
	w.WriteHeader(http.StatusTeapot)
	return true
}

func (o *others) Tell(_ *http.Request, body []byte, replica string) {
	o.told = append(o.told, replica+" "+string(body))
}

const subscribeMessage = `{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"x"}}`

func TestWhatBelongsToAnotherReplicaIsPassedOnOnce(t *testing.T) {
	const (
		answer   = `{"jsonrpc":"2.0","id":"you-7","result":{"action":"accept"}}`
		fault    = `{"jsonrpc":"2.0","id":"you-7","error":{"code":1,"message":"no"}}`
		mine     = `{"jsonrpc":"2.0","id":"me-7","result":{}}`
		odd      = `{"jsonrpc":"2.0","id":"世界","result":{}}`
		cancel   = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`
		level    = `{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"error"}}`
		listing  = `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`
		newBatch = `[` + answer + `,` + cancel + `,` + listing + `]`
	)
	tests := []struct {
		name         string
		method, body string
		header       []string
		home         string
		passed, told []string
		status       int // where it is served here
	}{
		{name: "an answer", body: answer, passed: []string{"you " + answer}},
		{name: "an error as an answer", body: fault, passed: []string{"you " + fault}},
		{name: "an answer to us", body: mine, status: 202},
		{name: "an answer to nobody", body: odd, status: 202},
		{name: "a request", body: listing, status: 200},
		{name: "a cancellation", body: cancel, told: []string{" " + cancel}, status: 202},
		{name: "a subscription", body: subscribeMessage, home: "you", passed: []string{"you " + subscribeMessage}},
		{name: "a subscription at home", body: subscribeMessage, home: "me", status: 200},
		{name: "a log level", body: level, told: []string{" " + level}, status: 200},
		{name: "a stream", method: "GET", home: "you", passed: []string{"you "}},
		{name: "the rest of a stream", method: "GET", header: []string{"Last-Event-ID", "you.3-4"}, passed: []string{"you "}},
		{name: "the rest of a session's stream", method: "GET", header: []string{"Last-Event-ID", "old.0-4"}, home: "you", passed: []string{"you "}},
		{name: "the rest of a stream of ours that has ended", method: "GET", header: []string{"Last-Event-ID", "me.3-4"}, status: 404},
		{name: "the rest of an answer", method: "GET", header: []string{"Last-Event-ID", "you.3-4-Nw"}, passed: []string{"you "}},
		{name: "a batch", body: newBatch, told: []string{"you " + answer, " " + cancel}, status: 200},
		{name: "the end", method: "DELETE", told: []string{" "}, status: 204},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, how := range []string{"from a client", "passed on", "with nobody there"} {
				o := &others{home: test.home, down: how == "with nobody there"}
				status := sendTo(t, o, how == "passed on", test.method, test.body, test.header)
				passed, told, want := test.passed, test.told, test.status
				if how == "passed on" {
					told = nil
				}
				if how != "from a client" {
					passed = nil
				} else if passed != nil {
					want = http.StatusTeapot
				}
				if !slices.Equal(o.passed, passed) || !slices.Equal(o.told, told) {
					t.Errorf("%s: passed on %q, told %q", how, o.passed, o.told)
				}
				if want != 0 && status != want {
					t.Errorf("%s: status %d, want %d", how, status, want)
				}
			}
		})
	}
}

// sendTo opens a session and sends a message in it.
func sendTo(t *testing.T, o *others, passed bool, method, body string, header []string) int {
	t.Helper()
	sessions := mcp.NewSessions(&mcp.SessionsOptions{Replica: "me"})
	front := mcp.NewFront(sessions, &mcp.FrontOptions{Replicas: o})
	if passed {
		front = front.Alone()
	}
	serve := func(ctx context.Context, method, body string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, method, "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		front.Serve(w, r, mcp.Entry{
			Owner: "ann", Info: func() mcp.Info { return mcp.Info{} },
			Handler: mcp.HandlerFunc(func(context.Context, *mcp.Request) (json.RawMessage, error) { return json.RawMessage("{}"), nil }),
		})
		return w
	}
	opened := serve(t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}`)
	if method == "" {
		method = "POST"
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a stream ends at once
	return serve(ctx, method, body, append(header, "Mcp-Session-Id", opened.Header().Get("Mcp-Session-Id"))...).Code
}

func TestAModernRequestIsPassedOnByItsHandler(t *testing.T) {
	for _, down := range []bool{false, true} {
		o := &others{down: down}
		front := mcp.NewFront(mcp.NewSessions(&mcp.SessionsOptions{Replica: "me"}), &mcp.FrontOptions{Replicas: o})
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
		for k, v := range map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"} {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		front.Serve(w, r, mcp.Entry{Owner: "ann", Handler: mcp.HandlerFunc(func(_ context.Context, req *mcp.Request) (json.RawMessage, error) {
			if req.PassOn("me") {
				t.Error("passed on to ourselves")
			}
			if req.PassOn("you") {
				return nil, nil
			}
			return json.RawMessage(`"here"`), nil
		})})
		switch {
		case !down && (w.Code != http.StatusTeapot || w.Body.Len() > 0 || len(o.passed) != 1 || o.passed[0] != "you "+body):
			t.Errorf("%d %s, passed on %q", w.Code, w.Body, o.passed)
		case down && !strings.Contains(w.Body.String(), `"here"`):
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
