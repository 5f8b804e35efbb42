package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// collector is where one signal goes: OTLP over HTTP, as protobuf. The SDK's own exporters do the same, and link gRPC.
type collector struct {
	ctx     context.Context // ends with Close
	address string
	signal  string
	header  http.Header
	zipped  bool
	timeout time.Duration
	client  *http.Client
	closing *atomic.Bool
	log     *slog.Logger
	failing atomic.Bool // the last attempt failed, which has been logged
}

func (t *Telemetry) collector(ctx context.Context, address, signal string, headers map[string]string) *collector {
	env := environment(t.opts.Env)
	c := &collector{
		ctx: ctx, address: address, signal: signal, header: http.Header{}, zipped: env.exporter(signal, "COMPRESSION") == "gzip",
		timeout: env.timeout(signal), closing: &t.closing, log: t.opts.Logger,
		client: &http.Client{
			Transport: http.DefaultTransport.(*http.Transport).Clone(),
			// The headers may have a key, which is for nobody else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	for _, some := range []map[string]string{env.headers(signal), headers} {
		for name, value := range some {
			c.header.Set(name, value)
		}
	}
	c.header.Set("Content-Type", "application/x-protobuf")
	c.header.Set("User-Agent", "toolfit/"+t.opts.Version)
	if c.zipped {
		c.header.Set("Content-Encoding", "gzip")
	}
	return c
}

// attempts is how often the same data are sent to a collector that is busy.
const attempts = 3

// send sends a message. If that fails the message is lost: it is logged once, until the next that arrives.
func (c *collector) send(ctx context.Context, m proto.Message) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	body, err := c.encode(m)
	wait := time.Second
	for n := 0; err == nil; n++ {
		var again bool
		again, err = c.post(ctx, body)
		if err == nil || !again || n == attempts-1 || c.closing.Load() {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			err = nil
			wait *= 2
		}
	}
	switch {
	case err == nil:
		if c.failing.Swap(false) {
			c.log.Info("telemetry is sent again", "signal", c.signal)
		}
	case !c.failing.Swap(true):
		c.log.Warn("telemetry is not sent", "signal", c.signal, "error", fault.Plain(err))
	}
}

func (c *collector) encode(m proto.Message) ([]byte, error) {
	raw, err := proto.Marshal(m)
	if err != nil || !c.zipped {
		return raw, err
	}
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write(raw) // to memory: it does not fail
	z.Close()
	return buf.Bytes(), nil
}

// post sends once, and tells whether it may be tried again.
func (c *collector) post(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header = c.header
	resp, err := c.client.Do(req)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, fmt.Errorf("the collector answers %s", resp.Status)
	}
	if resp.StatusCode/100 != 2 {
		return false, fmt.Errorf("the collector answers %s", resp.Status)
	}
	return false, nil
}

// close ends idle connections.
func (c *collector) close() { c.client.CloseIdleConnections() }

// tracesTo sends spans.
type tracesTo struct{ *collector }

func (tracesTo) Start(context.Context) error { return nil }

func (t tracesTo) Stop(context.Context) error {
	t.close()
	return nil
}

func (t tracesTo) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	t.send(ctx, &tracepb.TracesData{ResourceSpans: spans}) // on the wire the same as a request
	return nil
}
