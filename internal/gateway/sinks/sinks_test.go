package sinks_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/sinks"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// receiver collects the numbers of the records that it has acknowledged, across restarts of its server.
type receiver struct {
	t     *testing.T
	mu    sync.Mutex
	seen  map[int64]bool
	grown chan struct{}
}

func newReceiver(t *testing.T) *receiver {
	return &receiver{t: t, seen: map[int64]bool{}, grown: make(chan struct{}, 1)}
}

func (r *receiver) take(records ...[]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, raw := range records {
		var one struct {
			Seq    int64
			Action string
		}
		if err := json.Unmarshal(raw, &one); err != nil || one.Action != "rule.save" {
			r.t.Errorf("this is no record: %.100s (%v)", raw, err)
		}
		r.seen[one.Seq] = true
	}
	select {
	case r.grown <- struct{}{}:
	default:
	}
}

// wait waits until all records up to a number are there.
func (r *receiver) wait(upTo int64) {
	for missing := true; missing; {
		select {
		case <-r.grown:
		case <-r.t.Context().Done():
			return
		}
		missing = false
		r.mu.Lock()
		for seq := int64(1); seq <= upTo; seq++ {
			missing = missing || !r.seen[seq]
		}
		r.mu.Unlock()
	}
}

const secret = "a secret of the webhook"

// serveHTTP receives webhooks and OTLP. With cut it dies after it has read a request, and before it answers.
func (r *receiver) serveHTTP(t *testing.T, address string, cut bool) (at string, stop func()) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	died := make(chan struct{})
	var once sync.Once
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if cut {
			once.Do(func() { close(died) })
			panic(http.ErrAbortHandler)
		}
		if req.URL.Path == "/v1/logs" {
			r.take(otlpRecords(t, body)...)
			return
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(req.Header.Get("Toolfit-Timestamp") + "." + string(body)))
		if req.Header.Get("Toolfit-Signature") != "v1="+hex.EncodeToString(mac.Sum(nil)) || req.Header.Get("X-Tenant") != "a" {
			t.Errorf("wrong headers: %v", req.Header)
		}
		var in struct{ Records []json.RawMessage }
		if err := json.Unmarshal(body, &in); err != nil {
			t.Error(err)
		}
		for _, one := range in.Records {
			r.take(one)
		}
	})}
	go srv.Serve(l)
	return l.Addr().String(), func() {
		if cut {
			<-died
		}
		srv.Close()
	}
}

func otlpRecords(t *testing.T, body []byte) (records [][]byte) {
	var in struct {
		ResourceLogs []struct {
			ScopeLogs []struct {
				LogRecords []struct {
					TimeUnixNano string
					Body         struct{ StringValue string }
				}
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		t.Error(err)
	}
	for _, one := range in.ResourceLogs[0].ScopeLogs[0].LogRecords {
		if _, err := strconv.ParseInt(one.TimeUnixNano, 10, 64); err != nil {
			t.Error(err)
		}
		records = append(records, []byte(one.Body.StringValue))
	}
	return records
}

// serveSyslog receives octet-counted messages. With cut it dies with the first connection, after it has read a part.
func (r *receiver) serveSyslog(t *testing.T, address string, cut bool) (at string, stop func()) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReaderSize(conn, 16)
			if cut {
				_, _ = in.ReadString(' ')
				conn.Close() // with unread data: the sender hears of it
				l.Close()
				return
			}
			for {
				n, err := in.ReadString(' ')
				if err != nil {
					break
				}
				size, err := strconv.Atoi(strings.TrimSpace(n))
				if err != nil {
					t.Errorf("no octet count: %q", n)
					break
				}
				message := make([]byte, size)
				if _, err := io.ReadFull(in, message); err != nil {
					break
				}
				head, record, _ := bytes.Cut(message, []byte(" audit - "))
				if !bytes.HasPrefix(head, []byte("<110>1 20")) || len(bytes.Fields(head)) != 5 {
					t.Errorf("head %q", head)
				}
				r.take(record)
			}
			conn.Close()
		}
	}()
	return l.Addr().String(), func() {
		if !cut {
			l.Close()
		}
		<-done
	}
}

func TestNothingIsLostWhenASinkAndTheGatewayAreRestarted(t *testing.T) {
	for _, kind := range []config.SinkKind{config.WebhookSink, config.OTLPSink, config.SyslogSink} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			dsn := filepath.Join(t.TempDir(), "toolfit.db")
			st := openStore(t, dsn)
			r := newReceiver(t)
			serve := r.serveHTTP
			cfg := config.Sink{Kind: kind, URL: "http://", Headers: map[string]string{"X-Tenant": "a"}, Secret: secret}
			if kind == config.SyslogSink {
				serve = r.serveSyslog
				cfg = config.Sink{Kind: kind, URL: "tcp://"}
			}
			address, died := serve(t, "127.0.0.1:0", true)
			cfg.URL += address
			addRecords(t, st, 150) // more than a batch
			where := newPositions(st)
			end := run(t, where, cfg)
			died()
			_, stop := serve(t, address, false)
			where.wait(150)
			end()
			addRecords(t, st, 3) // while nobody sends
			again := openStore(t, dsn)
			where = newPositions(again)
			end = run(t, where, cfg)
			addRecords(t, st, 3) // by another process
			where.wait(156)
			end()
			stop()
			r.wait(156)
			if where.first != 150 {
				t.Errorf("it went on from %d", where.first)
			}
		})
	}
}

func TestTwoGatewaysSendEachRecordOnce(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "toolfit.db")
	st := openStore(t, dsn)
	r := newReceiver(t)
	var mu sync.Mutex
	times := map[string]int{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		for _, one := range otlpRecords(t, body) {
			mu.Lock()
			times[string(one)]++
			mu.Unlock()
			r.take(one)
		}
	})}
	go srv.Serve(l)
	defer srv.Close()
	cfg := config.Sink{Kind: config.OTLPSink, URL: "http://" + l.Addr().String()}
	first, second := newPositions(st), newPositions(openStore(t, dsn))
	second.acked = first.acked
	endFirst := run(t, first, cfg)
	endSecond := run(t, second, cfg)
	for i := range 30 {
		addRecords(t, st, 1)
		r.wait(int64(i + 1))
	}
	first.wait(30) // what is sent and not acknowledged at the end is sent again
	endFirst()
	endSecond()
	if len(times) != 30 {
		t.Errorf("%d records", len(times))
	}
	for one, n := range times {
		if n != 1 {
			t.Errorf("sent %d times: %s", n, one)
		}
	}
}

func TestLongRecordsAreSentAFewAtATime(t *testing.T) {
	st := openStore(t, filepath.Join(t.TempDir(), "toolfit.db"))
	body, err := json.Marshal(strings.Repeat("x", 60<<10))
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		if _, err := st.SaveRule(t.Context(), store.Document{ID: "long", Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if _, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 3<<19)); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	}))
	defer srv.Close()
	where := newPositions(st)
	end := run(t, where, config.Sink{Kind: config.WebhookSink, URL: srv.URL, Secret: secret})
	where.wait(40)
	end()
}

// positions notes from where on records are sent, and which are acknowledged.
type positions struct {
	*store.Store
	first int64
	acked chan int64
}

func newPositions(st *store.Store) *positions {
	return &positions{Store: st, acked: make(chan int64, 1000)}
}

// wait waits until all records up to a number are acknowledged.
func (p *positions) wait(upTo int64) {
	for <-p.acked < upTo {
	}
}

func (p *positions) LeaseSink(ctx context.Context, sink, gateway string, lease time.Duration) (int64, bool, error) {
	position, ok, err := p.Store.LeaseSink(ctx, sink, gateway, lease)
	if p.first == 0 {
		p.first = position
	}
	return position, ok, err
}

func (p *positions) SentTo(ctx context.Context, sink, gateway string, position int64) error {
	err := p.Store.SentTo(ctx, sink, gateway, position)
	p.acked <- position
	return err
}

func openStore(t *testing.T, dsn string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func addRecords(t *testing.T, st *store.Store, n int) {
	t.Helper()
	for i := range n {
		if _, err := st.SaveRule(t.Context(), store.Document{ID: fmt.Sprint(i), Body: json.RawMessage(`"规则 <x>"`)}); err != nil {
			t.Fatal(err)
		}
	}
}

// run sends until the function that it returns is called.
func run(t *testing.T, st sinks.Log, cfg config.Sink) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sinks.Run(ctx, []config.Sink{cfg}, sinks.Options{Store: st, Logger: slog.New(slog.DiscardHandler), Poll: time.Millisecond})
	}()
	return func() {
		cancel()
		<-done
	}
}
