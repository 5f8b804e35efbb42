package mcpserver

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// toolsPrompt is our own prompt: the profile's tools as text. Within a session the text only grows.
func (v *visitor) toolsPrompt(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	variant := call.Variant{}
	if format, ok := rawjson.String(rawjson.Get(req.Params, "arguments", "format")); ok {
		variant.Format = prompt.Format(format)
	}
	if text, ok := rawjson.String(rawjson.Get(req.Params, "arguments", "budget")); ok && text != "" {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "budget must be a number of tokens")
		}
		variant.Budget = n
	}
	session := v.sessionKey(req)
	if session == v.principal.ID {
		session = "" // nobody's in particular
	}
	page, err := v.server.calls.Prompt(ctx, call.PromptRequest{Principal: v.principal, Profile: v.profile, Session: session, Variant: variant})
	if err != nil {
		return nil, rpcError(err)
	}
	raw := []byte(`{"description":"The tools, as text","messages":[{"role":"user","content":{"type":"text","text":`)
	raw = rawjson.AppendString(raw, page.Text)
	return &upstream.Outcome{Raw: append(raw, "}}]}"...)}, nil
}

// completeTools completes an argument of the prompt of ours.
func completeTools(params json.RawMessage) *upstream.Outcome {
	name, _ := rawjson.String(rawjson.Get(params, "argument", "name"))
	typed, _ := rawjson.String(rawjson.Get(params, "argument", "value"))
	values := []string{}
	for _, f := range []prompt.Format{prompt.TypeScript, prompt.Markdown, prompt.Signature, prompt.JSON} {
		if name == "format" && strings.HasPrefix(string(f), typed) {
			values = append(values, string(f))
		}
	}
	raw, _ := json.Marshal(map[string]any{"completion": map[string]any{"values": values}}) // strings only
	return &upstream.Outcome{Raw: raw}
}

// isOurs tells whether a prompt is the one of ours.
func isOurs(e *catalog.Entry) bool { return e.Own && e.Shown == catalog.ToolsPrompt }
