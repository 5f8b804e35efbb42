package direct

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// dialed counts the connections of a transport, and those that are open.
type dialed struct {
	*Transport
	all, open atomic.Int64
}

type counted struct {
	*net.TCPConn
	closed func()
}

func (c counted) Close() error {
	c.closed()
	return c.TCPConn.Close()
}

func newDialed(t *testing.T) *dialed {
	d := &dialed{}
	d.Transport = New(&http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			d.all.Add(1)
			d.open.Add(1)
			return counted{c.(*net.TCPConn), sync.OnceFunc(func() { d.open.Add(-1) })}, nil
		},
		MaxIdleConns: 10, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 12,
	})
	t.Cleanup(func() {
		d.CloseIdleConnections()
		if n := d.open.Load(); n != 0 {
			t.Errorf("%d connections are left open", n)
		}
	})
	return d
}

func (d *dialed) post(ctx context.Context, to, body string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Mcp-Method", "tools/call")
	resp, err := d.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp, string(got), err
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Query().Has("chunked") {
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(w, "%s %s %s %s", r.Host, r.RequestURI, r.Header.Get("Mcp-Method"), body)
}

func TestRequestsArriveAndShareAConnection(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(echo))
	defer srv.Close()
	d := newDialed(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, query := range []string{"", "?chunked", "?q=%20"} {
		resp, got, err := d.post(t.Context(), srv.URL+"/mcp"+query, "héllo")
		if want := host + " /mcp" + query + " tools/call héllo"; err != nil || got != want || resp.StatusCode != 200 {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if n := d.all.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestConcurrentRequestsHaveConnectionsOfTheirOwn(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(echo))
	defer srv.Close()
	d := newDialed(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 50 {
				body := fmt.Sprintf("%d of %d", n, i)
				if _, got, err := d.post(t.Context(), srv.URL, body); err != nil || !strings.HasSuffix(got, " "+body) {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
	if n := d.open.Load(); n > 4 {
		t.Errorf("%d connections are kept", n)
	}
}

// raw is a server that answers each connection by hand; n counts them from 1.
func raw(t *testing.T, serve func(n int, c net.Conn, in *bufio.Reader)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(n, c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

func read(in *bufio.Reader) bool {
	r, err := http.ReadRequest(in)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return err == nil
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestAnswersThatEndAConnection(t *testing.T) {
	for name, answer := range map[string]string{
		"it says so":             "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
		"an old server":          "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"more than was promised": ok + "HTTP/1.1 200 OK\r\n",
		"closed after it":        ok,
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{}, 10)
			to := raw(t, func(_ int, c net.Conn, in *bufio.Reader) {
				read(in)
				io.WriteString(c, answer)
				c.Close()
				closed <- struct{}{}
			})
			d := newDialed(t)
			for range 3 {
				if _, got, err := d.post(t.Context(), to, "x"); err != nil || got != "ok" {
					t.Errorf("got %q, %v", got, err)
				}
				<-closed
			}
			if n := d.all.Load(); n != 3 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestAnswersAreReadToTheirEnd(t *testing.T) {
	for name, c := range map[string]struct{ answer, want, err string }{
		"after others":      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok, "ok", ""},
		"none":              {"", "", "EOF"},
		"cut off":           {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", "ok", "unexpected EOF"},
		"cut off in a head": {"HTTP/1.1 200 OK\r\nContent-", "", "Content-"},
		"TLS":               {"\x15\x03\x01\x00\x02\x02\x50\r\n\r\n", "", `malformed HTTP response "\x15\x03`},
		"a long head":       {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<13) + "\r\n\r\n", "", "too long"},
		"never":             {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 9), "", "does not come"},
		"another protocol":  {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "", "another protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			to := raw(t, func(_ int, conn net.Conn, in *bufio.Reader) {
				read(in)
				io.WriteString(conn, c.answer)
			})
			_, got, err := newDialed(t).post(t.Context(), to, "x")
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestAClosedConnectionIsNotUsedAgain: the next request must not find out by itself, for it may not be sent twice.
func TestAClosedConnectionIsNotUsedAgain(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(echo))
	defer srv.Close()
	d := newDialed(t)
	for range 20 {
		if _, _, err := d.post(t.Context(), srv.URL, "x"); err != nil {
			t.Fatal(err)
		}
		srv.CloseClientConnections()
	}
}

func TestACanceledRequestEndsItsConnection(t *testing.T) {
	for name, begin := range map[string]string{"before the head": "", "within the body": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			to := raw(t, func(n int, c net.Conn, in *bufio.Reader) {
				read(in)
				if n > 1 {
					io.WriteString(c, ok)
					return
				}
				io.WriteString(c, begin)
				cancel()
				io.Copy(io.Discard, in) // until the other side closes it
			})
			d := newDialed(t)
			if _, _, err := d.post(ctx, to, "x"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if _, got, err := d.post(t.Context(), to, "x"); err != nil || got != "ok" {
				t.Errorf("then %q, %v", got, err)
			}
		})
	}
}

func TestAnAnswerThatIsNotReadClosesItsConnection(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, 1<<20))
	}))
	defer srv.Close()
	d := newDialed(t)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader("x"))
	resp, err := d.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if n := d.open.Load(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); err != http.ErrBodyReadAfterClose {
		t.Errorf("then %v", err)
	}
}

func TestAnUnusedConnectionIsClosed(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(echo))
	defer srv.Close()
	d := newDialed(t)
	d.post(t.Context(), srv.URL, "x")
	d.IdleConnTimeout = 0
	d.sweep()
	if n := d.open.Load(); n != 0 || d.count != 0 || d.timer != nil {
		t.Errorf("%d connections are open, %d counted", n, d.count)
	}
}

func TestWhatIsNotShortAndPlainGoesToTheTransportBehind(t *testing.T) {
	proxied, _ := url.Parse("http://proxied/")
	d := New(&http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if r.URL.Host == "proxied" {
				return proxied, nil
			}
			return nil, nil
		},
		DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("not dialed") },
	})
	behind := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GetConn: func(string) { behind = true }})
	for name, c := range map[string]struct {
		method, url, header, value, body string
		direct                           bool
	}{
		"plain":         {"POST", "http://h/", "", "", "x", true},
		"TLS":           {"POST", "https://h/", "", "", "x", false},
		"GET":           {"GET", "http://h/", "", "", "", false},
		"proxy":         {"POST", "http://proxied/", "", "", "x", false},
		"long":          {"POST", "http://h/", "", "", strings.Repeat("x", maxBody+1), false},
		"zone":          {"POST", "http://[fe80::1%25eth0]/", "", "", "x", false},
		"odd header":    {"POST", "http://h/", "X_Y", "1", "x", false},
		"upgrade":       {"POST", "http://h/", "Upgrade", "x", "x", false},
		"broken header": {"POST", "http://h/", "X", "a\r\nb: c", "x", false},
	} {
		req, err := http.NewRequestWithContext(ctx, c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			req.Header[c.header] = []string{c.value}
		}
		behind = false
		if _, err = d.RoundTrip(req); err == nil || behind == c.direct && name != "broken header" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkPost(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(echo))
	defer srv.Close()
	for name, rt := range map[string]http.RoundTripper{"direct": New(&http.Transport{
		DialContext: (&net.Dialer{}).DialContext, MaxIdleConns: 9, MaxIdleConnsPerHost: 9, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 12,
	}), "transport": &http.Transport{}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req, _ := http.NewRequest(http.MethodPost, srv.URL, strings.NewReader("x"))
				resp, err := rt.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
