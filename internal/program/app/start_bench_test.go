package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// manyTools is a configuration with servers of 500 tools each, which the store has. The servers do not exist: nothing
// waits for them.
func manyTools(b *testing.B, servers, words int) *config.Config {
	b.Helper()
	dir := b.TempDir()
	var yaml strings.Builder
	yaml.WriteString("mcpServers:\n")
	st, err := store.Open(b.Context(), filepath.Join(dir, "toolfit.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	for s := range servers {
		id := tool.ServerID(fmt.Sprintf("s%d", s))
		fmt.Fprintf(&yaml, "  %s: {command: does-not-exist}\n", id)
		row := store.Server{ID: id, ListedAt: time.Now()}
		for i := range 500 {
			def := fmt.Sprintf(`{"name":"tool_%d","description":%q,"inputSchema":{"type":"object","properties":{"id":{"type":"string"},`+
				`"limit":{"type":"integer"}}}}`, i, strings.Repeat("what it does ", words))
			row.Tools = append(row.Tools, store.Tool{Name: fmt.Sprintf("tool_%d", i), Definition: []byte(def)})
		}
		if err := st.SaveTools(b.Context(), row); err != nil {
			b.Fatal(err)
		}
	}
	st.Close()
	cfg, err := config.Parse(filepath.Join(dir, "toolfit.yaml"), []byte(yaml.String()), nil)
	if err != nil {
		b.Fatal(err)
	}
	return cfg
}

// BenchmarkStart measures a start with 5,000 tools in the store, up to the first list.
func BenchmarkStart(b *testing.B) {
	cfg := manyTools(b, 10, 40)
	for b.Loop() {
		a, err := New(b.Context(), cfg, nil)
		if err != nil {
			b.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/api/v1/tools?q=tool_499", nil)
		r.Host = "localhost"
		r.RemoteAddr = "127.0.0.1:1"
		a.Handler().ServeHTTP(w, r)
		if n := strings.Count(w.Body.String(), `"canonical"`); n != 10 {
			b.Fatalf("%d tools: %.200s", n, w.Body)
		}
		b.StopTimer()
		a.Close()
		b.StartTimer()
	}
}
