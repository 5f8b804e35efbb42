package chatapi

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

type request struct {
	agent.Turn
	stream       bool
	includeUsage bool
}

// wire is the part of a request that is not passed on to the model.
type wire struct {
	Model         string                 `json:"model"`
	Messages      []conversation.Message `json:"messages"`
	Stream        *bool                  `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Metadata     map[string]any  `json:"metadata"`
	Store        *bool           `json:"store"`
	N            *int            `json:"n"`
	Tools        []any           `json:"tools"`
	Functions    []any           `json:"functions"`
	FunctionCall json.RawMessage `json:"function_call"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Logprobs     *bool           `json:"logprobs"`
	TopLogprobs  *int            `json:"top_logprobs"`
	Audio        json.RawMessage `json:"audio"`
	Modalities   []string        `json:"modalities"`
}

// ours are the names of its members.
var ours = map[string]bool{
	"model": true, "messages": true, "stream": true, "stream_options": true, "metadata": true, "store": true, "n": true, "tools": true,
	"functions": true, "function_call": true, "tool_choice": true, "logprobs": true, "top_logprobs": true,
	"audio": true, "modalities": true,
}

// SessionKey is the member of metadata that names the session to continue.
const SessionKey = "session"

// parse reads a request. It rejects what an agent cannot do.
func parse(data []byte) (*request, error) {
	if !utf8.Valid(data) {
		return nil, fault.New(fault.BadRequest, "the body is not UTF-8")
	}
	var in wire
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fault.New(fault.BadRequest, "the body is not a chat completion request: %w", rawjson.InWords(err))
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	req := &request{stream: in.Stream != nil && *in.Stream, includeUsage: in.StreamOptions != nil && in.StreamOptions.IncludeUsage}
	req.Turn = agent.Turn{Agent: in.Model, Messages: in.Messages, Unkept: in.Store != nil && !*in.Store,
		NoTools: string(in.ToolChoice) == `"none"`}
	req.Session, _ = in.Metadata[SessionKey].(string)
	for i := range req.Messages {
		req.Messages[i].Note = nil // only we write it
	}
	var err error
	req.Params, err = passedOn(data)
	return req, err
}

// passedOn returns the parameters for the model. Our members in another spelling are rejected, as
// readers would disagree about them.
func passedOn(data []byte) (json.RawMessage, error) {
	params := []byte{'{'}
	for w := rawjson.Object(data); w.Next(); {
		name := string(w.Key)
		if ours[name] || rawjson.IsNull(w.Value) {
			continue
		}
		for known := range ours {
			if strings.EqualFold(known, name) {
				return nil, fault.New(fault.BadRequest, "%.40q must be written %s", name, known)
			}
		}
		if len(params) > 1 {
			params = append(params, ',')
		}
		params = append(append(rawjson.AppendString(params, name), ':'), w.Value...)
	}
	return append(params, '}'), nil
}

func (in *wire) check() error {
	bad := func(format string, args ...any) error { return fault.New(fault.BadRequest, format, args...) }
	choice := string(in.ToolChoice)
	switch {
	case in.Model == "":
		return bad("model is missing: it names the agent")
	case in.N != nil && *in.N != 1:
		return bad("n must be 1: an agent gives one answer")
	case len(in.Tools) > 0 || len(in.Functions) > 0 || !rawjson.IsNull(in.FunctionCall):
		return fault.New(fault.BadRequest, "tools must be left out: an agent has its own").
			WithHint("choose them by available_tools of the agent")
	case choice != "" && choice != "null" && choice != `"auto"` && choice != `"none"`:
		return bad("tool_choice must be auto or none")
	case in.Logprobs != nil && *in.Logprobs || in.TopLogprobs != nil:
		return bad("logprobs are not given: an answer may take several rounds")
	case !rawjson.IsNull(in.Audio):
		return bad("audio is not given")
	}
	for _, m := range in.Modalities {
		if m != "text" {
			return bad("modalities must be text only")
		}
	}
	if session, given := in.Metadata[SessionKey]; given {
		if _, ok := session.(string); !ok {
			return bad("metadata.session must be text")
		}
		if in.Store != nil && !*in.Store {
			return bad("store must not be false with metadata.session: a chat that goes on is kept")
		}
	}
	return nil
}
