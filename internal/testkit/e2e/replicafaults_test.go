package e2e

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// storeFaults are what happens to a PostgreSQL: each begins, and returns what ends it.
var storeFaults = []struct {
	name  string
	begin func(t *testing.T, pg *testparts.Postgres) (end func())
}{
	{"restarted", func(t *testing.T, pg *testparts.Postgres) func() {
		pg.Stop(t)
		return func() { pg.Start(t) }
	}},
	{"killed", func(t *testing.T, pg *testparts.Postgres) func() {
		pg.Kill(t)
		return func() { pg.Start(t) }
	}},
	{"gone", func(t *testing.T, pg *testparts.Postgres) func() {
		pg.Stop(t)
		away := 5 * time.Second
		if *longCalls {
			away = 30 * time.Second
		}
		time.Sleep(away)
		return func() { pg.Start(t) }
	}},
	{"out of connections", func(t *testing.T, pg *testparts.Postgres) func() { return pg.TakeConnections(t) }},
}

// TestThreeGatewaysOutliveFaultsOfTheirStore: with clients at work. Without durable records no request fails. With
// them, what acts may be refused; it is not sent then.
func TestThreeGatewaysOutliveFaultsOfTheirStore(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint("durable: ", durable), func(t *testing.T) {
			t.Parallel()
			pg := testparts.OwnPostgres(t)
			f := newCluster(t, "store: "+pg.Address("postgres"), fmt.Sprint("records: {durable: ", durable, "}"))
			l := startLoad(t, balancer(t, f.urls...).url, f.key)
			var killed between
			var before time.Time                // when the last fault began: what was answered meanwhile may have been written just now
			time.Sleep(1100 * time.Millisecond) // until each has looked for the others again
			for _, fault := range storeFaults {
				began := time.Now()
				end := fault.begin(t, pg)
				if fault.name == "killed" {
					killed = between{before.Add(-2 * time.Second).UnixMilli(), time.Now().UnixMilli()}
				}
				before = began
				if durable {
					f.ready(t, fault.name, "503 not ready: ")
				} else {
					f.ready(t, fault.name, "200 degraded: ")
				}
				l.some(t)
				end()
				f.ready(t, fault.name+" and well again", "200 ready")
				l.some(t)
				t.Logf("%s: %v", fault.name, time.Since(began).Round(time.Millisecond))
			}
			l.end()
			checkStoreLoad(t, l, f.servers, durable)
			l.done = slices.DeleteFunc(l.done, func(r request) bool { // what was not yet on disk
				return !durable && r.crossed(killed)
			})
			l.onRecord(t, pg.Address("postgres"))
		})
	}
}

// TestThreeGatewaysShareFewConnections: fewer than one of them would like to have.
func TestThreeGatewaysShareFewConnections(t *testing.T) {
	pg := testparts.OwnPostgres(t)
	if err := pg.Exec("postgres", "ALTER SYSTEM SET max_connections = 12"); err != nil {
		t.Fatal(err)
	}
	pg.Stop(t)
	pg.Start(t)
	underLoad(t, pg.Address("postgres"))
}

func TestThreeGatewaysBehindPgBouncer(t *testing.T) {
	pg := testparts.OwnPostgres(t)
	underLoad(t, pg.Bouncer(t, "postgres"))
}

// underLoad lets clients use three gateways on the store for a while. Nothing fails, and all is on record.
func underLoad(t *testing.T, dsn string) {
	t.Helper()
	f := newCluster(t, "store: "+dsn, "records: {durable: true}")
	l := startLoad(t, balancer(t, f.urls...).url, f.key)
	for range 3 {
		l.some(t)
	}
	l.end()
	checkLoad(t, l, f.servers, between{})
	for _, m := range f.all {
		m.stop(t) // so that one connection is free
	}
	l.onRecord(t, dsn)
}

// some waits until the clients have done everything once more.
func (l *load) some(t *testing.T) {
	t.Helper()
	before := l.count()
	eventually(t, "the clients go on", func() bool { return l.count() > before+16*len(loadTools) })
}

// ready waits until each gateway says so at /readyz. None names the store's address or user.
func (f *cluster) ready(t *testing.T, when, want string) {
	t.Helper()
	for _, url := range f.urls {
		said := ""
		eventually(t, when+": "+url+" is "+want, func() bool {
			resp, err := plainHTTP.Get(url + "/readyz")
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			said = fmt.Sprintf("%d %s", resp.StatusCode, body)
			if namesStore.MatchString(said) {
				t.Errorf("%s: %s", when, said)
			}
			return strings.HasPrefix(said, want)
		})
	}
}

// namesStore finds the address or the user of the store in a text.
var namesStore = regexp.MustCompile(`127\.0\.0\.1|localhost|loopback-only|user[= ]|"toolfit"|postgres:`)

// checkStoreLoad looks at what clients were told while the store was away.
func checkStoreLoad(t *testing.T, l *load, servers map[string]*heldServer, durable bool) {
	t.Helper()
	refused := 0
	wrong := 0
	for _, r := range l.done {
		for _, e := range r.Errors {
			if namesStore.MatchString(e) {
				t.Errorf("%s: %s", r.N, e)
			}
		}
		checkSent(t, &r, servers)
		if !r.failed() {
			continue
		}
		if durable && !r.reads() && storeRefuses.MatchString(r.Errors[0]) && acted(&r, servers) == 0 {
			refused++
			continue
		}
		if wrong++; wrong <= 10 {
			t.Errorf("%s after %d ms: %q", r.N, r.To-r.From, r.Errors)
		}
	}
	slowest := slices.MaxFunc(l.done, func(a, b request) int { return int(a.To - a.From - b.To + b.From) })
	t.Logf("%d requests, %d refused, %d not as they should; the slowest took %d ms: %s", len(l.done), refused, wrong,
		slowest.To-slowest.From, slowest.N)
}

// storeRefuses is what a caller is told of a call that is not sent because it could not be recorded.
var storeRefuses = regexp.MustCompile(`store`)
