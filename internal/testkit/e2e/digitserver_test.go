package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

const bigInteger = "9007199254740993"

// digitServer answers with the id that it gets: as structured content, or as JSON in a text. It reads no number as one.
type digitServer struct {
	*httptest.Server
	mu  sync.Mutex
	ids []string
}

func newDigitServer(t *testing.T) *digitServer {
	s := &digitServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *digitServer) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids
}

func (s *digitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Arguments struct{ ID json.RawMessage }
		}
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	const schema = `"inputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}`
	result := ""
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"digits","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"structured",` + schema + `},{"name":"text",` + schema + `}]}`
	case "tools/call":
		id := string(m.Params.Arguments.ID)
		s.mu.Lock()
		s.ids = append(s.ids, id)
		s.mu.Unlock()
		value := `{"id":` + id + `}`
		result = `{"content":[{"type":"text","text":` + strconv.Quote(value) + `}]}`
		if m.Params.Name == "structured" {
			result = `{"content":[],"structuredContent":` + value + `}`
		}
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}
