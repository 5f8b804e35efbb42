package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// hosted is a gateway over HTTP with a key for each role.
type hosted struct {
	*httptest.Server
	app  *app.App
	keys map[string]string
}

func host(t *testing.T, text string) *hosted {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, &app.Options{Version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{app: a, keys: map[string]string{}}
	for _, k := range []struct {
		name, profile string
		role          access.Role
	}{{"ann", "default", access.Caller}, {"bob", "default", access.Caller}, {"eye", "default", access.Viewer}, {"root", "*", access.Admin}} {
		key, row, err := access.NewKey(k.name, k.profile, k.role, nil)
		if err != nil {
			t.Fatal(err)
		}
		row.CreatedAt = time.Now()
		if err := a.Store.CreateKey(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		h.keys[k.name] = key
	}
	h.Server = httptest.NewServer(a.Handler())
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		h.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *hosted) dial(t *testing.T, who, path string) *env.Client {
	t.Helper()
	c, err := h.try(t, who, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (h *hosted) try(t *testing.T, who, path string) (*env.Client, error) {
	return env.Dial(t.Context(), h.URL+path, &env.DialOptions{Header: http.Header{"Authorization": {"Bearer " + h.keys[who]}}})
}

// modern sends one request of the newer era and returns what it is answered.
func (h *hosted) modern(t *testing.T, who, path, method, params string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &m); err != nil {
		t.Fatal(err)
	}
	meta := map[string]json.RawMessage{}
	if m["_meta"] != nil {
		if err := json.Unmarshal(m["_meta"], &meta); err != nil {
			t.Fatal(err)
		}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = json.RawMessage(`"2026-07-28"`)
	meta["io.modelcontextprotocol/clientInfo"] = json.RawMessage(`{"name":"t","version":"1"}`)
	meta["io.modelcontextprotocol/clientCapabilities"] = json.RawMessage(`{}`)
	m["_meta"], _ = json.Marshal(meta)
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": m})
	req, err := http.NewRequest(http.MethodPost, h.URL+path, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + h.keys[who], "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
	} {
		req.Header.Set(name, value)
	}
	var name string
	if json.Unmarshal(m["name"], &name) == nil {
		req.Header.Set("Mcp-Name", name)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return string(answer)
}
