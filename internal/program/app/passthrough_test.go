package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestACallersCredentialsStayHere calls a tool of a server over HTTP that writes down what it
// is sent: nothing that let the caller in is passed on.
func TestACallersCredentialsStayHere(t *testing.T) {
	var mu sync.Mutex
	var got strings.Builder
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what cannot be read is not there
		mu.Lock()
		fmt.Fprintln(&got, r.Method, r.URL, r.Header, string(body))
		mu.Unlock()
		result := `{}`
		switch {
		case strings.Contains(string(body), `"initialize"`):
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case strings.Contains(string(body), `"tools/list"`):
			result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
		case strings.Contains(string(body), `"tools/call"`):
			result = `{"content":[{"type":"text","text":"done"}]}`
		case !strings.Contains(string(body), `"id"`):
			w.WriteHeader(http.StatusAccepted)
			return
		}
		id := "1"
		if _, after, ok := strings.Cut(string(body), `"id":`); ok {
			id = after[:strings.IndexAny(after, ",}")]
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}))
	t.Cleanup(upstream.Close)
	h := host(t, "mcpServers: {far: {url: '"+upstream.URL+"/mcp', type: http}}\n")
	h.app.Catalog.Ready(t.Context(), "default")
	req, err := http.NewRequest("POST", h.URL+"/api/v1/tools/far__echo/call", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+h.keys["ann"])
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", "toolfit_sign_in=sealed-sign-in")
	req.Header.Set("X-Api-Key", "another-credential")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(resp.Body) // the status says enough
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("HTTP %d %s", resp.StatusCode, answer)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(got.String(), "tools/call") {
		t.Fatalf("the server was not called: %s", got.String())
	}
	for _, secret := range []string{h.keys["ann"], "sealed-sign-in", "another-credential", "Authorization"} {
		if strings.Contains(got.String(), secret) {
			t.Errorf("the server got %.12s…", secret)
		}
	}
}
