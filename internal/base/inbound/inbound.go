// Package inbound accepts connections to the gateway's port, and to the socket for commands of its
// own user. It knows which user of this machine is at the other end, ends requests whose body
// does not arrive, and reserves connections for health checks. It never reads a request itself.
//
//	l := inbound.Listen(tcp, nil)
//	srv := &http.Server{Handler: l.Guard(h, isHealthCheck), ConnContext: inbound.ConnContext, ConnState: inbound.ConnState}
//	err := srv.Serve(l)
package inbound

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/repeat"
)

// Options change the limits of a Listener. Nil means all zero.
type Options struct {
	MaxConns int              // connections served at once; 0: as many as the limit on open files allows
	Reserve  int              // connections beyond that, only for health checks; 0: 64
	Now      func() time.Time // nil: time.Now
}

const (
	defaultReserve = 64
	bodyWithin     = 30 * time.Second // for a body to arrive, longer for a large one
	slowest        = 64 << 10         // bytes a second of a large body
	sweepEvery     = time.Second
)

// Listener is a TCP listener that watches its connections.
type Listener struct {
	net.Listener
	max, reserve int
	now          func() time.Time

	mu    sync.Mutex
	conns map[*Conn]struct{}
	done  chan struct{}
	once  sync.Once
}

// Listen watches the connections of l. Close ends the watching.
func Listen(l net.Listener, opts *Options) *Listener {
	if opts == nil {
		opts = &Options{}
	}
	w := &Listener{Listener: l, now: opts.Now, conns: map[*Conn]struct{}{}, done: make(chan struct{})}
	w.max = cmp.Or(opts.MaxConns, maxConns())
	w.reserve = cmp.Or(opts.Reserve, defaultReserve)
	if w.now == nil {
		w.now = time.Now
	}
	go w.sweep()
	return w
}

// maxConns leaves a quarter of the open files for servers, the store and the reserve.
func maxConns() int {
	files := openFiles()
	if files == 0 {
		return 1 << 20 // the system has no such limit
	}
	return max(16, files-max(2*defaultReserve, files/4))
}

// Accept waits for a connection. At the limit, the connection that has waited longest for a
// request is closed if it had a second; else the new one is only for health checks. Beyond the
// reserve there is no such second.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := c.(*net.TCPConn)
		if !ok {
			return c, nil
		}
		conn := &Conn{TCPConn: tcp, listener: l}
		conn.waiting.Store(l.now().UnixNano())
		if l.enter(conn) {
			return conn, nil
		}
		c.Close()
	}
}

func (l *Listener) enter(conn *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.conns) >= l.max && l.evict(sweepEvery) {
	}
	if len(l.conns) >= l.max+l.reserve && !l.evict(0) {
		return false
	}
	conn.crowded = len(l.conns) >= l.max
	l.conns[conn] = struct{}{}
	return true
}

// Busy is the number of connections whose request has arrived and is not answered.
func (l *Listener) Busy() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.waiting.Load() == 0 {
			n++
		}
	}
	return n
}

// evict closes the connection that has waited longest for a request or the rest of one, and at
// least for the grace. The caller holds mu.
func (l *Listener) evict(grace time.Duration) bool {
	var found *Conn
	oldest := l.now().Add(-grace).UnixNano()
	for c := range l.conns {
		if since := c.waiting.Load(); since != 0 && since <= oldest {
			found = c
			oldest = since
		}
	}
	if found == nil {
		return false
	}
	found.TCPConn.Close()
	delete(l.conns, found)
	return true
}

// Close closes the listener and stops the sweep.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// sweep ends connections whose body takes too long. http.Server limits headers.
func (l *Listener) sweep() { repeat.Every(l.done, sweepEvery, l.endSlow) }

func (l *Listener) endSlow() {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if until := c.bodyUntil.Load(); until != 0 && until < now.UnixNano() {
			c.SetReadDeadline(time.Unix(1, 0)) // the reader of the body gets an error
		}
	}
}

// Conn is one connection. HTTP/1 serves its requests one after another.
type Conn struct {
	*net.TCPConn
	listener *Listener
	crowded  bool // only for health checks

	waiting   atomic.Int64 // since when it waits for a request, or the rest of one; 0: it does not
	bodyUntil atomic.Int64 // deadline of the body; 0: none
	body      body
	holding
	peer sync.Once
	user User
}

// Close closes the connection and forgets it.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.TCPConn.Close()
}

// ConnState is for http.Server: it records that a connection waits for its next request, and lets go of the last one. One
// that a handler had taken and given back is new to the server.
func ConnState(c net.Conn, state http.ConnState) {
	if conn, ok := c.(*Conn); ok && (state == http.StateIdle || state == http.StateNew) {
		conn.waiting.Store(conn.listener.now().UnixNano())
		conn.bodyUntil.Store(0)
		conn.body = body{}
	}
}

type connKey struct{}

// ConnContext is for http.Server: it puts the connection into the context of its requests.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if conn, ok := c.(*Conn); ok {
		return context.WithValue(ctx, connKey{}, conn)
	}
	return ctx
}

func connOf(r *http.Request) *Conn {
	c, _ := r.Context().Value(connKey{}).(*Conn)
	return c
}

// Guard watches the bodies of requests to h. On connections beyond the limit it serves only
// health checks.
func (l *Listener) Guard(h http.Handler, isHealthCheck func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connOf(r)
		if c == nil {
			h.ServeHTTP(w, r)
			return
		}
		if c.crowded {
			w.Header().Set("Connection", "close")
		}
		if c.crowded && !isHealthCheck(r) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many open connections", http.StatusServiceUnavailable)
			return
		}
		if r.ContentLength == 0 {
			c.arrived()
			h.ServeHTTP(w, r)
			return
		}
		c.bodyUntil.Store(l.now().Add(bodyWithin + time.Duration(max(0, r.ContentLength)/slowest)*time.Second).UnixNano())
		arriving := r.Body
		c.body = body{arriving, c}
		r.Body = &c.body
		h.ServeHTTP(w, r) // may have given the connection back already: it then serves another request
		r.Body = arriving // by it the server decides whether to reuse the connection
	})
}

// body notices when a body has arrived. It is part of its connection to avoid an allocation.
type body struct {
	inner io.ReadCloser
	conn  *Conn
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p)
	if err != nil {
		b.conn.arrived()
	}
	return n, err
}

func (b *body) Close() error {
	err := b.inner.Close()
	b.conn.arrived()
	return err
}

func (c *Conn) arrived() {
	c.waiting.Store(0)
	c.bodyUntil.Store(0)
}
