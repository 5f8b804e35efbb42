package store

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// wire passes connections on to an address until it falls silent: then they stay open,
// and nothing comes through any more.
type wire struct {
	net.Listener
	target string

	mu     sync.Mutex
	silent bool
	conns  []net.Conn
}

func (w *wire) serve() {
	for {
		in, err := w.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", w.target)
		if err != nil {
			in.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, in, out)
		w.mu.Unlock()
		go io.Copy(gate{w, in}, out)
		go io.Copy(gate{w, out}, in)
	}
}

func (w *wire) setSilent(silent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = silent
}

func (w *wire) close() {
	w.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.Close()
	}
}

// gate drops what it is given while the wire is silent.
type gate struct {
	w  *wire
	to net.Conn
}

func (g gate) Write(b []byte) (int, error) {
	g.w.mu.Lock()
	silent := g.w.silent
	g.w.mu.Unlock()
	if silent {
		return len(b), nil
	}
	return g.to.Write(b)
}

func TestSilentNetworkHoldsNobodyForLong(t *testing.T) {
	u, err := url.Parse(testparts.NeedPostgres(t).Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, target: u.Host}
	defer w.close()
	go w.serve()
	u.Host = l.Addr().String()
	s, err := Open(t.Context(), u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	calls := []Call{{ID: "c_1"}}
	if err := s.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	w.setSilent(true)
	s.dialect.timeout = 300 * time.Millisecond
	_, readErr := s.Servers(t.Context())
	for _, err := range []error{readErr, s.AppendCalls(t.Context(), calls), s.SaveTools(t.Context(), Server{ID: "a"}),
		s.SaveCheck(t.Context(), "a", time.Time{}, "")} {
		if f := fault.As(err); err == nil || f.Hint == "" || !strings.Contains(f.Message, "in time") {
			t.Fatalf("got %v, want a fault that says it does not answer in time", err)
		}
	}
	w.setSilent(false)
	s.dialect.timeout = methodTimeout
	if err := s.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveTools(t.Context(), Server{ID: "a"}); err != nil {
		t.Fatal(err)
	}
}
