package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// getPrompt passes the request on under the server's own name for the prompt.
func (v *visitor) getPrompt(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	e, at, err := v.prompt(req.Params)
	if err != nil {
		return nil, err
	}
	if isOurs(e) {
		return v.toolsPrompt(ctx, req)
	}
	return v.relay(ctx, req, e.Server, rename(req.Params, at, e.Definition.Name))
}

// prompt finds the prompt that params name, and where the name stands in them.
func (v *visitor) prompt(params json.RawMessage) (e *catalog.Entry, at rawjson.Edit, err error) {
	view, err := v.view()
	if err != nil {
		return nil, at, rpcError(err)
	}
	name, at, err := member(params, "name")
	if err != nil {
		return nil, at, err
	}
	e, err = view.FindPrompt(name)
	if err != nil {
		return nil, at, rpcError(err)
	}
	return e, at, nil
}

func (v *visitor) readResource(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	server, _, err := v.owner(req.Params)
	if err != nil {
		return nil, err
	}
	return v.relay(ctx, req, server, req.Params)
}

// owner finds the server of the resource that params name.
func (v *visitor) owner(params json.RawMessage) (tool.ServerID, string, error) {
	view, err := v.view()
	if err != nil {
		return "", "", rpcError(err)
	}
	uri, _, err := member(params, "uri")
	if err != nil {
		return "", "", err
	}
	server, err := view.Owner(uri)
	if err != nil {
		data, _ := json.Marshal(map[string]string{"uri": uri}) // a string only
		return "", "", &mcp.Error{Code: mcp.CodeNoResource, Message: fault.As(err).Error(), Data: data}
	}
	return server, uri, nil
}

// complete passes the request on to the owner of the prompt or resource that it is about.
func (v *visitor) complete(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	ref := rawjson.Object(req.Params)
	for ref.Next() {
		if string(ref.Key) != "ref" {
			continue
		}
		kind, _ := rawjson.String(rawjson.Get(ref.Value, "type"))
		if kind == "ref/resource" {
			server, _, err := v.owner(ref.Value)
			if err != nil {
				return nil, err
			}
			return v.relay(ctx, req, server, req.Params)
		}
		return v.completePrompt(ctx, req, ref)
	}
	return nil, mcp.Errorf(mcp.CodeInvalidParams, "params.ref is missing")
}

func (v *visitor) completePrompt(ctx context.Context, req *mcp.Request, ref rawjson.Walk) (*upstream.Outcome, error) {
	e, at, err := v.prompt(ref.Value)
	if err != nil {
		return nil, err
	}
	if isOurs(e) {
		return completeTools(req.Params), nil
	}
	at.Start += ref.Start
	at.End += ref.Start
	return v.relay(ctx, req, e.Server, rename(req.Params, at, e.Definition.Name))
}

// member reads the text under key. It decides where the request goes, so it must be there once and spelled exactly.
func member(params json.RawMessage, key string) (text string, at rawjson.Edit, err error) {
	w := rawjson.Object(params)
	for w.Next() {
		switch {
		case mcp.Lookalike(w.Key, key):
			return "", at, mcp.Errorf(mcp.CodeInvalidParams, "member %q is a misspelling", w.Key)
		case string(w.Key) != key:
			continue
		case at.End != 0:
			return "", at, mcp.Errorf(mcp.CodeInvalidParams, "member %q stands there twice", key)
		}
		at.Start = w.Start
		at.End = w.End
		text, _ = rawjson.String(w.Value)
	}
	if w.Err() != nil || text == "" {
		return "", at, mcp.Errorf(mcp.CodeInvalidParams, "%s is missing", key)
	}
	return text, at, nil
}

func rename(params json.RawMessage, at rawjson.Edit, name string) json.RawMessage {
	at.New = rawjson.AppendString(nil, name)
	return rawjson.AppendSplice(make([]byte, 0, len(params)+len(name)), params, at)
}
