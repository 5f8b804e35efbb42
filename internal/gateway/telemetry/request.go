package telemetry

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// named is the member of params that a method is about.
var named = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri", "resources/subscribe": "uri", "resources/unsubscribe": "uri",
	"tools/list": "", "prompts/list": "", "resources/list": "", "resources/templates/list": "", "completion/complete": "",
	"skills/list": "", "skills/get": "uri", "resources/directory/read": "uri",
	"logging/setLevel": "", "tasks/get": "", "tasks/result": "", "tasks/list": "", "tasks/cancel": "", "tasks/update": "",
}

// Serve is the span of a client's request. Its parent is named in _meta, else by the HTTP request. A
// stream that a client opens has none: it ends when the client leaves.
func (t *Telemetry) Serve(ctx context.Context, req *mcp.Request) (context.Context, *Span) {
	if t == nil || req.ID == nil || req.Method == "subscriptions/listen" {
		return ctx, nil
	}
	outer := trace.SpanContextFromContext(ctx) // of the HTTP request
	ctx = t.context.Extract(ctx, metaCarrier(req.Params))
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	if outer.IsValid() && !outer.Equal(trace.SpanContextFromContext(ctx)) {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: outer}))
	}
	member, known := named[req.Method]
	method := req.Method
	if !known {
		method = otherMethod
	}
	ctx, s := t.start(ctx, method, opts...)
	s.method = method
	s.measured = t.server
	s.free = method == "tools/call"
	s.label("mcp.method.name", method)
	switch {
	case req.Meta != nil:
		s.connection(req.Meta.Version, "", transport(req.Meta.Header == nil))
	case req.Session != nil:
		s.connection(req.Session.Version, req.Session.ID, transport(req.Session.ID == ""))
	}
	s.text("jsonrpc.request.id", rawText(req.ID), maxText)
	if member != "" {
		target, _ := rawjson.String(rawjson.Get(req.Params, member))
		s.text(attributeOf(method), target, maxText)
		if method == "prompts/get" {
			s.target = target
		}
	}
	return ctx, s
}

// attributeOf is the attribute that names what a request is about.
func attributeOf(method string) string {
	switch method {
	case "tools/call":
		return "gen_ai.tool.name"
	case "prompts/get":
		return "gen_ai.prompt.name"
	}
	return "mcp.resource.uri"
}

// rawText is a string without its quotes, and other JSON as it is.
func rawText(raw json.RawMessage) string {
	if text, ok := rawjson.String(raw); ok {
		return text
	}
	return string(raw)
}

// connection says how a request travels.
func (s *Span) connection(version, session, transport string) {
	s.label("mcp.protocol.version", version)
	s.label("network.transport", transport)
	s.text("mcp.session.id", session, maxText)
}

func transport(pipe bool) string {
	if pipe {
		return "pipe"
	}
	return "tcp"
}

// Upstream is the server that a request goes to.
type Upstream struct {
	Server    string
	Version   string // of the protocol
	Session   string // "": it gave none
	Transport string // pipe or tcp; "": it runs in our own process
}

// Request is the span of a request to a server. The name is that of the tool or other thing it is about.
func (t *Telemetry) Request(ctx context.Context, method, name string, to Upstream) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	ctx, s := t.start(ctx, method, trace.WithSpanKind(trace.SpanKindClient))
	s.method = method
	s.measured = t.client
	s.label("mcp.method.name", method)
	s.label("toolfit.server", to.Server)
	s.connection(to.Version, to.Session, to.Transport)
	switch {
	case name == "":
	case method == "tools/call":
		s.name(name)
		s.label("gen_ai.tool.name", name)
		s.text("gen_ai.operation.name", executeTool, maxText)
	case named[method] != "":
		s.text(attributeOf(method), name, maxText)
		if method == "prompts/get" {
			s.target = name
		}
	}
	return ctx, s
}

// ID says which id the request has.
func (s *Span) ID(id int64) { s.text("jsonrpc.request.id", strconv.FormatInt(id, 10), maxText) }

// ClientLeft measures the session of a client that has ended.
func (t *Telemetry) ClientLeft(s *mcp.Session) {
	if t != nil {
		lasted(t.serverSession, s.Opened, s.Version, transport(s.ID == ""))
	}
}

// ServerLeft measures a session with a server that has ended.
func (t *Telemetry) ServerLeft(to Upstream, opened time.Time) {
	if t != nil {
		lasted(t.clientSession, opened, to.Version, to.Transport)
	}
}

func lasted(h metric.Float64Histogram, opened time.Time, version, transport string) {
	if opened.IsZero() {
		return
	}
	labels := []attribute.KeyValue{attribute.String("mcp.protocol.version", version)}
	if transport != "" {
		labels = append(labels, attribute.String("network.transport", transport))
	}
	h.Record(context.Background(), time.Since(opened).Seconds(), metric.WithAttributes(labels...))
}

// Incoming is an HTTP request with the context that its headers carry, for spans of MCP.
func (t *Telemetry) Incoming(r *http.Request) *http.Request {
	if t == nil || r.Header.Get("traceparent") == "" && r.Header.Get("baggage") == "" {
		return r
	}
	return r.WithContext(t.context.Extract(r.Context(), propagation.HeaderCarrier(r.Header)))
}

// Route is a handler in a span of HTTP. The route is its pattern.
func (t *Telemetry) Route(route string, h http.HandlerFunc) http.HandlerFunc {
	if t == nil {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) {
		r = t.Incoming(r)
		ctx, s := t.start(r.Context(), route, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
			attribute.String("http.request.method", r.Method), attribute.String("http.route", route)))
		seen := &inbound.StatusWriter{ResponseWriter: w}
		defer func() {
			s.number("http.response.status_code", int64(seen.Status()))
			if seen.Status() >= http.StatusInternalServerError {
				s.errored = strconv.Itoa(seen.Status())
			}
			s.End(nil)
		}()
		h(seen, r.WithContext(ctx))
	}
}
