package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// callers make calls until they are stopped, and note what they were told.
type callers struct {
	app     *App
	stop    chan struct{}
	all     sync.WaitGroup
	ran     atomic.Int64
	refused atomic.Int64
	longest atomic.Int64

	mu    sync.Mutex
	wrong map[string]int
	ids   []string // of calls that were not said to be lost
}

// keepCalling starts callers of each of the tools.
func keepCalling(t *testing.T, a *App, each int, tools ...string) *callers {
	t.Helper()
	c := &callers{app: a, stop: make(chan struct{}), wrong: map[string]int{}}
	for _, tool := range tools {
		params, err := call.NewParams(tool, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		for range each {
			c.all.Go(func() { c.run(params) })
		}
	}
	t.Cleanup(c.end)
	return c
}

func (c *callers) end() {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.all.Wait()
}

func (c *callers) run(params call.Params) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-pause.C:
		}
		began := time.Now()
		res, err := c.app.Caller.Do(context.Background(), call.Request{
			Principal: access.Local(), Profile: "default", AsListed: true, Params: params,
		})
		c.longest.Store(max(c.longest.Load(), int64(time.Since(began))))
		c.told(res, err)
	}
}

// forget does not look for the calls so far.
func (c *callers) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = nil
}

func (c *callers) told(res *call.Result, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && fault.NotActed(err) && fault.Is(err, fault.StoreDown):
		c.refused.Add(1)
	case err != nil:
		c.wrong[fmt.Sprintf("failed: %v", err)]++
	case !strings.Contains(string(res.Raw), "orders"):
		c.wrong[fmt.Sprintf("no result: %.200s", res.Raw)]++
	default:
		c.ran.Add(1)
		if !strings.Contains(string(res.Raw), "the call is not on record") {
			c.ids = append(c.ids, res.ID)
		}
	}
}

// some waits for more calls that ran.
func (c *callers) some(t *testing.T) {
	t.Helper()
	began := time.Now()
	for before := c.ran.Load(); c.ran.Load() < before+20; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d calls ran: they wait; %v", c.ran.Load()-before, c.wrong)
		}
	}
}

// faults of a PostgreSQL: each begins, and returns what ends it.
var faults = []struct {
	name  string
	begin func(t *testing.T, pg *testparts.Postgres) (end func())
}{
	{"stopped", func(t *testing.T, pg *testparts.Postgres) func() {
		pg.Stop(t)
		return func() { pg.Start(t) }
	}},
	{"crashed", func(t *testing.T, pg *testparts.Postgres) func() {
		pg.Crash(t)
		return func() { pg.Start(t) }
	}},
	{"frozen", func(t *testing.T, pg *testparts.Postgres) func() { return pg.Freeze(t) }},
	{"out of connections", func(t *testing.T, pg *testparts.Postgres) func() { return pg.TakeConnections(t) }},
}

func TestNoFaultOfPostgresFailsACallOrTellsItWrongly(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint("durable: ", durable), func(t *testing.T) {
			t.Parallel()
			pg := testparts.OwnPostgres(t)
			text := "results: [{tool: shop__list_orders, keep: 'orders(id)'}]\n"
			a, log := start(t, shop+text+fmt.Sprintf("records: {durable: %v}\nstore: %q\n", durable, pg.Address("postgres")))
			if err := a.Keys.Reload(t.Context()); err != nil { // as serving does
				t.Fatal(err)
			}
			for _, f := range faults {
				began := time.Now()
				c := keepCalling(t, a, 3, "shop__list_orders")
				c.some(t)
				end := f.begin(t, pg)
				if f.name == "crashed" && !durable {
					c.forget() // what the store was told just before is lost with it
				}
				want := map[bool]string{false: "200 degraded: ", true: "503 not ready: "}[durable]
				probedLike(t, a, want)
				letsIn(t, a)
				if f.name != "frozen" { // there it takes the time of a method
					refusedQuietly(t, a)
				}
				c.some(t)
				end()
				probed(t, a, "200 ready")
				c.some(t)
				c.end()
				for told, times := range c.wrong {
					t.Errorf("%s: %d × %s", f.name, times, told)
				}
				a.Records.Flush(t.Context())
				lost := 0
				recorded(t, a, c.ids, &lost)
				if lost > 0 {
					t.Errorf("%s: %d of %d calls are not on record", f.name, lost, len(c.ids))
				}
				t.Logf("%s: %d ran, the longest took %v; %v", f.name, c.ran.Load(), time.Duration(c.longest.Load()), time.Since(began))
			}
			for _, line := range strings.Split(log.String(), "\n") {
				if strings.Contains(line, "loopback-only") {
					t.Errorf("the log has the password: %s", line)
				}
			}
		})
	}
}

// recorded counts the calls that are not on record, once those that wait are written.
func recorded(t *testing.T, a *App, ids []string, lost *int) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		*lost = 0
		have := map[string]bool{}
		f := store.CallFilter{Limit: 1000}
		for {
			page, err := a.Store.Calls(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range page {
				have[c.ID] = true
			}
			if len(page) < f.Limit {
				break
			}
			f.Before = page[len(page)-1].ID
		}
		for _, id := range ids {
			if !have[id] {
				*lost++
			}
		}
		if *lost == 0 || time.Since(began) > 15*time.Second {
			return
		}
	}
}

// letsIn lists the tools as a caller on this machine: the door needs the store for nothing that it knows.
func letsIn(t *testing.T, a *App) {
	t.Helper()
	began := time.Now()
	r := httptest.NewRequest("GET", "http://127.0.0.1/api/v1/tools", nil)
	r.RemoteAddr = "127.0.0.1:1"
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	if took := time.Since(began); w.Code != http.StatusOK || took > 5*time.Second {
		t.Errorf("HTTP %d after %v: %s", w.Code, took, w.Body)
	}
}

// refusedQuietly reads records while that cannot be done: the answer names neither the address nor the user.
func refusedQuietly(t *testing.T, a *App) {
	t.Helper()
	r := httptest.NewRequest("GET", "http://127.0.0.1/api/v1/calls?limit=1", nil)
	r.RemoteAddr = "127.0.0.1:1"
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	body := w.Body.String()
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(body, `"store_down"`) ||
		strings.Contains(body, "127.0.0.1") || strings.Contains(body, "toolfit") {
		t.Errorf("HTTP %d: %s", w.Code, body)
	}
}

// probedLike waits until /readyz begins so, and names neither the address nor the user.
func probedLike(t *testing.T, a *App, want string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got := probe(a)
		if strings.Contains(got, "127.0.0.1") || strings.Contains(got, "toolfit") {
			t.Fatalf("/readyz says too much: %s", got)
		}
		if strings.HasPrefix(got, want) {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("/readyz says %q", got)
		}
	}
}
