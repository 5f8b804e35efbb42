package call

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/store"
)

// recording is the record of a call while it runs.
type recording struct {
	caller *Caller
	call   store.Call
}

func (c *Caller) begin(req *Request) *recording {
	return &recording{caller: c, call: store.Call{
		ID: c.log.NewID(), At: c.opts.Now(),
		Principal: req.Principal.ID, Profile: req.Profile, Session: req.Params.Session, Agent: req.Agent, MCPSession: req.MCPSession,
		Upstream: cut(req.Params.Tool, 200), BytesIn: int64(len(req.Params.Args)),
	}}
}

func (r *recording) found(e *catalog.Entry) {
	r.call.Server, r.call.Tool, r.call.Upstream = e.Server, e.Name, e.Definition.Name
}

// The outcomes of a call.
const (
	outcomeOK        = "ok"
	outcomeToolError = "tool_error" // the tool says that it did not work
	outcomeError     = "error"      // there is no result
	outcomeCanceled  = "canceled"
)

// end completes the record and keeps it. In durable mode its error fails the call: what
// is acknowledged is recorded.
func (r *recording) end(ctx context.Context, res *Result, err error) error {
	c := &r.call
	c.Duration = r.caller.opts.Now().Sub(c.At)
	c.Outcome, c.Level = outcomeOK, "info"
	if res != nil {
		c.BytesFull, c.BytesSent = int64(len(res.Raw)), int64(len(res.Raw))
		if isToolError(res.Raw) {
			c.Outcome, c.Level = outcomeToolError, "error"
		}
	}
	if err != nil {
		r.failed(err)
	}
	r.caller.opts.Metrics.observe(c)
	if addErr := r.caller.log.Add(context.WithoutCancel(ctx), *c); addErr != nil {
		return fmt.Errorf("record call %s: %w", c.ID, addErr)
	}
	return nil
}

func (r *recording) failed(err error) {
	c := &r.call
	c.Outcome, c.Level = outcomeError, "error"
	var rpc *mcp.Error
	if errors.As(err, &rpc) {
		c.Code, c.Message = strconv.Itoa(rpc.Code), rpc.Message
	} else {
		f := fault.As(err)
		c.Code, c.Message = string(f.Code), f.Message
		if f.Code == fault.Canceled {
			c.Outcome, c.Level = outcomeCanceled, "info"
		}
	}
}

// cut bounds what a caller can make us keep.
func cut(text string, longest int) string {
	return strings.ToValidUTF8(text[:min(len(text), longest)], "")
}
