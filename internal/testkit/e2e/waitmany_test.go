package e2e

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory is what the gateway holds on its heap and its stacks, in bytes, by its own account.
func memory(t *testing.T, url, key string) (held float64) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := plainHTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	for _, m := range regexp.MustCompile(`(?m)^go_memstats_(?:heap_alloc|stack_inuse)_bytes (\S+)`).FindAllSubmatch(text, -1) {
		bytes, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		held += bytes
	}
	return held
}

// maxPerCall is how many bytes a detached call may take while its server works on it: the connection
// to it with two goroutines, and the goroutine of the request with its stack. We want it to be 40 KB.
const maxPerCall = 60 << 10

// TestAThousandDetachedCalls holds as many open at a server at once, looks what each takes, and
// collects them all. Without -long there are fewer, and what they take says little.
func TestAThousandDetachedCalls(t *testing.T) {
	many := 1000
	if !*longCalls {
		many = 100
	}
	server := newHeldServer(t, false)
	path := write(t, lines("mcpServers:", "  up: {url: "+server.URL+"}", "detach: 1s"))
	key := newKey(t, path, "agent", "default", "admin") // who has none is looked for among the sockets of the machine, which takes long
	r, in := runChild(t, path)
	c, err := dialRaw(r.url+"/mcp", key)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tools are listed", func() bool {
		list, err := c.request("tools/list", "{}")
		return err == nil && strings.Contains(list, "up__hold")
	})
	pool := &http.Transport{MaxIdleConnsPerHost: 64}
	defer pool.CloseIdleConnections()
	clients := &http.Client{Transport: pool, Timeout: patience}
	each := func(do func(c *httpClient, i int)) {
		var work sync.WaitGroup
		for i := range many {
			time.Sleep(time.Millisecond) // so many connections at one moment are too many for a small machine
			work.Go(func() { do(&httpClient{http: clients, url: c.url, session: c.session, keyText: key, id: i}, i) })
		}
		work.Wait()
	}
	clean := func(n int) {
		fmt.Fprintf(in, "%d\n", n)
		eventually(t, "it has collected its garbage", func() bool { return strings.Count(r.said.String(), "collected") == n })
	}
	clean(1)
	before := memory(t, r.url, key)
	began := time.Now()
	ids := make([]string, many)
	each(func(c *httpClient, i int) {
		result, err := c.request("tools/call", fmt.Sprintf(`{"name":"up__hold","arguments":{"n":"all","i":%d}}`, i))
		ids[i] = handlePattern.FindString(result)
		if ids[i] == "" {
			t.Errorf("call %d: %s, %v", i, result, err)
		}
	})
	pool.CloseIdleConnections()
	clean(2)
	perCall := (memory(t, r.url, key) - before) / float64(many)
	t.Logf("detached in %s; %.1f KB a call", time.Since(began).Round(time.Millisecond), perCall/1024)
	if perCall > maxPerCall && *longCalls {
		t.Errorf("a call takes %.1f KB", perCall/1024)
	}
	server.let("all")
	each(func(c *httpClient, i int) {
		result, err := c.request("tools/call", fmt.Sprintf(`{"name":"fetch_result","arguments":{"ref":%q,"wait":"30s"}}`, ids[i]))
		if err != nil || !strings.Contains(result, "done all") {
			t.Errorf("call %d: %s, %v", i, result, err)
		}
	})
	if times := server.saw("hold all"); times != many {
		t.Errorf("the server was called %d times", times)
	}
}
