package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Span is one operation. It belongs to the goroutine that began it.
type Span struct {
	tel   *Telemetry
	span  trace.Span
	ctx   context.Context // of the operation: what it sends carries it on
	began time.Time

	method   string                  // of MCP; "" for other operations
	target   string                  // the prompt that a request names; "": none
	measured metric.Float64Histogram // gets the duration; nil: nothing does
	labels   []attribute.KeyValue    // of the duration
	errored  string                  // error.type; "": it went well
	status   int                     // the code of a JSON-RPC error; 0: there is none
	free     bool                    // the span of a tools/call that no call has taken yet
	lent     bool                    // whoever began it ends it
}

// key is where a context has its Span.
type key struct{}

func (t *Telemetry) start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, *Span) {
	s := &Span{tel: t, began: time.Now()}
	ctx, s.span = t.tracer.Start(ctx, name, opts...)
	s.ctx = context.WithValue(ctx, key{}, s)
	return s.ctx, s
}

// Begin begins a part of a call.
func (t *Telemetry) Begin(ctx context.Context, name string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return t.start(ctx, name)
}

// Call is the span of a tool call: that of its request, or a new one for a call that no request of MCP is for.
func (t *Telemetry) Call(ctx context.Context) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	if s, _ := ctx.Value(key{}).(*Span); s != nil && s.free {
		s.free = false
		s.lent = true
		return ctx, s
	}
	return t.start(ctx, executeTool)
}

// Resume is the span of a call that goes on without the one that began it, which it names; see Parent.
func (t *Telemetry) Resume(ctx context.Context, parent string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	was := trace.SpanContextFromContext(t.context.Extract(context.Background(), parentCarrier(parent)))
	opts := []trace.SpanStartOption{trace.WithNewRoot()}
	if was.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: was}))
	}
	return t.start(ctx, executeTool, opts...)
}

// Trace is the id of the trace; "" if there is none.
func (s *Span) Trace() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

const (
	executeTool = "execute_tool"
	otherMethod = "_OTHER" // a method or error that has no name
	toolError   = "tool_error"
	maxText     = 200
	maxContent  = 4 << 10
)

// text is an attribute without secrets, cut to a length.
func (s *Span) text(name, value string, longest int) {
	if value == "" || !s.span.IsRecording() {
		return
	}
	value = s.tel.opts.Redact(value) // before it is cut, which could leave a part of a secret
	if len(value) > longest {
		value = strings.ToValidUTF8(value[:longest], "")
	}
	s.span.SetAttributes(attribute.String(name, value))
}

func (s *Span) number(name string, n int64) { s.span.SetAttributes(attribute.Int64(name, n)) }

// label is an attribute that the duration has as well; it must have few values.
func (s *Span) label(name, value string) {
	if value != "" {
		value = s.tel.opts.Redact(value)
		s.labels = append(s.labels, attribute.String(name, value))
		s.span.SetAttributes(attribute.String(name, value))
	}
}

// Decided ends the span of the decision which tool is called: on what server, as the caller's profile shows it.
func (s *Span) Decided(profile, server string, err error) {
	if s == nil {
		return
	}
	s.text("toolfit.profile", profile, maxText)
	s.text("toolfit.server", server, maxText)
	s.End(err)
}

// Fitted ends the span of fitting arguments.
func (s *Span) Fitted(res *fit.Result, err error) {
	if s == nil {
		return
	}
	s.number("toolfit.repairs", int64(len(res.Repairs)))
	if len(res.Repairs) > 0 {
		kinds := make([]string, len(res.Repairs))
		for i, r := range res.Repairs {
			kinds[i] = string(r.Kind)
		}
		s.span.SetAttributes(attribute.StringSlice("toolfit.repair.kinds", kinds))
	}
	s.End(err)
}

// Sent ends the span of a call's way to its server and back.
func (s *Span) Sent(in, full int, err error) {
	if s == nil {
		return
	}
	s.number("toolfit.bytes.in", int64(in))
	s.number("toolfit.bytes.full", int64(full))
	s.End(err)
}

// Projected ends the span of cutting a result.
func (s *Span) Projected(full, sent int, rule string) {
	if s == nil {
		return
	}
	s.number("toolfit.bytes.full", int64(full))
	s.number("toolfit.bytes.sent", int64(sent))
	s.text("toolfit.rule", rule, maxText)
	s.End(nil)
}

// Called says what a call's record does, and with the configuration's consent its arguments and result.
func (s *Span) Called(c *store.Call, args, result json.RawMessage) {
	if s == nil {
		return
	}
	switch c.Outcome {
	case "ok", "question":
	case toolError:
		s.errored = toolError
	case "canceled":
		s.errored = c.Outcome
	default:
		s.errored = c.Code
	}
	if c.Tool != "" { // it was found, so that callers cannot make up names
		s.name(string(c.Tool))
		s.label("gen_ai.tool.name", string(c.Tool))
	}
	if !s.span.IsRecording() {
		return
	}
	s.span.SetAttributes(
		attribute.String("gen_ai.operation.name", executeTool), attribute.String("toolfit.call.id", c.ID),
		attribute.String("toolfit.profile", c.Profile),
		attribute.Int64("toolfit.bytes.in", c.BytesIn), attribute.Int64("toolfit.bytes.full", c.BytesFull),
		attribute.Int64("toolfit.bytes.sent", c.BytesSent), attribute.Int64("toolfit.tokens.in", c.TokensIn),
		attribute.Int64("toolfit.tokens.full", c.TokensFull), attribute.Int64("toolfit.tokens.sent", c.TokensSent),
	)
	s.text("toolfit.outcome", c.Outcome, maxText) // a call that goes on elsewhere has none yet
	s.text("toolfit.server", string(c.Server), maxText)
	s.text("toolfit.rule", c.Rule, maxText)
	if s.tel.opts.arguments {
		s.text("gen_ai.tool.call.arguments", string(args), maxContent)
	}
	if s.tel.opts.results {
		s.text("gen_ai.tool.call.result", string(result), maxContent)
	}
}

// name names the span after what it is about.
func (s *Span) name(target string) {
	what := s.method
	if what == "" {
		what = executeTool
	}
	s.span.SetName(what + " " + s.tel.opts.Redact(target))
}

// Return ends the span of a call, unless its request does.
func (s *Span) Return() {
	if s != nil && !s.lent {
		s.End(nil)
	}
}

// Answered ends the span of a request with its answer.
func (s *Span) Answered(result json.RawMessage, err error) {
	if s == nil {
		return
	}
	if err == nil && s.method == "tools/call" && s.errored == "" && bytes.Contains(result, []byte(`"isError"`)) &&
		string(rawjson.Get(result, "isError")) == "true" {
		s.errored = toolError
	}
	if err == nil && s.target != "" { // there is such a prompt, so that callers cannot make up names
		s.name(s.target)
	}
	s.End(err)
}

// End ends the span.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.failed(err)
	}
	if s.errored != "" {
		s.label("error.type", s.errored)
		s.span.SetStatus(codes.Error, "") // the message may quote arguments or results
	}
	if s.status != 0 {
		s.label("rpc.response.status_code", strconv.Itoa(s.status))
	}
	if s.measured != nil {
		s.measured.Record(s.ctx, time.Since(s.began).Seconds(), metric.WithAttributes(s.labels...))
	}
	s.span.End()
}

func (s *Span) failed(err error) {
	var rpc *mcp.Error
	var f *fault.Error
	switch {
	case errors.As(err, &rpc):
		s.errored = strconv.Itoa(rpc.Code)
		s.status = rpc.Code
	case errors.As(err, &f):
		s.errored = string(f.Code)
	case errors.Is(err, context.Canceled):
		s.errored = string(fault.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		s.errored = string(fault.UpstreamTimeout)
	default:
		s.errored = otherMethod
	}
}
