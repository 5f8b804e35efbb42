package call

import (
	"encoding/json"
	"errors"

	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/upstream"
	"github.com/toolfit/toolfit/schema"
)

// fit makes the server's message from the caller's: the tool under its server's name for
// it, the arguments with the dialect's changes undone. What nothing changes keeps its bytes.
func (c *Caller) fit(view *catalog.View, entry *catalog.Entry, req *Request) (upstream.Call, error) {
	args, err := undo(view, entry, req)
	if err != nil {
		return upstream.Call{}, err
	}
	params, token := req.Params.forServer(entry.Definition.Name, args)
	return upstream.Call{
		Server: entry.Server, Tool: entry.Definition.Name, Params: params, Token: token, Session: req.session(), Client: req.Session, Peer: req.Client,
	}, nil
}

// undo maps arguments for the dialect's schema to those for the tool's own.
func undo(view *catalog.View, entry *catalog.Entry, req *Request) (json.RawMessage, error) {
	args, dialect := req.Params.Args, req.Dialect
	if req.AsListed {
		dialect = view.Dialect
	}
	if dialect == "" || rawjson.IsNull(args) {
		return args, nil
	}
	fitting, err := view.For(dialect)
	if err != nil {
		return nil, err
	}
	t := fitting.Tool(entry.Shown)
	if t == nil || t.Plan == nil {
		return args, nil // it was never shown in the dialect: these are arguments for the tool itself
	}
	back, _, err := t.Plan.Back(args)
	var bad *schema.Error
	if errors.As(err, &bad) {
		return nil, fault.New(fault.BadArguments, "the arguments of %s cannot be mapped back: %w", entry.Shown, err).WithDetails(bad)
	}
	return back, err
}
