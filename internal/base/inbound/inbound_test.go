package inbound

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// serve answers on a watched listener; reading a body is all that its handler does.
func serve(t *testing.T, opts *Options) *Listener {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Listen(tcp, opts)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "cut", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%d bytes from %d", len(body), Peer(r))
	})
	srv := &http.Server{
		Handler:     l.Guard(handler, func(r *http.Request) bool { return r.URL.Path == "/healthz" }),
		ConnContext: ConnContext, ConnState: ConnState,
	}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return l
}

// dial opens a connection and sends the beginning of a request.
func dial(t *testing.T, l *Listener, beginning string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, beginning); err != nil {
		t.Fatal(err)
	}
	return c
}

// get asks on a connection of its own.
func get(t *testing.T, l *Listener, path string) (int, string) {
	t.Helper()
	c := dial(t, l, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	c.SetReadDeadline(time.Now().Add(time.Minute))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// waitFor waits until so many connections are held.
func waitFor(t *testing.T, l *Listener, n int) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		held := len(l.conns)
		l.mu.Unlock()
		if held == n {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d connections are held, want %d", held, n)
		}
	}
}

func TestHealthChecksAreAnsweredWhileAllConnectionsAreTaken(t *testing.T) {
	fixed := time.Now()
	l := serve(t, &Options{MaxConns: 4, Reserve: 2, Now: func() time.Time { return fixed }}) // nobody has waited long enough to make room
	for range 4 {
		dial(t, l, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1")
	}
	waitFor(t, l, 4)
	if status, body := get(t, l, "/healthz"); status != http.StatusOK {
		t.Errorf("a health check: %d %s", status, body)
	}
	waitFor(t, l, 4)
	if status, _ := get(t, l, "/"); status != http.StatusServiceUnavailable {
		t.Errorf("another request: %d", status)
	}
	waitFor(t, l, 4)
	dial(t, l, "GET")
	dial(t, l, "GET")
	waitFor(t, l, 6)
	if status, _ := get(t, l, "/healthz"); status != http.StatusOK { // whoever waits makes room
		t.Errorf("a health check beyond the reserve: %d", status)
	}
}

func TestWhoNeverFinishesARequestMakesRoom(t *testing.T) {
	now := time.Now()
	l := serve(t, &Options{MaxConns: 4, Reserve: 1, Now: func() time.Time { return now }})
	for range 4 {
		dial(t, l, "GET / HTT")
	}
	waitFor(t, l, 4)
	l.mu.Lock()
	for c := range l.conns {
		c.waiting.Store(now.Add(-2 * time.Second).UnixNano())
	}
	l.mu.Unlock()
	for range 8 { // each comes to a full house
		if status, body := get(t, l, "/"); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
}

func TestABodyHasADeadline(t *testing.T) {
	l := serve(t, nil)
	slow := dial(t, l, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
	waitFor(t, l, 1)
	l.mu.Lock()
	var c *Conn
	for c = range l.conns {
	}
	l.mu.Unlock()
	for c.bodyUntil.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if left := time.Until(time.Unix(0, c.bodyUntil.Load())); left < bodyWithin/2 || left > bodyWithin {
		t.Errorf("it may take %v more", left)
	}
	c.bodyUntil.Store(1) // its time has come
	slow.SetReadDeadline(time.Now().Add(time.Minute))
	answer, err := io.ReadAll(slow)
	if err != nil || !strings.Contains(string(answer), "400") {
		t.Errorf("got %q, %v", answer, err)
	}
}

func TestAConnectionIsUsedAgainAfterItsBody(t *testing.T) {
	l := serve(t, nil)
	c := dial(t, l, "")
	in := bufio.NewReader(c)
	for range 3 {
		io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345")
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); !strings.HasPrefix(string(body), "5 bytes") {
			t.Errorf("got %q", body)
		}
	}
	waitFor(t, l, 1)
	c.Close()
	waitFor(t, l, 0)
}

func TestOurOwnConnectionsAreOfTheSameUser(t *testing.T) {
	want := Unknown
	if CanIdentify() {
		want = SameUser
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		tcp, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("no %s here: %v", address, err)
			continue
		}
		l := Listen(tcp, nil)
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got := peer(conn.LocalAddr().String(), conn.RemoteAddr().String()); got != want {
			t.Errorf("%s: got %v, want %v", address, got, want)
		}
		if got := ListenerUser(netip.MustParseAddrPort(l.Addr().String())); got != want {
			t.Errorf("listener %s: got %v, want %v", address, got, want)
		}
		at := conn.RemoteAddr().String()
		client.Close()
		conn.Close()
		l.Close()
		if got := peer(l.Addr().String(), at); CanIdentify() && got == SameUser {
			t.Errorf("%s: a closed connection still has a user", address)
		}
	}
	if got := peer("10.0.0.1:1", "10.0.0.2:2"); got != Unknown {
		t.Errorf("another machine has a user here: %v", got)
	}
}

func BenchmarkGuard(b *testing.B) {
	l := Listen(nil, nil)
	defer close(l.done)
	c := &Conn{listener: l}
	r, _ := http.NewRequest("POST", "/", strings.NewReader("{}"))
	r = r.WithContext(ConnContext(b.Context(), c))
	h := l.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { r.Body.Close() }), func(*http.Request) bool { return false })
	body := r.Body
	b.ReportAllocs()
	for b.Loop() {
		r.Body = body
		h.ServeHTTP(nil, r)
	}
}
