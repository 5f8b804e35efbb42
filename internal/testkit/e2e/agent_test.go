package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/state/store"
)

// chatting serves a model that calls a tool for each question.
func chatting(t *testing.T) string {
	t.Helper()
	model := httptest.NewServer(script.New(func(r *script.Request) script.Answer {
		if r.Last().Role == "tool" {
			return script.Answer{Text: "These are the orders."}
		}
		return script.Answer{Text: "Let me look.", Calls: []script.Call{{Name: "shop__list_orders", Arguments: `{"limit":1}`}}}
	}))
	t.Cleanup(model.Close)
	return model.URL
}

// chat asks an agent and returns the session of the whole answer.
func chat(ctx context.Context, c *http.Client, url, text, session string) (string, error) {
	ask := map[string]any{"model": "helper", "messages": []map[string]string{{"role": "user", "content": text}}}
	if session != "" {
		ask["metadata"] = map[string]string{"session": session}
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
		Toolfit struct{ Session string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK || len(answer.Choices) != 1 ||
		!strings.HasSuffix(answer.Choices[0].Message.Content, "These are the orders.") {
		return "", fmt.Errorf("HTTP %d, %+v", resp.StatusCode, answer)
	}
	return answer.Toolfit.Session, nil
}

func TestNoAnsweredChatIsLostWhenTheGatewayIsKilled(t *testing.T) {
	path := write(t, lines("mcpServers:", "  shop: {builtin: demo-shop}",
		"models: {m: {url: '"+chatting(t)+"/v1'}}", "agents: {helper: {}}"))
	r := run(t, path)
	answered := chatUntilKilled(t, r)
	r.waitExit(t)

	st, err := store.Open(t.Context(), filepath.Join(filepath.Dir(path), "toolfit.db"), nil)
	if err != nil {
		t.Fatalf("open the store after the kill: %v", err)
	}
	lost := 0
	for session := range answered {
		rows, err := st.Messages(t.Context(), session, 0, 0)
		if err != nil || len(rows) != 4 || !bytes.Contains(rows[3].Body, []byte("These are the orders.")) {
			lost++
		}
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if lost > 0 {
		t.Errorf("%d of %d answered chats are not whole", lost, len(answered))
	}

	again := run(t, path)
	for session := range answered { // any of them goes on
		if got, err := chat(t.Context(), http.DefaultClient, again.url, "and now?", session); err != nil || got != session {
			t.Errorf("after the kill: %s, %v", got, err)
		}
		break
	}
	http.DefaultClient.CloseIdleConnections()
}

// chatUntilKilled chats from many clients, kills the gateway in the middle, and returns the
// sessions of the answers.
func chatUntilKilled(t *testing.T, r *running) map[string]bool {
	t.Helper()
	const clients, enough = 16, 50
	answered := map[string]bool{}
	loaded := make(chan struct{})
	var mu sync.Mutex
	var work sync.WaitGroup
	pool := &http.Transport{MaxIdleConnsPerHost: clients}
	defer pool.CloseIdleConnections()
	for range clients {
		work.Go(func() {
			for {
				session, err := chat(t.Context(), &http.Client{Transport: pool, Timeout: patience}, r.url, "How are the orders?", "")
				if err != nil {
					return // it is dead
				}
				mu.Lock()
				if answered[session] = true; len(answered) == enough {
					close(loaded)
				}
				mu.Unlock()
			}
		})
	}
	ended := make(chan struct{})
	go func() { work.Wait(); close(ended) }()
	select {
	case <-loaded:
	case <-ended: // every client was refused: there is nothing to wait for
	}
	if err := r.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-ended
	if len(answered) < enough {
		t.Fatalf("only %d chats were answered", len(answered))
	}
	return answered
}
