//go:build linux

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// bombs are scripts that want everything, and what their callers are told.
var bombs = []struct{ name, code, want string }{
	{"an endless loop", `while (true) {}`, "longer than|processor's time"},
	{"a huge text", `return 'x'.repeat(2 ** 30)`, "MiB of memory|invalid"},
	{"a huge list joined", `return Array(1e8).join()`, "MiB of memory|longer than|processor's time|invalid"},
	{"a regular expression", `return /^(a+)+$/.test('a'.repeat(40) + '!')`, "longer than|processor's time"},
	{"promises", `const all = []; while (true) all.push(Promise.resolve().then(() => all))`, "MiB of memory|longer than|processor's time"},
	{"promises that never rest", `const f = () => Promise.resolve().then(f); await f()`, "longer than|processor's time|no memory"},
	{"a log", `for (let i = 0; i < 1e5; i++) console.log('some words '.repeat(90)); return 1`, "Printed:"},
	{"calls", `for (let i = 0; i < 1000; i++) await up.look({ n: 'calls', ms: 1 })`, "can make 100 calls"},
	{"calls at once", `await Promise.all(Array.from({ length: 1000 }, () => up.look({ n: 'calls', ms: 1 })))`, "can make 100 calls"},
	{"a result that is too large", `return 'x'.repeat(30 << 20)`, "returned more than 4194304 bytes"},
	{"arguments that are too large", `return (await up.look({ n: 'large', ms: 1, x: 'x'.repeat(8 << 20) })).n`, "at most 4194304 bytes"},
	{"deep JSON", `let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a`, "deep|MiB of memory|stack|not JSON"},
	{"a getter that goes on", `return { get x() { while (true) {} } }`, "longer than|processor's time"},
	{"a proxy that goes on", `return new Proxy({}, { ownKeys() { while (true) {} } })`, "longer than|processor's time"},
	{"a native loop", `return Array.prototype.indexOf.call({ length: 1e9 }, 1)`, "longer than|processor's time|returned|-1"},
	{"memory in small parts", `const a = []; while (true) a.push({ a: [1, 2, 3] })`, "MiB of memory|longer than|processor's time"},
	{"recursion", `const f = () => f() + 1; return f()`, "stack"},
	{"a thrown giant", `throw new Error('x'.repeat(30 << 20))`, "Error: x"},
	{"the largest result", `return 'some words '.repeat(380000)`, "some words"},
	{"the largest arguments", `return (await up.look({ n: 'large', ms: 1, x: 'x'.repeat((4 << 20) - 100) })).n`, "done large"},
}

// shortBombs are those of the normal run: one of each way to end. The others take their processor time.
var shortBombs = []string{
	"an endless loop", "a huge text", "a log", "calls", "a result that is too large", "the largest result", "the largest arguments",
	"deep JSON", "recursion",
}

// maxBombMemory is how much memory the gateway may take more than before: for what it must not hold, and for the largest values that
// it may, of which it makes copies as for those of any other call.
const (
	maxBombMemory  = 32 << 20 // a busy gateway collects its garbage later
	maxLargeMemory = 100 << 20
)

// TestBombsInScripts: the gateway's own memory stays, calls of others are made as before, no process is left, and each ends with words
// that help. Without -long there are nine of them.
func TestBombsInScripts(t *testing.T) {
	up := newHeldServer(t, false)
	path := write(t, lines("mcpServers:", "  up: {url: "+up.URL+"}", "detach: off", "profiles: {default: {code: on}}"))
	key := newKey(t, path, "agent", "default", "admin") // who has none is looked for among the sockets of the machine
	r := run(t, path)
	c, err := dialRaw(r.url+"/mcp", key)
	if err != nil {
		t.Fatal(err)
	}
	c.http = plainStreams
	eventually(t, "the tools are listed", func() bool {
		list, err := c.request("tools/list", "{}")
		return err == nil && strings.Contains(list, "up__look")
	})
	for i := range 5 { // until the gateway has what it needs for a result that is cut
		runScript(c, `console.log('some words '.repeat(9e4)); return (await up.look({ n: 'warm', ms: 1, i: input })).n`, i)
	}
	calm := otherCalls(t, r.url, key)
	before := look(t, r)
	for _, b := range bombs {
		if !*longCalls && !slices.Contains(shortBombs, b.name) {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			was := residentMemory(r)
			var most atomic.Int64
			over := make(chan struct{})
			others := make(chan time.Duration, 1)
			go func() {
				median, peak := otherCallsUntil(t, r, key, over)
				most.Store(peak)
				others <- median
			}()
			began := time.Now()
			said := runScript(c, b.code, nil)
			took := time.Since(began)
			close(over)
			median := <-others
			rise := most.Load() - was
			limit := int64(maxBombMemory)
			if strings.HasPrefix(b.name, "the largest") {
				limit = maxLargeMemory
			}
			t.Logf("%s, %+.1f MB, calls of others %s (before %s): %.200s", took.Round(time.Millisecond), float64(rise)/1e6, median, calm, said)
			if !containsOne(said, b.want) {
				t.Errorf("it says %.1000s", said)
			}
			if rise > limit {
				t.Errorf("the gateway's memory rose by %.1f MB", float64(rise)/1e6)
			}
			if median > 20*calm+50*time.Millisecond { // the machine is shared with the bomb, and with other tests
				t.Errorf("calls of others take %s, and took %s", median, calm)
			}
		})
	}
	eventually(t, "only warm children are left", func() bool { return len(childrenOf(r)) <= before.children })
	after := look(t, r)
	t.Logf("%.1f MB, then %.1f MB", float64(before.rss)/1e6, float64(after.rss)/1e6)
	if after.files > before.files+10 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func containsOne(text, words string) bool {
	return slices.ContainsFunc(strings.Split(words, "|"), func(w string) bool { return strings.Contains(text, w) })
}

// otherCalls makes calls of another client, and returns their median.
func otherCalls(t *testing.T, url, key string) (median time.Duration) {
	t.Helper()
	c, err := dialRaw(url+"/mcp", key)
	if err != nil {
		t.Fatal(err)
	}
	var all []time.Duration
	for range 50 {
		all = append(all, oneCall(t, c))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func oneCall(t *testing.T, c *httpClient) time.Duration {
	began := time.Now()
	result, err := c.request("tools/call", `{"name":"up__look","arguments":{"n":"other","ms":1}}`)
	if err != nil || !strings.Contains(result, "done other") {
		t.Errorf("another client's call: %s, %v", result, err)
	}
	return time.Since(began)
}

// otherCallsUntil makes such calls while something runs, and returns the gateway's greatest memory meanwhile too.
func otherCallsUntil(t *testing.T, r *running, key string, over <-chan struct{}) (median time.Duration, most int64) {
	c, err := dialRaw(r.url+"/mcp", key)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	var all []time.Duration
	for {
		all = append(all, oneCall(t, c))
		most = max(most, residentMemory(r))
		select {
		case <-over:
			slices.Sort(all)
			return all[len(all)/2], most
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func residentMemory(r *running) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.Process.Pid))
	var kb int64
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &kb)
	}
	return kb << 10
}
