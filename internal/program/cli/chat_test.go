package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// TestShowPromptPrintsWhatTheModelIsSent compares what the command prints with the request that
// the model gets, for a new chat and for one that goes on after a result was cut.
func TestShowPromptPrintsWhatTheModelIsSent(t *testing.T) {
	var mu sync.Mutex
	var asked []*script.Request
	model := httptest.NewServer(script.New(func(r *script.Request) script.Answer {
		mu.Lock()
		defer mu.Unlock()
		if asked = append(asked, r); r.Last().Text() != "look" {
			return script.Answer{Text: "answered"}
		}
		if len(r.Tools) > 0 {
			return script.Answer{Calls: []script.Call{{Name: "shop__list_orders", Arguments: "{}"}}}
		}
		return script.Answer{Text: `<tool_call>{"tool_name":"shop__list_orders","arguments":{}}</tool_call>`}
	}))
	defer model.Close()
	requests := func() []*script.Request {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
	w := newWorld(t)
	put(t, "toolfit.yaml", `store: t.db
mcpServers: {shop: {builtin: demo-shop}}
models: {native: {url: "`+model.URL+`/v1"}, text: {url: "`+model.URL+`/v1", tools: text}}
agents:
  n: {model: native, personality: Be exact., capabilities: {max_tool_result_length: 1000}}
  t: {model: text, language: zh, capabilities: {max_tool_result_length: 1000}}
`)
	for _, id := range []string{"n", "t"} {
		session := ""
		for _, going := range []bool{false, true} {
			more := []string{}
			if going {
				more = append(more, "--continue", session)
			}
			before := len(requests())
			code, out, errs := w.run(t, append(more, "chat", id, "--show-prompt", "--json")...)
			var p agent.Prompt
			if err := json.Unmarshal([]byte(out), &p); code != 0 || err != nil || len(requests()) != before {
				t.Fatalf("%d, %v, %s; the model was asked %d times", code, err, errs, len(requests())-before)
			}
			code, plain, errs := w.run(t, append(more, "chat", id, "--show-prompt")...)
			code2, answer, said := w.run(t, append(more, "chat", id, "--show-prompt", "hello")...)
			if code+code2 != 0 {
				t.Fatalf("%s, %s", errs, said)
			}
			sent := requests()[before]
			if want := sent.Messages[0].Text(); p.System != want || !strings.HasPrefix(plain, "System prompt:\n\n"+want+"\n") {
				t.Errorf("shown\n%s\nand\n%s\nsent\n%s", p.System, plain, want)
			}
			if tools := rawjson.Get(sent.Raw, "tools"); !bytes.Equal(compact(t, p.Tools), compact(t, tools)) ||
				strings.Contains(plain, "\nTools:\n") != (tools != nil) {
				t.Errorf("shown %s, sent %s", p.Tools, tools)
			}
			if offers := strings.Contains(string(sent.Raw), "fetch_result"); offers != going {
				t.Errorf("%s offers fetch_result: %v", id, offers)
			}
			if answer != "answered\n" || !strings.HasPrefix(said, plain) {
				t.Errorf("with a message the answer is %q, and beside it stands\n%s", answer, said)
			}
			_, _, said = w.run(t, append(more, "chat", id, "look")...)
			_, session, _ = strings.Cut(strings.TrimSpace(said), "session ")
		}
	}
	if code, _, errs := w.run(t, "chat", "nobody", "--show-prompt"); code != 1 || !strings.Contains(errs, `there is no agent "nobody"`) {
		t.Errorf("%d %s", code, errs)
	}
}

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil && len(text) > 0 {
		t.Fatal(err)
	}
	return b.Bytes()
}
