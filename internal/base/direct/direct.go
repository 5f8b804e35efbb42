// Package direct carries short HTTP/1.1 requests over plain TCP in the caller's own goroutine. [http.Transport] has two
// goroutines for each connection, and hands each request and answer over to them; on a call through the gateway that costs
// more than everything the gateway does itself. What is not short and plain (TLS, proxies, streams of the caller, long
// bodies) goes to the transport behind it, and so does everything on systems where a dead connection cannot be told.
// Answers are read by [http.ReadResponse].
//
//	t := direct.New(&http.Transport{…})
//	resp, err := t.RoundTrip(req)
package direct

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// maxBody limits what is sent before the answer is read: a server that answers without reading must not block us.
const maxBody = 32 << 10

// Transport is an [http.Transport] that sends what it can by itself, with the same limits.
type Transport struct {
	*http.Transport

	mu    sync.Mutex
	hosts map[string]*host
	count int         // of idle connections
	timer *time.Timer // closes those that were idle for too long; nil: there are none
}

// host is where connections lead.
type host struct {
	address string
	plain   bool    // no proxy is before it
	idle    []*conn // guarded by Transport.mu; the last was used last
}

// New makes a Transport with the options of the one behind it.
func New(behind *http.Transport) *Transport {
	return &Transport{Transport: behind, hosts: map[string]*host{}}
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !canCheck || req.Method != http.MethodPost || req.Body == nil || req.ContentLength < 0 || req.ContentLength > maxBody || req.Close {
		return t.Transport.RoundTrip(req)
	}
	h := t.host(req.URL)
	if !h.plain {
		return t.Transport.RoundTrip(req)
	}
	message := messages.Get().(*[]byte)
	defer messages.Put(message)
	var ok bool
	if *message, ok = appendHead((*message)[:0], req); !ok {
		return t.Transport.RoundTrip(req)
	}
	var err error
	if *message, err = appendBody(*message, req); err != nil {
		return nil, err
	}
	for {
		c, reused, err := t.connect(req.Context(), h)
		if err != nil {
			return nil, err
		}
		resp, unsent, err := c.exchange(req, *message)
		if unsent && reused {
			continue // it was closed meanwhile
		}
		return resp, err
	}
}

var messages = sync.Pool{New: func() any { return new([]byte) }}

// host finds what is known of the host of an address.
func (t *Transport) host(u *url.URL) *host {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u.Scheme != "http" {
		return &host{}
	}
	h := t.hosts[u.Host]
	if h == nil {
		h = &host{address: u.Host, plain: isPlainHost(u.Host)}
		if u.Port() == "" {
			h.address = net.JoinHostPort(u.Hostname(), "80")
		}
		if t.Proxy != nil {
			proxy, err := t.Proxy(&http.Request{URL: u})
			h.plain = h.plain && proxy == nil && err == nil
		}
		t.hosts[u.Host] = h
	}
	return h
}

// isPlainHost tells whether a host is sent as it is written.
func isPlainHost(host string) bool {
	return host != "" && strings.IndexFunc(host, func(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune("%/\\@", r) }) < 0
}

// connect returns a connection that was used before, or a new one.
func (t *Transport) connect(ctx context.Context, h *host) (c *conn, reused bool, err error) {
	if c := t.take(h); c != nil {
		return c, true, nil
	}
	tcp, err := t.DialContext(ctx, "tcp", h.address)
	if err != nil {
		return nil, false, err
	}
	c, err = newConn(t, h, tcp)
	return c, false, err
}

// take takes the connection that was used last; nil: there is none.
func (t *Transport) take(h *host) *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	c := h.idle[last]
	h.idle[last] = nil
	h.idle = h.idle[:last]
	t.count--
	return c
}

// keep keeps a connection for the next request, or closes it if there are enough.
func (t *Transport) keep(c *conn) {
	c.since = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(c.host.idle) >= t.MaxIdleConnsPerHost || t.count >= t.MaxIdleConns {
		c.Close()
		return
	}
	c.host.idle = append(c.host.idle, c)
	t.count++
	if t.timer == nil {
		t.timer = time.AfterFunc(t.IdleConnTimeout, t.sweep)
	}
}

// sweep closes what was idle for too long.
func (t *Transport) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeIdle(time.Now().Add(-t.IdleConnTimeout))
	if t.timer = nil; t.count > 0 {
		t.timer = time.AfterFunc(t.IdleConnTimeout/2, t.sweep)
	}
}

// closeIdle closes the connections that have not been used since then. The caller holds mu.
func (t *Transport) closeIdle(then time.Time) {
	for _, h := range t.hosts {
		n := 0
		for n < len(h.idle) && !h.idle[n].since.After(then) {
			h.idle[n].Close()
			n++
		}
		h.idle = append(h.idle[:0:0], h.idle[n:]...)
		t.count -= n
	}
}

// CloseIdleConnections closes the connections that no request uses.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	t.closeIdle(time.Now())
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.mu.Unlock()
	t.Transport.CloseIdleConnections()
}
