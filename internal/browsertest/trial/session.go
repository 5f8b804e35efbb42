package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
)

// session is a browser that is reached through the spine, as one caller.
type session struct {
	lab    *Lab
	server tool.ServerID
	as     call.Request // what every call of it has in common
}

// needed are the tools without which a server is no browser.
var needed = []string{"browser_snapshot", "browser_navigate", "browser_click"}

// browserOf is the server of a profile that has a browser. Two of them are not chosen from.
func browserOf(view *catalog.View) (tool.ServerID, error) {
	has := map[tool.ServerID]int{}
	var found []string
	for _, e := range view.Entries {
		if !e.Own && slices.Contains(needed, e.Definition.Name) {
			has[e.Server]++
			if has[e.Server] == len(needed) {
				found = append(found, string(e.Server))
			}
		}
	}
	switch len(found) {
	case 0:
		return "", fault.New(fault.NotFound, "profile %s has no server with a browser", view.Profile).
			WithHint("add one: toolfit add browser -- npx -y @playwright/mcp --headless --isolated")
	case 1:
		return tool.ServerID(found[0]), nil
	}
	return "", fault.New(fault.Conflict, "profile %s has several servers with a browser: %s", view.Profile, strings.Join(found, ", ")).
		WithHint("make a profile that has one of them")
}

// Tools are those that the profile shows of the server.
func (s *session) Tools(context.Context) ([]run.Tool, error) {
	view, err := s.lab.parts.Catalog.View(s.as.Profile)
	if err != nil {
		return nil, err
	}
	var list []run.Tool
	for _, e := range view.Entries {
		if e.Server == s.server && !e.Own {
			list = append(list, run.Tool{Name: e.Definition.Name, InputSchema: e.InputSchema()})
		}
	}
	if len(list) == 0 {
		return nil, fault.New(fault.UpstreamDown, "server %s shows no tools", s.server).WithHint("see: toolfit servers --check")
	}
	return list, nil
}

// fitter shows what the spine will make of a call, for the report.
func (s *session) fitter([]run.Tool) run.Fitter {
	return func(ctx context.Context, c run.Call) (run.Call, error) {
		started := s.lab.now()
		defer func() { s.lab.parts.Metrics.converted(s.lab.now().Sub(started)) }()
		view, err := s.lab.parts.Catalog.View(s.as.Profile)
		if err != nil {
			return c, err
		}
		entry, args := s.entry(view, c)
		if entry == nil {
			return c, nil // the runner says that the tool is missing
		}
		res, err := view.Fit(ctx, entry, "", args)
		return run.Call{Tool: entry.Definition.Name, Arguments: res.Args}, err
	}
}

// entry is the tool of the server that a call means; nil for none.
func (s *session) entry(view *catalog.View, c run.Call) (*catalog.Entry, json.RawMessage) {
	name := tool.Canonical(s.server, c.Tool)
	if e := view.Named(name); e != nil {
		return e, c.Arguments
	}
	if e, args, ok := view.Route(string(name), c.Arguments); ok && e.Server == s.server {
		return e, args
	}
	return nil, nil
}

// Call makes the call as it was asked: the spine fits it.
func (s *session) Call(ctx context.Context, asked, _ run.Call) (json.RawMessage, error) {
	view, err := s.lab.parts.Catalog.View(s.as.Profile)
	if err != nil {
		return nil, err
	}
	entry, args := s.entry(view, asked)
	if entry == nil {
		return nil, &snapshot.Error{Code: snapshot.ToolMissing, Message: "the browser server has no tool " + asked.Tool}
	}
	params, err := call.NewParams(entry.Shown, args)
	if err != nil {
		return nil, err
	}
	params.Session = s.as.Params.Session
	req := s.as
	req.Params = params
	req.Whole = true // a snapshot is not cut: the report keeps what counts
	req.Found = true
	res, err := s.lab.parts.Caller.Do(ctx, req)
	if err != nil {
		return nil, failed(ctx, err)
	}
	raw := slices.Clone(res.Raw)
	res.Release()
	return raw, nil
}

// failed gives an error of the spine the code that steps know.
func failed(ctx context.Context, err error) error {
	var rpc *mcp.Error
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &rpc):
		return &snapshot.Error{Code: snapshot.CallFailed, Message: rpc.Message}
	case !errors.As(err, &f):
		return err
	}
	return &snapshot.Error{Code: cmp.Or(stepCodes[f.Code], snapshot.ServerGone), Message: f.Message}
}

// stepCodes are the codes of steps for those of the gateway; all others are ServerGone.
var stepCodes = map[fault.Code]snapshot.Code{
	fault.BadArguments:    snapshot.BadParameters,
	fault.BadRequest:      snapshot.BadParameters,
	fault.UnknownTool:     snapshot.ToolMissing,
	fault.Forbidden:       snapshot.ToolMissing,
	fault.UpstreamTimeout: snapshot.TimedOut,
	fault.UpstreamBusy:    snapshot.BrowserBusy,
	fault.RateLimited:     snapshot.BrowserBusy,
}

// close ends what the server keeps for the session.
func (s *session) close() {
	s.lab.parts.End(s.as.Principal.ID + "/" + s.as.Params.Session)
}
