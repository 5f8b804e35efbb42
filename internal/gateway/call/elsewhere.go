package call

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

// Elsewhere is a tool of another service, which is not in our catalog.
type Elsewhere struct {
	Server tool.ServerID
	Tool   string    // the server's own name for it
	Fit    *fit.Tool // nil: its schema is not known
	// Send carries out the call and tells whether the tool reports an error.
	Send func(ctx context.Context, args json.RawMessage) (result json.RawMessage, isError bool, err error)
}

// DoElsewhere makes a call that another service carries out, and records it as Do does. It is
// not known which of these tools are read-only.
func (c *Caller) DoElsewhere(ctx context.Context, req Request, to Elsewhere) (res *Result, err error) {
	ctx, span := c.opts.Trace.Call(ctx)
	defer span.Return()
	rec := c.begin(&req, span)
	rec.elsewhere = true
	rec.call.Server = to.Server
	rec.call.Upstream = to.Tool
	rec.call.Tool = tool.Canonical(to.Server, to.Tool)
	defer func() { err = rec.end(ctx, res, err) }()

	s := sent{fitted: fit.Result{Args: req.Params.Args}}
	if to.Fit != nil {
		s.fitted, err = to.Fit.Fit(ctx, req.Params.Args)
		rec.sent(&s)
		if err != nil {
			return nil, err
		}
	}
	if c.log.Refuses() != nil {
		return nil, ErrUnrecordable
	}
	view, err := c.tools.View(req.Profile)
	if err != nil {
		return nil, err
	}
	p := Permission{Tool: catalog.UnknownTool(to.Server, to.Tool), Args: s.fitted.Args}
	if err := c.permit(ctx, view, &req, rec, p); err != nil {
		return nil, err
	}
	out, isError, err := to.Send(ctx, s.fitted.Args)
	if err != nil {
		return nil, err
	}
	return &Result{Outcome: upstream.Outcome{Raw: out}, ID: rec.call.ID, Fitted: s.fitted, full: out, isError: isError}, nil
}
