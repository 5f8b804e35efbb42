package upstream

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/mcp"
)

// outgoing is a request on its way to a server.
type outgoing struct {
	method  string
	params  json.RawMessage
	meta    rawjson.Span          // where _meta stands in params; zero: nowhere
	from    mcp.Speaker           // the client that it comes from
	era     mcp.Era               // of the server; "" counts as legacy
	name    string                // the tool or resource named in the request, for a modern server's header; may be ""
	header  http.Header           // arguments repeated in headers
	peer    mcp.Peer              // gets progress
	caller  string                // who calls; "" for ourselves
	clock   *deadline             // suspended while the caller is asked something; may be nil
	acked   func(json.RawMessage) // called with what a modern server will report; may be nil
	tasks   bool                  // a modern server may make a task of it
	refuses bool                  // the caller hears it if a modern server insists on a task
	asTask  bool                  // a legacy server that can is asked for a task
	span    *telemetry.Span       // whose context it carries; nil: the caller's, as it came
	buf     *buffer               // reused for the answer, which may then point into it; nil: a new one
}

func (o outgoing) message(id int64) []byte {
	params := o.paramsFor(id)
	if o.span != nil {
		o.span.ID(id)
		params = o.span.Meta(params)
	}
	buf := make([]byte, 0, len(params)+len(o.method)+64)
	return mcp.AppendRequest(buf, id, o.method, params)
}

// paramsFor is the params in the server's era. The progress token becomes the request's id, since callers' tokens may be equal.
func (o outgoing) paramsFor(id int64) []byte {
	switch {
	case o.era == mcp.Modern:
		return o.splice(o.modernMeta(id))
	case o.from.Era == mcp.Modern:
		params := o.params
		if o.meta.End > 0 {
			params = o.splice(append(o.appendMeta([]byte{'{'}, id), '}'))
		}
		return mcp.Without(params, "inputResponses", "requestState") // a legacy server asks in another way
	}
	at := o.tokenAt()
	if at.End == 0 {
		return o.params
	}
	edit := rawjson.Edit{Start: at.Start, End: at.End, New: strconv.AppendInt(nil, id, 10)}
	return rawjson.AppendSplice(make([]byte, 0, len(o.params)+16), o.params, edit)
}

// splice replaces _meta, or inserts it first if there was none.
func (o outgoing) splice(meta []byte) []byte {
	switch {
	case o.meta.End > 0:
		edit := rawjson.Edit{Start: o.meta.Start, End: o.meta.End, New: meta}
		return rawjson.AppendSplice(make([]byte, 0, len(o.params)+len(meta)), o.params, edit)
	case len(o.params) == 0:
		return mcp.With(nothing, "_meta", meta)
	}
	return mcp.With(o.params, "_meta", meta)
}

// modernMeta is the _meta that every request to a modern server needs.
func (o outgoing) modernMeta(id int64) []byte {
	b := make([]byte, 0, 320+o.meta.End-o.meta.Start)
	b = append(b, `{"`+mcp.MetaVersion+`":"`+mcp.ModernVersion+`","`+mcp.MetaInfo+`":`...)
	b = append(b, o.from.Info...)
	b = append(b, `,"`+mcp.MetaAbilities+`":`...)
	if o.tasks {
		b = append(b, withTasks(declared(o.from))...)
	} else {
		b = append(b, declared(o.from)...)
	}
	if o.from.Level != "" {
		b = rawjson.AppendString(append(b, `,"`+mcp.MetaLevel+`":`...), o.from.Level)
	}
	return append(o.appendMeta(b, id), '}')
}

// appendMeta appends the members of the caller's _meta that are not the protocol's.
func (o outgoing) appendMeta(b []byte, id int64) []byte {
	w := rawjson.Object(o.params[o.meta.Start:o.meta.End])
	for w.Next() {
		if mcp.IsReserved(w.Key) && (o.era != mcp.Modern || isOwn(w.Key)) {
			continue
		}
		b = append(rawjson.AppendString(mcp.Comma(b), string(w.Key)), ':')
		if string(w.Key) == "progressToken" && !rawjson.IsNull(w.Value) {
			b = strconv.AppendInt(b, id, 10)
			continue
		}
		b = append(b, w.Value...)
	}
	return b
}

// isOwn tells whether we write the member ourselves.
func isOwn(key []byte) bool {
	switch string(key) {
	case mcp.MetaVersion, mcp.MetaInfo, mcp.MetaAbilities, mcp.MetaLevel:
		return true
	}
	return false
}

// tokenAt is where the caller's progress token stands in params; zero: it wants no progress.
func (o outgoing) tokenAt() rawjson.Span {
	at := mcp.ProgressToken(o.params[o.meta.Start:o.meta.End])
	if at.End == 0 {
		return at
	}
	return rawjson.Span{Start: o.meta.Start + at.Start, End: o.meta.Start + at.End}
}

// progress passes a progress notification on under the caller's own token.
func (o outgoing) progress(ctx context.Context, params json.RawMessage) {
	at := o.tokenAt()
	if at.End == 0 {
		return
	}
	w := rawjson.Object(params)
	for w.Next() {
		if string(w.Key) == "progressToken" {
			edit := rawjson.Edit{Start: w.Start, End: w.End, New: o.params[at.Start:at.End]}
			o.peer.Notify(ctx, progressMethod, rawjson.AppendSplice(nil, params, edit))
			return
		}
	}
}

// endless tells whether the request must not be canceled: handshakes may not.
func (o outgoing) endless() bool { return o.method == helloMethod || o.method == discoverMethod }
