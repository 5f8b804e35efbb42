package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// versionMark is in the bytes of every modern request.
var versionMark = []byte(MetaVersion)

// isModern tells the era of a message over HTTP: by the header, else by the message. Unknown revisions count as modern.
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

// postModern serves one modern message: there is no session, and a client that disconnects has canceled.
func (f *Front) postModern(w http.ResponseWriter, r *http.Request, e Entry, m Message) {
	switch {
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted) // no notification means anything over HTTP
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
	out := f.reply(w, r, opened{id: m.ID})
	out.meta = meta
	req := &Request{ID: m.ID, Method: m.Method, Params: m.Params, Meta: meta, Client: out, sessions: f.sessions, entry: e, early: out}
	defer req.sent()
	result, err := e.answer(r.Context(), f.opts.Logger, req)
	out.finish(result, err, false)
}

// removed are the methods that only legacy revisions have.
func removed(method string) bool {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return true
	}
	return false
}

// discoverResult is what server/discover answers.
func (i Info) discoverResult() json.RawMessage {
	b := append([]byte(`{"resultType":"complete","supportedVersions":[`), rawjson.AppendString(nil, ModernVersion)...)
	for _, v := range legacyVersions() {
		b = rawjson.AppendString(append(b, ','), v)
	}
	b = i.appendTo(append(b, ']'), ModernVersion)
	b = append(b, `,"ttlMs":60000,"cacheScope":"private","_meta":{"`+MetaServer+`":`...)
	return append(append(b, i.Implementation()...), "}}"...)
}
