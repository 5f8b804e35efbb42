//go:build unix

package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// ledger is the store of several pools: who has which seat.
type ledger struct {
	mu    sync.Mutex
	seats map[string]*entry
	urls  map[string]string // of the pools
	down  error             // of the store
}

type entry struct {
	at   string
	data []byte
}

func newLedger() *ledger { return &ledger{seats: map[string]*entry{}, urls: map[string]string{}} }

// rows are the seats that are taken.
func (l *ledger) rows() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.seats)
}

// give makes another the holder of all seats.
func (l *ledger) give(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.seats {
		e.at = to
	}
}

// seats are those of one pool.
type seats struct {
	*ledger
	self string
	late bool // it has had no heartbeat
}

func (s *seats) Claim(_ context.Context, name, gone string) (string, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return "", nil, s.down
	}
	e := s.seats[name]
	if e == nil {
		e = &entry{at: s.self}
		s.seats[name] = e
	}
	if e.at == gone || s.urls[e.at] == "" {
		e.at = s.self
	}
	if e.at == s.self {
		return "", e.data, nil
	}
	return e.at, e.data, nil
}

func (s *seats) Store(_ context.Context, name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.seats[name]; e != nil && e.at == s.self {
		e.data = data
	}
	return s.down
}

func (s *seats) Drop(_ context.Context, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.seats[name]; e != nil && e.at == s.self {
		delete(s.seats, name)
	}
}

func (s *seats) Holds(_ context.Context, at string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.urls[cmp.Or(at, s.self)] != "" && (at != "" || !s.late)
}

func (s *seats) Way(_ context.Context, at, _ string) (string, http.RoundTripper, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.urls[at], http.DefaultTransport, s.urls[at] != ""
}

// join adds a pool to those of the ledger.
func (l *ledger) join(t *testing.T, name string, servers ...config.Server) (*Pool, *seats, *clock) {
	t.Helper()
	s := &seats{ledger: l, self: name}
	p, c := newPool(t, &Options{Seats: s}, servers...)
	front := mcp.NewFront(mcp.NewSessions(nil), nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		front.Serve(w, r, mcp.Entry{Owner: "replica", Group: q.Get("session"), Info: func() mcp.Info { return mcp.Info{} },
			Handler: p.ServeSeat(tool.ServerID(q.Get("server")), q.Get("session"), "ann")})
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.urls[name] = srv.URL
	return p, s, c
}

// leave takes a pool's address away: nobody is there.
func (l *ledger) leave(name, url string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.urls[name] = url
}

func isolated(cfg config.Server) config.Server {
	cfg.Isolation = "session"
	return cfg
}

// callIn makes a call in session a.
func callIn(t *testing.T, p *Pool, id tool.ServerID, rawTool string) (string, error) {
	t.Helper()
	params := json.RawMessage(`{"name":"` + rawTool + `","arguments":{}}`)
	out, err := p.Call(t.Context(), Call{Server: id, Tool: rawTool, Params: params, Session: "a", Caller: "ann"})
	return string(out.Raw), err
}

func called(t *testing.T, p *Pool, id tool.ServerID, rawTool string) string {
	t.Helper()
	text, err := callIn(t, p, id, rawTool)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// isLost checks that the next call says that the state is gone, which is not made good by a retry.
func isLost(t *testing.T, p *Pool, id tool.ServerID) {
	t.Helper()
	_, err := callIn(t, p, id, "pid")
	if !fault.Is(err, fault.StateLost) || fault.NotActed(err) {
		t.Errorf("got %v, want that the state is gone", err)
	}
}

func TestAProcessThatEndsIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLedger()
	p, _, c := l.join(t, "one", isolated(badConfig("s", "plain")))
	pid := called(t, p, "s", "pid")
	s := p.all()[0]
	s.drop(s.live()[0]) // as when room is made for others
	isLost(t, p, "s")
	if again := called(t, p, "s", "pid"); again == pid {
		t.Error("the process lives on")
	}
	p.EndSession("a", 0)
	called(t, p, "s", "pid") // it has ended as it should
	c.advance(2 * time.Hour)
	s.closeIdle(c.now())
	until(t, "the seat is given up", func() bool { return l.rows() == 0 })
	called(t, p, "s", "pid")
}

func TestASeatOfAServerThatDoesNotStartIsGivenUp(t *testing.T) {
	t.Parallel()
	l := newLedger()
	p, _, _ := l.join(t, "one", isolated(config.Server{ID: "s", Command: "/nowhere/to/be/found"}))
	if _, err := callIn(t, p, "s", "pid"); !fault.Is(err, fault.UpstreamDown) || l.rows() != 0 {
		t.Errorf("%v; %d seats are taken", err, l.rows())
	}
}

func TestAStoreThatIsAwayLeavesSeatsWhereTheyAre(t *testing.T) {
	t.Parallel()
	l := newLedger()
	p, _, _ := l.join(t, "one", isolated(badConfig("s", "plain")), isolated(badConfig("other", "plain")))
	pid := called(t, p, "s", "pid")
	l.mu.Lock()
	l.down = errors.New("password=s3cret")
	l.mu.Unlock()
	if again := called(t, p, "s", "pid"); again != pid {
		t.Errorf("%s, then %s", pid, again)
	}
	_, err := callIn(t, p, "other", "pid")
	if !fault.Is(err, fault.StoreDown) || !fault.NotActed(err) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a seat that nobody knows of: %v", err)
	}
}

func TestASeatAtAnotherReplica(t *testing.T) {
	t.Parallel()
	l := newLedger()
	cfg := isolated(badConfig("s", "plain"))
	first, _, _ := l.join(t, "first", cfg)
	second, _, _ := l.join(t, "second", cfg)
	third, late, _ := l.join(t, "third", cfg)
	pid := called(t, first, "s", "pid")
	for _, p := range []*Pool{second, third, second, first} {
		if again := called(t, p, "s", "pid"); again != pid {
			t.Errorf("%s, then %s", pid, again)
		}
	}
	_, err := callIn(t, second, "s", "text error")
	here, errHere := callIn(t, first, "s", "text error")
	if (err == nil) != (errHere == nil) || err != nil && err.Error() != errHere.Error() {
		t.Errorf("an error of the server: %v there, %v (%s) here", err, errHere, here)
	}

	l.give("second") // which the first does not know yet
	if _, err := callIn(t, third, "s", "pid"); err != nil {
		t.Fatal(err) // its way to the first still works, which is sure of itself
	}
	first.CheckSeats(t.Context())
	until(t, "the process ends", func() bool { return !alive(pidIn(t, pid)) })
	isLost(t, third, "s")              // it finds the second, which has nothing
	pid = called(t, third, "s", "pid") // nobody had it, so it is here now
	if again := called(t, first, "s", "pid"); again != pid {
		t.Errorf("%s, then %s", pid, again)
	}

	l.give("first")
	l.mu.Lock()
	late.late = true
	l.mu.Unlock()
	isLost(t, third, "s") // it is no longer sure, and finds the first
	until(t, "the process ends", func() bool { return !alive(pidIn(t, pid)) })
	called(t, third, "s", "pid")
}

// pidIn is the process id in a result.
func pidIn(t *testing.T, text string) int {
	t.Helper()
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	pid, err := strconv.Atoi(digits)
	if err != nil || pid == os.Getpid() {
		t.Fatalf("no process id: %s", text)
	}
	return pid
}

func TestASeatWhoseReplicaHasGone(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"nobody listens": "http://127.0.0.1:1", "another is there": "", "it is dead": "-"} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
			t.Cleanup(other.Close)
			answers := newWeb(t, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
				writeJSON(w, m.ID, `{"content":[],"session":"`+r.Header.Get("Mcp-Session-Id")+`"}`)
			})
			cfgs := []config.Server{isolated(badConfig("s", "plain")), isolated(answers.config())}
			first, _, _ := l.join(t, "first", cfgs...)
			second, _, _ := l.join(t, "second", cfgs...)
			called(t, first, "s", "pid")
			if url == "-" {
				called(t, second, "s", "pid") // it knows where the seat is
			}
			if text := called(t, first, "bad", "t"); !strings.Contains(text, `"s1"`) {
				t.Fatal(text)
			}
			l.leave("first", strings.TrimPrefix(cmp.Or(url, other.URL), "-"))
			isLost(t, second, "s")
			called(t, second, "s", "pid")
			if text := called(t, second, "bad", "t"); !strings.Contains(text, `"s1"`) {
				t.Errorf("another session: %s", text)
			}
			first.Close()
			if text := called(t, second, "bad", "t"); !strings.Contains(text, `"s1"`) || len(answers.deleted) > 0 {
				t.Errorf("another session: %s; ended: %v", text, answers.deleted)
			}
		})
	}
}

func TestASessionThatTheServerHasForgottenIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLedger()
	forgets := true
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
		if forgets && r.Header.Get("Mcp-Session-Id") == "s1" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		writeJSON(w, m.ID, okResult)
	})
	p, _, _ := l.join(t, "one", isolated(s.config()))
	isLost(t, p, "bad")
	called(t, p, "bad", "t")
	if opened, _ := s.counts(); opened != 2 {
		t.Errorf("%d sessions", opened)
	}
}
