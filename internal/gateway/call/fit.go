package call

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/schema"
)

// target is the tool that a call is for, with the caller's arguments.
type target struct {
	view  *catalog.View
	entry *catalog.Entry
	args  json.RawMessage
}

// none stands for arguments that are absent.
var none = json.RawMessage("{}")

// dialect is whose arguments the request's are.
func (r *Request) dialect(v *catalog.View) schema.Dialect {
	if r.AsListed {
		return v.Dialect
	}
	return r.Dialect
}

// fit makes the server's message from the caller's: the tool under its server's name for
// it, and arguments that it takes. What nothing changes keeps its bytes.
func (c *Caller) fit(ctx context.Context, t target, req *Request) (upstream.Call, fit.Result, error) {
	given := t.args
	if rawjson.IsNull(given) {
		given = none
	}
	res, err := t.view.Fit(ctx, t.entry, req.dialect(t.view), given)
	c.opts.Metrics.fitted(res, err)
	if err != nil {
		return upstream.Call{}, res, err
	}
	args := res.Args
	if string(args) == "{}" && len(given) == len(none) {
		args = t.args // absent stays absent
	}
	params, meta := req.Params.forServer(t.entry.Definition.Name, args)
	return upstream.Call{
		Server: t.entry.Server, Tool: t.entry.Definition.Name, Params: params, Meta: meta, Header: t.view.Mirror(t.entry).Header(args, req.From.Header),
		Session: req.session(), Caller: req.Principal.ID, From: req.From, Peer: req.Client,
	}, res, nil
}

// checkOutput holds a result to what its tool promises, where the profile wants that.
func (c *Caller) checkOutput(ctx context.Context, t target, rec *recording, raw json.RawMessage) error {
	if t.view.Output == "off" || t.view.Output == "" || isToolError(raw) {
		return nil
	}
	err := t.entry.CheckOutput(ctx, rawjson.Get(raw, "structuredContent"))
	if err == nil || fault.Is(err, fault.Canceled) {
		return err
	}
	f := fault.As(err)
	bad := fault.New(fault.BadResult, "the result of %s is not what the tool promises: %s", t.entry.Shown, f.Message)
	bad.Details = f.Details
	if t.view.Output == "strict" {
		return bad
	}
	rec.note(bad.Message)
	c.opts.Logger.Warn(bad.Message, "call", rec.call.ID, "tool", t.entry.Name)
	return nil
}
