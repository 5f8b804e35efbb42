package call

import (
	"context"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// unwrap makes a call of call_tool the call that it stands for. From here on nothing tells
// the two apart: the same decision, the same fitting, one record of the tool that is called.
func (c *Caller) unwrap(ctx context.Context, t target, req *Request, rec *recording) (target, error) {
	if !t.entry.Own || t.entry.Shown != CallTool {
		return t, nil
	}
	if rawjson.IsNull(t.args) {
		t.args = none
	}
	outer, err := t.view.Fit(ctx, t.entry, req.dialect(t.view), t.args)
	if err != nil {
		return t, err
	}
	name, _ := rawjson.String(rawjson.Get(outer.Args, "name"))
	if name == CallTool {
		return t, fault.New(fault.BadArguments, "/name: call_tool does not call itself").WithHint("name the tool that is meant")
	}
	args := rawjson.Get(outer.Args, "arguments")
	if rawjson.IsNull(args) {
		args = none
	}
	raw, _ := req.Params.forServer(name, args)
	if req.Params, err = ParseParams(raw); err != nil {
		return t, err
	}
	req.AsListed, req.Dialect = false, "" // its signature names the arguments that it takes itself
	view := t.view
	if t, err = c.resolve(ctx, req); fault.Is(err, fault.UnknownTool) {
		return t, unknown(view, name, req.May)
	}
	if err != nil {
		return t, err
	}
	rec.found(t.entry)
	rec.call.BytesIn, rec.given, rec.outer = int64(len(args)), args, outer.Repairs
	return t, nil
}
