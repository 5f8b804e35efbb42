package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
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
	transport := http.DefaultTransport.(*http.Transport).Clone()
	var err error
	if transport.TLSClientConfig, err = env.certificates(signal); err != nil {
		t.opts.Logger.Warn("telemetry does without the certificates of the environment", "signal", signal, "error", err)
	}
	c := &collector{
		ctx: ctx, address: address, signal: signal, header: http.Header{}, zipped: env.exporter(signal, "COMPRESSION") == "gzip",
		timeout: env.timeout(signal), closing: &t.closing, log: t.opts.Logger,
		client: &http.Client{
			Transport: transport,
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
		var after time.Duration
		again, after, err = c.post(ctx, body)
		if err == nil || !again || n == attempts-1 || c.closing.Load() {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(wait, after)):
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

// post sends once, and tells whether it may be tried again, and after what time the collector wants that.
func (c *collector) post(ctx context.Context, body []byte) (again bool, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	req.Header = c.header
	resp, err := c.client.Do(req)
	if err != nil {
		return true, 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, retryAfter(resp.Header.Get("Retry-After"), time.Now()), fmt.Errorf("the collector answers %s", resp.Status)
	}
	switch {
	case resp.StatusCode/100 != 2:
		return false, 0, fmt.Errorf("the collector answers %s", resp.Status)
	case err != nil:
		return false, 0, nil // it has arrived
	}
	return false, 0, refusal(answer)
}

// retryAfter reads the header: seconds or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return at.Sub(now)
}

// refusal is the error for what the collector did not take of what arrived. Its answer is a message whose first field is a
// message with a number and a text; the packages that read it link gRPC.
func refusal(answer []byte) error {
	partial, _ := field(answer, 1)
	_, number := field(partial, 1)
	text, _ := field(partial, 2)
	if number == 0 && len(text) == 0 {
		return nil
	}
	return fmt.Errorf("the collector refuses %d of what it got: %.200q", number, text)
}

// field is the value of a message's field, as bytes or as a number.
func field(message []byte, wanted protowire.Number) (value []byte, number uint64) {
	for len(message) > 0 {
		at, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, 0
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(at, kind, message); n < 0 {
			return nil, 0
		}
		switch {
		case at == wanted && kind == protowire.BytesType:
			value, _ = protowire.ConsumeBytes(message)
		case at == wanted && kind == protowire.VarintType:
			number, _ = protowire.ConsumeVarint(message)
		}
		message = message[n:]
	}
	return value, number
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
