package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/call"
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
	args, _, err := only(req.Params, "arguments")
	if err != nil {
		return nil, err
	}
	if rawjson.IsNull(args) {
		args = json.RawMessage("{}")
	}
	if err := v.permit(e.PolicyPrompt(), args); err != nil {
		return nil, err
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
	return v.read(ctx, req, "contents")
}

// read passes the request on under the server's own URI of the resource. The result has the URIs of skills' files under member.
func (v *visitor) read(ctx context.Context, req *mcp.Request, member string) (*upstream.Outcome, error) {
	at, err := v.readable(req.Params)
	if err != nil {
		return nil, err
	}
	if member == "resources" && !at.view.ListsDirectories(at.server) {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "server %s does not list directories", at.server)
	}
	out, err := v.relay(ctx, req, at.server, rename(req.Params, at.edit, at.uri))
	if err == nil && out.Kind != upstream.InputRequired {
		may := func(uri string) bool {
			return call.PermitResource(at.view, v.principal, at.server, uri, v.server.opts.Now()) == nil
		}
		out.Set(at.view.Here(at.server, at.asked, member, out.Raw, may))
	}
	return out, err
}

// located is a resource that was found.
type located struct {
	view   *catalog.View
	server tool.ServerID
	uri    string       // at the server
	asked  string       // as the request has it
	edit   rawjson.Edit // where that stands
}

// owner finds the server of the resource that params name, and the server's URI of it.
func (v *visitor) owner(params json.RawMessage) (l located, err error) {
	if l.view, err = v.view(); err != nil {
		return l, rpcError(err)
	}
	if l.asked, l.edit, err = member(params, "uri"); err != nil {
		return l, err
	}
	if l.server, err = l.view.Owner(l.asked); err != nil {
		data, _ := json.Marshal(map[string]string{"uri": l.asked}) // a string only
		return l, &mcp.Error{Code: mcp.CodeNoResource, Message: fault.As(err).Error(), Data: data}
	}
	l.uri = l.view.Original(l.asked)
	return l, nil
}

// readable is owner for a resource that the caller may read.
func (v *visitor) readable(params json.RawMessage) (located, error) {
	l, err := v.owner(params)
	if err != nil {
		return l, err
	}
	if err := call.PermitResource(l.view, v.principal, l.server, l.uri, v.server.opts.Now()); err != nil {
		return l, rpcError(err)
	}
	return l, nil
}

// permit asks the policy about a prompt, a resource or a skill; nil args are not known yet.
func (v *visitor) permit(t policy.Tool, args json.RawMessage) error {
	view, err := v.view()
	if err != nil {
		return rpcError(err)
	}
	if err := call.Permit(view, v.principal, t, args, v.server.opts.Now()); err != nil {
		return rpcError(err)
	}
	return nil
}

// complete passes the request on to the owner of the prompt or resource that it is about. The policy is asked about a resource as
// it is given, which may be a template, and about a prompt without its arguments.
func (v *visitor) complete(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	ref, within, err := only(req.Params, "ref")
	if err == nil && ref == nil {
		err = mcp.Errorf(mcp.CodeInvalidParams, "params.ref is missing")
	}
	if err != nil {
		return nil, err
	}
	raw, _, err := only(ref, "type")
	if err != nil {
		return nil, err
	}
	if kind, _ := rawjson.String(raw); kind != "ref/resource" {
		return v.completePrompt(ctx, req, ref, within)
	}
	l, err := v.readable(ref)
	if err != nil {
		return nil, err
	}
	return v.relay(ctx, req, l.server, renameWithin(req.Params, within, l.edit, l.uri))
}

func (v *visitor) completePrompt(ctx context.Context, req *mcp.Request, ref json.RawMessage, within rawjson.Edit) (*upstream.Outcome, error) {
	e, at, err := v.prompt(ref)
	if err != nil {
		return nil, err
	}
	if isOurs(e) {
		return completeTools(req.Params), nil
	}
	if err := v.permit(e.PolicyPrompt(), nil); err != nil {
		return nil, err
	}
	return v.relay(ctx, req, e.Server, renameWithin(req.Params, within, at, e.Definition.Name))
}

// renameWithin renames what stands at a place of a member, which stands within params.
func renameWithin(params json.RawMessage, within, at rawjson.Edit, name string) json.RawMessage {
	at.Start += within.Start
	at.End += within.Start
	return rename(params, at, name)
}

// member reads the text under key. It decides where the request goes, so it must be there.
func member(params json.RawMessage, key string) (text string, at rawjson.Edit, err error) {
	value, at, err := only(params, key)
	if err != nil {
		return "", at, err
	}
	text, _ = rawjson.String(value)
	if text == "" {
		return "", at, mcp.Errorf(mcp.CodeInvalidParams, "%s is missing", key)
	}
	return text, at, nil
}

// only is the value under key, which must not be there twice, nor spelled in another way; nil: it is not there.
func only(params json.RawMessage, key string) (value json.RawMessage, at rawjson.Edit, err error) {
	w := rawjson.Object(params)
	for w.Next() {
		switch {
		case mcp.Lookalike(w.Key, key):
			return nil, at, mcp.Errorf(mcp.CodeInvalidParams, "member %q is a misspelling", w.Key)
		case string(w.Key) != key:
			continue
		case at.End != 0:
			return nil, at, mcp.Errorf(mcp.CodeInvalidParams, "member %q stands there twice", key)
		}
		at.Start = w.Start
		at.End = w.End
		value = w.Value
	}
	if w.Err() != nil {
		return nil, at, mcp.Errorf(mcp.CodeInvalidParams, "%s is missing", key)
	}
	return value, at, nil
}

func rename(params json.RawMessage, at rawjson.Edit, name string) json.RawMessage {
	at.New = rawjson.AppendString(nil, name)
	return rawjson.AppendSplice(make([]byte, 0, len(params)+len(name)), params, at)
}
