package budget

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// The protocol eras, which are also the names of a server and of a profile with its tools alone.
const (
	legacy = "legacy"
	modern = "modern"
)

// server is an MCP server of one era. It does little itself, because what it allocates is in the figures, too.
type server struct {
	results map[string]string // the members of each, by method and tool
	end     string            // of each result
	asked   atomic.Int64      // how many requests came; notifications do not count, which come when they like
	weigh   atomic.Bool
	weight  atomic.Int64 // bytes of the last request that was to be weighed, but for its id and our port, whose digits vary
}

func newServer(era, tools string) *server {
	rows := rawjson.AppendString(nil, fiftyKB())
	s := &server{results: map[string]string{
		"tools/list ":     `"tools":` + tools,
		"tools/call echo": `"content":[{"type":"text","text":"hello"}]`,
		"tools/call big":  fmt.Sprintf(`"content":[{"type":"text","text":%s}]`, rows),
		"tools/call cut":  fmt.Sprintf(`"content":[{"type":"text","text":%s}]`, rows),
	}}
	if era == legacy {
		s.results["initialize "] = `"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"budget","version":"1"}`
		return s
	}
	s.results["server/discover "] = `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"`
	s.results["tools/list "] += `,"ttlMs":3600000,"cacheScope":"public"`
	s.end = `,"resultType":"complete"`
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body) // half a message is no JSON
	id := rawjson.Get(body, "id")
	if id == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.asked.Add(1)
	if s.weigh.Load() {
		head, _ := httputil.DumpRequest(r, false) // what was read can be written
		s.weight.Store(int64(len(head) - len(r.Host) + len(body) - len(id)))
	}
	method, _ := rawjson.String(rawjson.Get(body, "method"))
	name, _ := rawjson.String(rawjson.Get(body, "params", "name"))
	result, known := s.results[method+" "+name]
	if !known { // the handshake of the other era, too
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if method == "initialize" {
		w.Header().Set("Mcp-Session-Id", "budget")
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s%s}}`, id, result, s.end)
}

// manyTools are those that are called, and more to make 200, of the size that definitions have in the wild.
func manyTools() string {
	tools := []string{
		`{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}`,
		`{"name":"big","inputSchema":{"type":"object"}}`, `{"name":"cut","inputSchema":{"type":"object"}}`,
	}
	for i := len(tools); i < 200; i++ {
		tools = append(tools, fmt.Sprintf(`{"name":"filler_%03d","description":"%s","inputSchema":{"type":"object","properties":{`+
			`"path":{"type":"string","description":"Where to look, from the top of the project."},`+
			`"depth":{"type":"integer","minimum":0,"maximum":32,"description":"How far down to go."},`+
			`"order":{"type":"string","enum":["name","size","time"],"description":"What comes first."}},"required":["path"]}}`,
			i, strings.Repeat("Its words say nothing of use. ", 8)))
	}
	return "[" + strings.Join(tools, ",") + "]"
}

// browserTools is the list of a real server.
func browserTools(t testing.TB) string {
	text, err := os.ReadFile("../corpora/testdata/browser/tools/0.0.83.json") // the sample, also where the whole sets are
	if err != nil {
		t.Fatal(err)
	}
	return string(rawjson.Get(text, "tools"))
}

// fiftyKB is JSON as many servers answer with.
func fiftyKB() string {
	var rows []string
	for i := range 660 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"label":"row %d","state":"ready","size":%d,"tags":["a","b"]}`, i, i, i*37))
	}
	return `{"rows":[` + strings.Join(rows, ",") + `]}`
}
