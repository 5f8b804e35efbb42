package e2e

import (
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// member is one of several gateways as a process. It keeps its address.
type member struct {
	*running
	path, addr string
}

// start starts the gateway, or starts it again.
func (m *member) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command(program(t), "serve", "--config", m.path, "--listen", m.addr)
	cmd.Env = append(os.Environ(), "TOOLFIT_SECRET_KEY="+replicaKey, "TOOLFIT_REPLICA_URL=http://"+m.addr)
	m.running = runCommand(t, cmd)
}

// stop stops the gateway as an upgrade does.
func (m *member) stop(t *testing.T) {
	t.Helper()
	if err := m.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.waitExit(t)
	if code := m.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, m.said)
	}
}

// cluster is several gateways on one store, with servers of both eras behind them that count what they get.
type cluster struct {
	all     []*member
	urls    []string
	servers map[string]*heldServer
	key     string
}

// newCluster starts three gateways. The lines are of their configuration.
func newCluster(t *testing.T, yaml ...string) *cluster {
	t.Helper()
	f := &cluster{servers: map[string]*heldServer{"old": newHeldServer(t, false), "new": newHeldServer(t, true)}}
	yaml = append(yaml, "mcpServers:", "  old: {url: "+f.servers["old"].URL+"}", "  new: {url: "+f.servers["new"].URL+"}")
	path := write(t, lines(yaml...))
	f.key = newKey(t, path, "agent", "default", "admin")
	for range 3 {
		m := &member{path: path, addr: freeAddress(t)}
		m.start(t)
		awaitTools(t, m.url, f.key)
		f.all = append(f.all, m)
		f.urls = append(f.urls, m.url)
	}
	return f
}

func (f *cluster) hosts() (all []string) {
	for _, m := range f.all {
		all = append(all, m.addr)
	}
	return all
}

// between are the moments around a kill.
type between struct{ from, to int64 }

// TestClientsGoOnWhileGatewaysAreKilledAndRolled: what may be made again succeeds, what acts is sent once,
// and what was answered is on record.
func TestClientsGoOnWhileGatewaysAreKilledAndRolled(t *testing.T) {
	t.Run("plain balancer", func(t *testing.T) {
		rolled(t, func(f *cluster) string { return balancer(t, f.urls...).url })
	})
	if *longCalls {
		t.Run("nginx", func(t *testing.T) {
			rolled(t, func(f *cluster) string { return nginxBalancer(t, f.hosts()...) })
		})
	}
}

// rolled kills one of three gateways behind a balancer, starts it again, and then restarts all, with clients at work.
func rolled(t *testing.T, balance func(*cluster) (url string)) {
	pause := 500 * time.Millisecond
	if *longCalls {
		pause = 10 * time.Second
	}
	dsn := testparts.NeedPostgres(t).Schema(t)
	f := newCluster(t, "store: "+dsn, "records: {durable: true}", "replica: {drain: 5s}") // a loaded machine takes its time
	l := startLoad(t, balance(f), f.key)
	killed := between{from: time.Now().UnixMilli()}
	f.all[0].kill(t)
	killed.to = time.Now().UnixMilli()
	time.Sleep(pause)
	f.all[0].start(t)
	time.Sleep(pause)
	for _, m := range f.all {
		m.stop(t)
		m.start(t)
		time.Sleep(pause)
	}
	before := l.count()
	time.Sleep(pause)
	if l.count() < before+8 {
		t.Errorf("%d requests after the last restart: not all clients go on", l.count()-before)
	}
	l.end()
	checkLoad(t, l, f.servers, killed)
	l.onRecord(t, dsn)
}

// checkLoad looks at what clients were told, and what the servers got.
func checkLoad(t *testing.T, l *load, servers map[string]*heldServer, killed between) {
	t.Helper()
	kinds := map[string]int{}
	last := map[string]string{}
	again := 0
	unknown := 0
	undelivered := 0
	wrong := 0
	for _, r := range l.done {
		kinds[r.Kind]++
		last[r.Kind] = strings.Join(r.Errors, "; ")
		if !r.failed() {
			again += len(r.Errors)
		}
		if r.failed() && !r.reads() && !r.crossed(killed) && sent(&r, servers) == 0 && undelivered < 2 {
			undelivered++ // its connection was not yet accepted when the port was closed
			t.Logf("not delivered: %s after %d ms: %s", r.N, r.To-r.From, r.Errors[0])
			continue
		}
		if r.failed() && (r.reads() || !r.crossed(killed)) {
			wrong++
			if wrong > 10 {
				continue
			}
			t.Errorf("%s after %d ms: %s", r.N, r.To-r.From, strings.Join(r.Errors, "; "))
		} else if r.failed() {
			unknown++
			t.Logf("in flight at a kill: %s after %d ms: %s", r.N, r.To-r.From, r.Errors[0])
		}
		checkSent(t, &r, servers)
	}
	t.Logf("%d requests (%v), %d made again, %d with an unknown end, %d not as they should", len(l.done), kinds, again, unknown, wrong)
	for _, kind := range loadKinds {
		if kinds[kind] == 0 || last[kind] != "" {
			t.Errorf("%s: %d requests, the last one %q", kind, kinds[kind], last[kind])
		}
	}
}

// crossed tells whether a request was open at the moment.
func (r *request) crossed(k between) bool { return r.From <= k.to && r.To >= k.from }

// sent is how often a call came to its server.
func sent(r *request, servers map[string]*heldServer) int {
	server, tool, _ := strings.Cut(r.Tool, "__")
	return servers[server].saw(tool + " " + r.N)
}

// acted is how often a call came to its server with all that it needs.
func acted(r *request, servers map[string]*heldServer) int {
	if r.Tool == "new__ask" {
		return servers["new"].saw("answer " + r.N)
	}
	return sent(r, servers)
}

// checkSent looks how often a request came to its server.
func checkSent(t *testing.T, r *request, servers map[string]*heldServer) {
	t.Helper()
	server, tool, found := strings.Cut(r.Tool, "__")
	if !found {
		return
	}
	times := map[string]int{tool: servers[server].saw(tool + " " + r.N)}
	if tool == "ask" {
		times["answer"] = servers[server].saw("answer " + r.N)
	}
	for what, n := range maps.All(times) {
		least := 1
		if r.failed() {
			least = 0
		}
		if n < least || n > max(1, len(r.Errors)+1) && r.reads() || n > 1 && !r.reads() {
			t.Errorf("%s of %s came %d times; %q", what, r.N, n, r.Errors)
		}
	}
}

// onRecord looks whether each call that was answered is on record, once those that wait are written.
func (l *load) onRecord(t *testing.T, dsn string) {
	t.Helper()
	var lost []string
	for began := time.Now(); ; time.Sleep(time.Second) {
		recorded := recordedSessions(t, dsn)
		lost = nil
		for _, r := range l.done {
			if r.Tool != "list" && !r.failed() && !r.Lost && !recorded[r.N] {
				lost = append(lost, r.N)
			}
		}
		if len(lost) == 0 {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Errorf("%d of %d answered and not on record: %v", len(lost), len(l.done), lost)
			return
		}
	}
}
