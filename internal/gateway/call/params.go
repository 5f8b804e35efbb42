package call

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Params are the params of a tools/call, split once. The bytes are read-only and reach the server unchanged except for the tool's name.
type Params struct {
	Raw     json.RawMessage
	Tool    string          // as the caller named it
	Args    json.RawMessage // nil when absent
	Session string          // from _meta["toolfit/session"]; "" when absent
	Agent   string          // from _meta["toolfit/agent"]; "" when absent

	progress rawjson.Span // where the progress token stands in Raw; zero: there is none

	name rawjson.Span // where the tool's name stands in Raw
	args rawjson.Span // where Args stand in Raw; zero: nowhere
	meta rawjson.Span // where _meta stands in Raw; zero: nowhere
}

// The members of _meta in which a caller names the session and the agent of a call.
const (
	sessionKey = "toolfit/session"
	agentKey   = "toolfit/agent"
	maxLabel   = 256 // bytes of either: they are stored in every record
)

// ParseParams splits raw. Members that decide where the call goes must be there once and spelled exactly, so that every
// server understands the same tool.
func ParseParams(raw json.RawMessage) (Params, error) {
	p := Params{Raw: raw}
	if !utf8.Valid(raw) {
		// Such a byte crashes servers that read their input as text, for all callers.
		return Params{}, fault.New(fault.BadRequest, "params: the text is not UTF-8")
	}
	w := rawjson.Object(raw)
	for w.Next() {
		twice := false
		switch string(w.Key) {
		case "name":
			twice = p.name.End != 0
			p.name = rawjson.Span{Start: w.Start, End: w.End}
		case "arguments":
			twice = p.Args != nil
			p.Args, p.args = w.Value, rawjson.Span{Start: w.Start, End: w.End}
		case "_meta":
			twice = p.meta.End != 0
			p.meta = rawjson.Span{Start: w.Start, End: w.End}
		default:
			if mcp.Lookalike(w.Key, "name", "arguments", "_meta") {
				return Params{}, fault.New(fault.BadRequest, "params: member %q is a misspelling", w.Key)
			}
		}
		if twice {
			return Params{}, fault.New(fault.BadRequest, "params: member %q stands there twice", w.Key)
		}
	}
	if err := w.Err(); err != nil {
		return Params{}, fault.New(fault.BadRequest, "params: %w", err)
	}
	var ok bool
	if p.Tool, ok = rawjson.String(raw[p.name.Start:p.name.End]); !ok || p.Tool == "" {
		return Params{}, fault.New(fault.BadRequest, "params.name must be the name of a tool")
	}
	if !rawjson.IsNull(p.Args) && p.Args[0] != '{' && p.Args[0] != '"' { // a string may contain an object
		return Params{}, fault.New(fault.BadRequest, "params.arguments must be an object, got %s", kindOf(p.Args))
	}
	if p.meta.End != 0 {
		if err := p.readMeta(raw[p.meta.Start:p.meta.End]); err != nil {
			return Params{}, err
		}
	}
	return p, nil
}

// readMeta reads our members of _meta. A second progress token is refused: servers get one of ours, and the second could be another call's.
func (p *Params) readMeta(meta json.RawMessage) error {
	seen := false
	w := rawjson.Object(meta)
	for w.Next() {
		switch {
		case string(w.Key) == sessionKey || string(w.Key) == agentKey:
			label := &p.Session
			if string(w.Key) == agentKey {
				label = &p.Agent
			}
			if *label, _ = rawjson.String(w.Value); len(*label) > maxLabel {
				return fault.New(fault.BadRequest, "params._meta: %s is longer than %d bytes", w.Key, maxLabel)
			}
		case string(w.Key) == "progressToken":
			if seen {
				return fault.New(fault.BadRequest, "params._meta: member %q stands there twice", w.Key)
			}
			seen = true
			if !rawjson.IsNull(w.Value) {
				p.progress = rawjson.Span{Start: p.meta.Start + w.Start, End: p.meta.Start + w.End}
			}
		case mcp.Lookalike(w.Key, "progressToken"):
			return fault.New(fault.BadRequest, "params._meta: member %q is a misspelling", w.Key)
		}
	}
	return nil
}

// NewParams makes params for callers that do not speak MCP; args may be nil.
func NewParams(tool string, args json.RawMessage) (Params, error) {
	raw := rawjson.AppendString([]byte(`{"name":`), tool)
	if args != nil {
		if err := rawjson.Check(args); err != nil {
			return Params{}, fault.New(fault.BadRequest, "the arguments are no JSON: %w", err)
		}
		raw = append(append(raw, `,"arguments":`...), args...)
	}
	return ParseParams(append(raw, '}'))
}

// forServer is the params as the server gets them: its own name for the tool, and arguments that fit. It also returns where _meta is.
func (p Params) forServer(name string, args json.RawMessage) (raw json.RawMessage, meta rawjson.Span) {
	var room [2]rawjson.Edit
	edits := append(room[:0], rawjson.Edit{Start: p.name.Start, End: p.name.End, New: rawjson.AppendString(nil, name)})
	switch {
	case len(args) == 0 || p.args.End > 0 && &args[0] == &p.Args[0] && len(args) == len(p.Args):
	case p.args.End > 0:
		edits = append(edits, rawjson.Edit{Start: p.args.Start, End: p.args.End, New: args})
		if p.args.Start < p.name.Start {
			edits[0], edits[1] = edits[1], edits[0]
		}
	default:
		edits[0].New = append(append(edits[0].New, `,"arguments":`...), args...)
	}
	raw = rawjson.AppendSplice(make([]byte, 0, len(p.Raw)+len(name)+len(args)), p.Raw, edits...)
	if p.meta.End > 0 {
		moved := 0
		for _, e := range edits {
			if e.Start < p.meta.Start {
				moved += len(e.New) - (e.End - e.Start)
			}
		}
		meta = rawjson.Span{Start: p.meta.Start + moved, End: p.meta.End + moved}
	}
	return raw, meta
}

func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case '{':
		return "an object"
	case 'n':
		return "null"
	}
	return "a number"
}

// wantsProgress tells whether the caller hears of the call's progress.
func (p *Params) wantsProgress() bool { return p.progress.End > 0 }

// progressToken is the token under which the caller hears of progress; nil if it does not.
func (p *Params) progressToken() json.RawMessage {
	if p.progress.End == 0 {
		return nil
	}
	return p.Raw[p.progress.Start:p.progress.End]
}
