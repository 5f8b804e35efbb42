package telemetry

import (
	"context"
	"encoding/json"
	"net/http"

	"go.opentelemetry.io/otel/propagation"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// carried are the members of _meta, and the headers, that carry a context.
var carried = []string{"traceparent", "tracestate", "baggage"}

// maxCarried limits what is read of each.
const maxCarried = 8 << 10

// metaCarrier is the context in the _meta of params.
func metaCarrier(params json.RawMessage) propagation.MapCarrier {
	at := mcp.FindMeta(params)
	found := propagation.MapCarrier{}
	for w := rawjson.Object(params[at.Start:at.End]); w.Next(); {
		switch string(w.Key) {
		case "traceparent", "tracestate", "baggage":
			if text, ok := rawjson.String(w.Value); ok && len(text) <= maxCarried {
				found[string(w.Key)] = text
			}
		}
	}
	return found
}

func parentCarrier(parent string) propagation.MapCarrier {
	return propagation.MapCarrier{"traceparent": parent}
}

// Parent names the span, for Resume; "" if there is none.
func (s *Span) Parent() string {
	if s == nil {
		return ""
	}
	to := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(s.ctx, to)
	return to["traceparent"]
}

// Meta is params that carry the span's context in place of the caller's.
func (s *Span) Meta(params json.RawMessage) json.RawMessage {
	to := propagation.MapCarrier{}
	s.tel.context.Inject(s.ctx, to)
	at := mcp.FindMeta(params)
	meta := params[at.Start:at.End]
	if len(meta) == 0 {
		meta = json.RawMessage("{}")
	}
	if meta[0] != '{' {
		return params // the server is to say what it thinks of it
	}
	meta = mcp.Without(meta, carried...)
	for _, name := range carried {
		if to[name] != "" {
			meta = mcp.With(meta, name, rawjson.AppendString(nil, to[name]))
		}
	}
	switch {
	case at.End > 0:
		return rawjson.AppendSplice(nil, params, rawjson.Edit{Start: at.Start, End: at.End, New: meta})
	case len(params) == 0:
		params = json.RawMessage("{}")
	}
	return mcp.With(params, "_meta", meta)
}

// Outgoing adds the context to the headers of a request to an HTTP API, unless the call sets it.
func (t *Telemetry) Outgoing(ctx context.Context, h http.Header) {
	if t != nil && h.Get("traceparent") == "" {
		t.context.Inject(ctx, propagation.HeaderCarrier(h))
	}
}

// Header adds the span's context to the headers of a request.
func (s *Span) Header(h http.Header) { s.tel.context.Inject(s.ctx, propagation.HeaderCarrier(h)) }
