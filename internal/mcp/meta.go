package mcp

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// The members of _meta that the modern era defines.
const (
	metaPrefix      = "io.modelcontextprotocol/"
	MetaVersion     = metaPrefix + "protocolVersion"
	MetaInfo        = metaPrefix + "clientInfo"
	MetaAbilities   = metaPrefix + "clientCapabilities"
	MetaLevel       = metaPrefix + "logLevel"
	MetaServer      = metaPrefix + "serverInfo"
	MetaSubscriber  = metaPrefix + "subscriptionId"
	MetaRelatedTask = metaPrefix + "related-task"
	ExtensionTasks  = metaPrefix + "tasks"
	ExtensionApps   = metaPrefix + "ui"
	ExtensionSkills = metaPrefix + "skills"
	metaKey         = "_meta"
	progressTokenID = "progressToken"
)

// MetaReplaced is the member of _meta that counts the bytes replaced because they were not UTF-8.
const MetaReplaced = "toolfit/replaced"

// IsReserved tells whether a member of _meta belongs to the modern era; legacy servers do not get it.
func IsReserved(key []byte) bool {
	return len(key) >= len(metaPrefix) && string(key[:len(metaPrefix)]) == metaPrefix
}

// Meta is a modern request's description of itself.
type Meta struct {
	Version      string
	Info         json.RawMessage // the client's own description; nil if there is none
	Capabilities json.RawMessage // what the client can be asked
	Level        string          // minimum level of log messages to send; "": none at all
	Header       http.Header     // the headers that came with it; nil on a pipe
}

// FindMeta tells where _meta stands in params; zero when it is nowhere.
func FindMeta(params json.RawMessage) (at rawjson.Span) {
	w := rawjson.Object(params)
	for w.Next() {
		if string(w.Key) == metaKey {
			return rawjson.Span{Start: w.Start, End: w.End}
		}
	}
	return at
}

// ProgressToken finds where the progress token stands in a _meta; zero when none is wanted.
func ProgressToken(meta json.RawMessage) (at rawjson.Span) {
	w := rawjson.Object(meta)
	for w.Next() {
		if string(w.Key) == progressTokenID && !rawjson.IsNull(w.Value) {
			return rawjson.Span{Start: w.Start, End: w.End}
		}
	}
	return at
}

// metaVersion is the revision that a request names in its params; "" for legacy requests.
func metaVersion(params json.RawMessage) string {
	at := FindMeta(params)
	s, _ := rawjson.String(rawjson.Get(params[at.Start:at.End], MetaVersion))
	return s
}

// readMeta reads what a modern request must say. Each member must be there once: the next reader must not see another client.
func readMeta(params json.RawMessage) (*Meta, error) {
	var raw json.RawMessage
	w := rawjson.Object(params)
	for w.Next() {
		switch {
		case string(w.Key) != metaKey:
		case raw != nil:
			return nil, Errorf(CodeInvalidParams, "params: member %q stands there twice", metaKey)
		default:
			raw = w.Value
		}
	}
	m := &Meta{}
	var version, level json.RawMessage
	w = rawjson.Object(raw)
	for w.Next() {
		var slot *json.RawMessage
		switch string(w.Key) {
		case MetaVersion:
			slot = &version
		case MetaInfo:
			slot = &m.Info
		case MetaAbilities:
			slot = &m.Capabilities
		case MetaLevel:
			slot = &level
		default:
			continue
		}
		if *slot != nil {
			return nil, Errorf(CodeInvalidParams, "params._meta: member %q stands there twice", w.Key)
		}
		*slot = w.Value
	}
	m.Version, _ = rawjson.String(version)
	m.Level, _ = rawjson.String(level)
	switch {
	case m.Version == "":
		return nil, Errorf(CodeInvalidParams, "params._meta needs %q", MetaVersion)
	case len(m.Capabilities) == 0 || m.Capabilities[0] != '{':
		return nil, Errorf(CodeInvalidParams, "params._meta needs %q, an object", MetaAbilities)
	case describes(m.Info, m.Capabilities) != nil:
		return nil, describes(m.Info, m.Capabilities)
	case level != nil && !slices.Contains(logLevels, m.Level):
		return nil, Errorf(CodeInvalidParams, "params._meta: unknown level %.40s", level)
	}
	return m, nil
}

// maxDescription limits what a client says about itself: sessions store it, and servers get it.
const maxDescription = 16 << 10

// describes refuses a client whose description is too long.
func describes(info, capabilities json.RawMessage) error {
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"the client's info", info}, {"the client's capabilities", capabilities}} {
		if len(part.raw) > maxDescription {
			return Errorf(CodeInvalidParams, "%s has %d bytes, more than %d", part.name, len(part.raw), maxDescription)
		}
	}
	return nil
}

// wants tells whether the client wants a notification: modern log messages come only to requests that ask for them.
func (m *Meta) wants(method string, params json.RawMessage) bool {
	if method != "notifications/message" {
		return true
	}
	level, _ := rawjson.String(rawjson.Get(params, "level"))
	return m.Level != "" && slices.Index(logLevels, level) >= slices.Index(logLevels, m.Level)
}

// Speaker is the client that sent a request, as its session or the request describes it. The zero Speaker cannot be asked anything.
type Speaker struct {
	Era          Era             // "" counts as legacy
	Info         json.RawMessage // its own description; nil when there is none
	Capabilities json.RawMessage // what it can be asked; nil: nothing
	Level        string          // minimum level of log messages to send; "": not set
	Header       http.Header     // the headers that repeat arguments; may be nil
	Home         Peer            // reaches it outside of requests; may be nil
}

// Speaker is who sent the request.
func (r *Request) Speaker() Speaker {
	switch {
	case r.Meta != nil:
		return Speaker{
			Era: Modern, Info: r.Meta.Info, Capabilities: r.Meta.Capabilities, Level: r.Meta.Level,
			Header: paramHeaders(r.Meta.Header),
		}
	case r.Session != nil:
		return r.Session.speaker()
	}
	return Speaker{}
}

// speaker is who has opened the session.
func (s *Session) speaker() Speaker {
	return Speaker{Era: Legacy, Info: s.Info, Capabilities: s.Capabilities, Level: s.Level(), Home: s}
}

// abilities are the questions that a client can be asked, and the capability that says so.
var abilities = map[string]string{
	"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots",
}

// Ability is the capability that a client needs to be asked the method; "" if no client can be asked it.
func Ability(method string) string { return abilities[method] }

// Can tells whether the capabilities let the client be asked the method with these params.
func Can(capabilities json.RawMessage, method string, params json.RawMessage) bool {
	ability := rawjson.Get(capabilities, abilities[method])
	if len(ability) == 0 || ability[0] != '{' {
		return false
	}
	has := func(part string) bool { return rawjson.Get(ability, part) != nil }
	switch method {
	case "elicitation/create":
		if mode, _ := rawjson.String(rawjson.Get(params, "mode")); mode != "" && mode != "form" {
			return has(mode)
		}
		return has("form") || !has("url") // the bare capability means forms
	case "sampling/createMessage":
		return has("tools") || rawjson.Get(params, "tools") == nil
	}
	return true
}

// Declares tells whether capabilities have an extension.
func Declares(capabilities json.RawMessage, extension string) bool {
	settings := rawjson.Get(capabilities, "extensions", extension)
	return len(settings) > 0 && settings[0] == '{'
}

// CanBeAsked tells whether the capabilities let the client be asked anything at all.
func CanBeAsked(capabilities json.RawMessage) bool {
	w := rawjson.Object(capabilities)
	for w.Next() {
		switch string(w.Key) {
		case "elicitation", "sampling", "roots":
			return true
		}
	}
	return false
}
