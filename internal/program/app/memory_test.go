package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
)

// heap is what is in use when nothing is left to collect.
func heap() int64 {
	for range 3 { // pools are emptied in two rounds
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestABusyGatewayCollectsLessOften(t *testing.T) {
	for name, c := range map[string]struct {
		before int
		now    usage
		want   int
	}{
		"at rest":                 {300, usage{held: 1}, 100},
		"busy":                    {100, usage{held: 1, cycles: 5}, 300},
		"less busy, as it was":    {300, usage{held: 1, cycles: 4}, 300},
		"a little busy, at first": {0, usage{held: 1, cycles: 4}, 100},
		"busy with much in use":   {300, usage{held: plenty + 1, cycles: 50}, 100},
	} {
		if got := (&memory{percent: c.before}).pace(c.now); got != c.want {
			t.Errorf("%s: %d %%, want %d %%", name, got, c.want)
		}
	}
}

func TestMemoryOfLargeResultsIsGivenBack(t *testing.T) {
	text := strings.Repeat("all work and no play ", 500_000)
	long := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Parse(body)
		if err != nil || m.ID == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":%v}`, text, strings.Contains(string(m.Params), "bad"))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(long.Close)
	a, _ := start(t, "mcpServers:\n  long: {url: "+long.URL+"}\n")
	srv := httptest.NewServer(a.Handler())
	t.Cleanup(srv.Close)
	session := initialize(t, srv.URL)
	countTools(t, srv.URL, session)
	before := heap()
	var memory memory
	for _, name := range []string{"good", "bad"} {
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				resp := post(t, srv.URL, session,
					fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"long__%s","arguments":{}}}`, n+10, name))
				got, err := io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil || got == 0 {
					t.Errorf("%d bytes, %v", got, err)
				}
			})
		}
		all.Wait()
		for began := time.Now(); heap()-before > 16<<20; time.Sleep(50 * time.Millisecond) { // the last handlers are ending
			if time.Since(began) > patience {
				t.Fatalf("%s: 8 results of 10 MB have left %d MB behind", name, (heap()-before)>>20)
			}
		}
		memory.everySecond()
		if now := readUsage().held; now > plenty {
			t.Errorf("%s: %d MB are not given back to the system", name, now>>20)
		}
	}
}
