package call

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

// fit makes the server's message: the tool under its server's own name, and arguments that it takes. What fits keeps its bytes.
func (c *Caller) fit(ctx context.Context, s *sent, req *Request) (upstream.Call, error) {
	given := orNone(s.args)
	view := s.view
	if s.dialect.CountsTools() { // its schemas depend on which tools the caller sees
		view = view.As(req.Principal)
	}
	fitting, span := c.opts.Trace.Begin(ctx, "fit")
	var err error
	s.fitted, err = view.Fit(fitting, s.entry, s.dialect, given)
	span.Fitted(&s.fitted, err)
	c.opts.Metrics.fitted(s.fitted, err)
	if err != nil {
		return upstream.Call{}, err
	}
	args := s.fitted.Args
	if string(args) == "{}" && len(given) == len(noArgs) {
		args = s.args // absent stays absent
	}
	name := s.entry.Definition.Name
	params, meta := s.params.forServer(name, args)
	return upstream.Call{
		Server: s.entry.Server, Tool: name, Params: params, Meta: meta, Header: s.view.Mirror(s.entry).Header(args, req.From.Header),
		Session: req.session(), Caller: req.Principal.ID, From: req.From, Peer: req.Client,
	}, nil
}

// took notes arguments that the tool accepted though nobody has checked them in full: its schema may
// list too few values.
func (s *sent) took(ctx context.Context, raw json.RawMessage) {
	if s.view.Light() && !isToolError(raw) {
		s.entry.Took(ctx, s.fitted.Args)
	}
}

// checkOutput checks a result against its tool's output schema, if the profile asks for it.
func (c *Caller) checkOutput(ctx context.Context, s *sent, rec *recording, raw json.RawMessage) error {
	if s.view.Output == "off" || s.view.Output == "" || isToolError(raw) {
		return nil
	}
	err := s.entry.CheckOutput(ctx, rawjson.Get(raw, "structuredContent"))
	if err == nil || fault.Is(err, fault.Canceled) {
		return err
	}
	f := fault.As(err)
	bad := fault.New(fault.BadResult, "the result of %s is not what the tool promises: %s", s.entry.Shown, f.Message)
	bad.Details = f.Details
	if s.view.Output == "strict" {
		return bad
	}
	rec.warn(bad.Message)
	return nil
}
