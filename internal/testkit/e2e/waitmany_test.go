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
func memory(t *testing.T, url string) (held float64) {
	t.Helper()
	resp, err := plainHTTP.Get(url + "/metrics")
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

// maxPerCall is how many bytes a detached call may take while its server works on it: a connection
// and the goroutines at it.
const maxPerCall = 40 << 10

// TestAThousandDetachedCalls holds as many open at a server at once, looks what each takes, and
// collects them all.
func TestAThousandDetachedCalls(t *testing.T) {
	const many = 1000
	server := newHeldServer(t, false)
	r, in := runChild(t, write(t, lines("mcpServers:", "  up: {url: "+server.URL+"}", "detach: 1s")))
	c, err := dialRaw(r.url+"/mcp", "")
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
			time.Sleep(3 * time.Millisecond) // not all at one moment
			work.Go(func() { do(&httpClient{http: clients, url: c.url, session: c.session, id: i}, i) })
		}
		work.Wait()
	}
	clean := func(n int) {
		fmt.Fprintf(in, "%d\n", n)
		eventually(t, "it has collected its garbage", func() bool { return strings.Count(r.said.String(), "collected") == n })
	}
	clean(1)
	before := memory(t, r.url)
	rss := look(t, r).rss
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
	t.Log("detached", time.Since(began))
	clean(2)
	perCall := (memory(t, r.url) - before) / many
	now := look(t, r)
	t.Logf("%.1f KB a call, %.1f KB of RSS; %d goroutines, %d files", perCall/1024, float64(now.rss-rss)/many/1024, now.goroutines, now.files)
	if perCall > maxPerCall {
		t.Errorf("a call takes %.1f KB", perCall/1024)
	}
	server.let("all")
	each(func(c *httpClient, i int) {
		result, err := c.request("tools/call", fmt.Sprintf(`{"name":"fetch_result","arguments":{"ref":%q,"wait":"30s"}}`, ids[i]))
		if err != nil || !strings.Contains(result, "done all") {
			t.Errorf("call %d: %s, %v", i, result, err)
		}
	})
	t.Log("collected", time.Since(began))
	if times := server.saw("hold all"); times != many {
		t.Errorf("the server was called %d times", times)
	}
}
