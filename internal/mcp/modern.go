package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// versionMark is how a modern request can be told by its bytes alone.
var versionMark = []byte(MetaVersion)

// isModern tells the era of a message over HTTP. The header says it; without one the
// message does. A revision that nobody knows is answered in the words of the newer era,
// which has words for it.
func isModern(h http.Header, m Message) (bool, error) {
	asked := h.Get(versionHeader)
	switch {
	case asked == ModernVersion:
		return true, nil
	case asked == "" && h.Get(sessionHeader) == "" && m.Method != "initialize":
		if metaVersion(m.Params) != "" {
			return true, Errorf(CodeHeaderMismatch, "header MCP-Protocol-Version is missing")
		}
	case m.Method == "initialize" || asked == "":
	case !slices.Contains(legacyVersions(), asked):
		return true, unsupportedVersion(asked)
	case bytes.Contains(m.Params, versionMark) && metaVersion(m.Params) == ModernVersion:
		return true, Errorf(CodeHeaderMismatch, "header MCP-Protocol-Version says %s, the body says %s", asked, ModernVersion)
	}
	return false, nil
}

// postModern serves one message of the modern era: there is no session, and a client that
// hangs up has canceled.
func (f *Front) postModern(w http.ResponseWriter, r *http.Request, e Entry, m Message) {
	switch {
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted) // there is none that says anything over HTTP
		return
	case m.IsResponse():
		refuse(w, http.StatusBadRequest, Errorf(CodeInvalidRequest, "revision %s has no answers of the client", ModernVersion))
		return
	}
	meta, err := readMeta(m.Params)
	if err == nil && meta.Version != ModernVersion {
		err = Errorf(CodeHeaderMismatch, "header MCP-Protocol-Version says %s, the body says %.40s", ModernVersion, meta.Version)
	}
	if err == nil {
		err = checkHeaders(r.Header, m)
	}
	if err != nil {
		refuseID(w, modernStatus(err), m.ID, err)
		return
	}
	meta.Header = r.Header
	out := &exchange{w: f.events(w), id: m.ID, meta: meta, canStream: accepts(r, streamType), mustStream: !accepts(r, jsonType)}
	req := &Request{ID: m.ID, Method: m.Method, Params: m.Params, Meta: meta, Client: out, sessions: f.sessions, entry: e}
	defer req.sent()
	result, err := e.answer(r.Context(), f.opts.Logger, req)
	out.finish(result, err)
}

// removed are the methods that only legacy revisions have.
func removed(method string) bool {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return true
	}
	return false
}

// exchange is the answer to one modern POST. It stays a plain JSON answer until something
// has to be said before the result; then it becomes an event stream, which nobody can come
// back to.
type exchange struct {
	w          eventWriter
	id         json.RawMessage
	meta       *Meta
	canStream  bool
	mustStream bool

	mu        sync.Mutex
	streaming bool
	finished  bool
	beat      *time.Timer // sends a comment now and then while the stream is open
}

// Notify sends a notification on the request's own stream. A client that takes no streams misses it.
func (x *exchange) Notify(_ context.Context, method string, params json.RawMessage) error {
	if !x.canStream || !x.meta.wants(method, params) {
		return nil
	}
	return x.event(AppendNotification(nil, method, params))
}

// Ask refuses: a modern client is asked by an answer that says what is missing.
func (x *exchange) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return Deaf.Ask(ctx, method, params)
}

func (x *exchange) event(message []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.finished {
		return errFinished
	}
	x.begin()
	return x.w.event("", message)
}

// begin makes the answer a stream.
func (x *exchange) begin() {
	if x.streaming {
		return
	}
	x.streaming = true
	streamHeader(x.w.Header())
	x.w.WriteHeader(http.StatusOK)
	x.beat = time.AfterFunc(keepAlive, x.keepAlive)
}

func (x *exchange) keepAlive() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.finished && x.w.send([]byte(":\n\n")) == nil {
		x.beat.Reset(keepAlive)
	}
}

// finish writes the result or the error.
func (x *exchange) finish(result json.RawMessage, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.finished = true
	if x.beat != nil {
		x.beat.Stop()
	}
	if !x.streaming && !x.mustStream {
		if err != nil {
			refuseID(x.w, modernStatus(err), x.id, err)
			return
		}
		writeResult(x.w, x.id, result)
		return
	}
	message := AppendError(nil, x.id, err)
	if err == nil {
		message = AppendResult(nil, x.id, result)
	}
	if !x.streaming {
		streamHeader(x.w.Header())
	}
	x.w.event("", message)
}

// discoverResult is what server/discover answers.
func (i Info) discoverResult() json.RawMessage {
	b := append([]byte(`{"resultType":"complete","supportedVersions":[`), rawjson.AppendString(nil, ModernVersion)...)
	for _, v := range legacyVersions() {
		b = rawjson.AppendString(append(b, ','), v)
	}
	b = append(b, `],"capabilities":`...)
	if i.Capabilities == nil {
		b = append(b, "{}"...)
	}
	b = append(b, i.Capabilities...)
	if i.Instructions != "" {
		b = append(b, `,"instructions":`...)
		b = rawjson.AppendString(b, i.Instructions)
	}
	b = append(b, `,"ttlMs":60000,"cacheScope":"private","_meta":{"`+MetaServer+`":`...)
	return append(append(b, i.Implementation()...), "}}"...)
}
