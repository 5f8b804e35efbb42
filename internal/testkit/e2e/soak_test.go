package e2e

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// soakTime is how long the soak runs. make soak takes a minute; the ordinary tests only see
// that it works.
var soakTime = flag.Duration("soak", 3*time.Second, "how long TestSoak runs")

// serveBadly is a server that echoes its arguments, but for its one bad habit.
func serveBadly(kind string) {
	if kind == "dying" {
		time.AfterFunc(5*time.Second, func() { os.Exit(1) })
	}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments json.RawMessage }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},`+
				`"serverInfo":{"name":"bad","version":"1"}}}`, m.ID)
		case "tools/list":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`, m.ID)
		default:
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":%s}}`, m.ID, m.Params.Arguments)
			if kind != "slow" {
				sayOddly(kind, say, answer)
				continue
			}
			time.AfterFunc(time.Duration(20+rand.IntN(200))*time.Millisecond, func() { say("%s", answer) })
		}
	}
}

// sayOddly answers, and where the server garbles, says other things as well or instead.
func sayOddly(kind string, say func(string, ...any), answer string) {
	if kind != "garbling" {
		say("%s", answer)
		return
	}
	switch rand.IntN(6) {
	case 0:
		say("%s", answer[:len(answer)/2]) // and that is all
	case 1:
		say(`{"jsonrpc":"2.0","id":987654321,"result":{"content":[],"structuredContent":{"n":"nobody's"}}}`)
		say("%s", answer)
	case 2:
		say("%s", answer)
		say("%s", answer)
	case 3:
		say("[debug] \x00\xff not a message at all")
		say("%s", answer)
	default:
		say("%s", answer)
	}
}

// TestSoak holds many sessions open and calls servers that misbehave: every answer is right
// or a typed error, and afterwards nothing is left.
func TestSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to see what is left")
	}
	sessions := 1000
	callers := 64
	if testing.Short() || *soakTime < 10*time.Second {
		sessions = 100
	}
	r := run(t, write(t, lines(
		"mcpServers:",
		"  slow: "+fake("slow"),
		"  dying: "+fake("dying"),
		"  garbling: "+strings.TrimSuffix(fake("garbling"), "}")+`,"timeout":"1s"}`,
	)))
	before := look(t, r)
	pool := openSessions(t, r.url, sessions)
	tally := &tally{}
	half := soak(t, pool, callers, *soakTime/2, tally, r)
	end := soak(t, pool, callers, *soakTime/2, tally, r)
	for _, s := range pool {
		s.close()
	}
	t.Logf("%d calls: %d right, %d typed errors; memory %d MB half-way, %d MB at the end", tally.all(), tally.right.Load(),
		tally.typed.Load(), half.rss>>20, end.rss>>20)
	if tally.right.Load() == 0 || tally.typed.Load() == 0 {
		t.Error("the servers were not used as meant")
	}
	if limit := half.rss + half.rss/3 + 16<<20; end.rss > limit {
		t.Errorf("memory grows: %d MB half-way, %d MB at the end", half.rss>>20, end.rss>>20)
	}
	reuse.CloseIdleConnections()
	var now state
	t.Cleanup(func() { t.Logf("before %+v, after %+v", before, now) })
	eventually(t, "no goroutine and no descriptor is left", func() bool {
		now = look(t, r)
		return now.goroutines <= before.goroutines+60 && now.files <= before.files+30 && now.children <= 3
	})
}

type tally struct{ right, typed atomic.Int64 }

func (c *tally) all() int64 { return c.right.Load() + c.typed.Load() }

// soaked is a session with its stream open.
type soaked struct {
	*httpClient
	stream io.Closer
	mu     sync.Mutex // one request at a time: the raw client has one id
}

// reuse keeps connections, as clients do.
var reuse = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}

func openSessions(t *testing.T, url string, n int) []*soaked {
	t.Helper()
	var all []*soaked
	for range n {
		c := &httpClient{http: reuse, url: url + "/mcp"}
		if _, err := c.request("initialize", hello); err != nil {
			t.Fatal(err)
		}
		req, _ := http.NewRequest(http.MethodGet, c.url, nil)
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Mcp-Session-Id", c.session)
		resp, err := reuse.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &soaked{httpClient: c, stream: resp.Body})
	}
	return all
}

// close leaves as a client does that says goodbye.
func (s *soaked) close() {
	req, _ := http.NewRequest(http.MethodDelete, s.url, nil)
	req.Header.Set("Mcp-Session-Id", s.session)
	if resp, err := reuse.Do(req); err == nil {
		resp.Body.Close()
	}
	s.stream.Close()
}

// soak calls for a while and returns what the gateway holds at the end.
func soak(t *testing.T, pool []*soaked, callers int, d time.Duration, c *tally, r *running) state {
	t.Helper()
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				s := pool[rand.IntN(len(pool))]
				server := []string{"slow", "dying", "garbling"}[rand.IntN(3)]
				nonce := fmt.Sprintf("%d-%d-%d", i, n, rand.Int64())
				s.mu.Lock()
				result, err := s.request("tools/call", fmt.Sprintf(`{"name":"%s__echo","arguments":{"n":%q}}`, server, nonce))
				s.mu.Unlock()
				switch {
				case err == nil && strings.Contains(result, `"structuredContent":{"n":"`+nonce+`"}`):
					c.right.Add(1)
				case err == nil && strings.Contains(result, `"isError":true`) && strings.Contains(result, `"toolfit/error":{"code":"upstream_`):
					c.typed.Add(1)
				default:
					t.Errorf("%s answered %s, %v", server, result, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return look(t, r)
}

// state is what a gateway holds.
type state struct {
	rss                         int64
	goroutines, files, children int
}

func look(t *testing.T, r *running) state {
	t.Helper()
	pid := strconv.Itoa(r.Process.Pid)
	var s state
	status, _ := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status); m != nil {
		kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
		s.rss = kb << 10
	}
	files, _ := os.ReadDir(filepath.Join("/proc", pid, "fd"))
	s.files = len(files)
	children, _ := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	for _, path := range children {
		list, _ := os.ReadFile(path)
		s.children += len(strings.Fields(string(list)))
	}
	resp, err := plainHTTP.Get(r.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, _ := io.ReadAll(resp.Body)
	if m := regexp.MustCompile(`(?m)^go_goroutines (\d+)`).FindSubmatch(metrics); m != nil {
		s.goroutines, _ = strconv.Atoi(string(m[1]))
	}
	return s
}
