package call

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// recording is the record of a call while it runs.
type recording struct {
	caller  *Caller
	call    store.Call
	notes   []string        // warnings and other remarks
	session string          // in which calls are credited to searches; "": none
	outer   []fit.Repair    // repairs of the arguments of call_tool
	fetch   bool            // the call is one of fetch_result
	given   json.RawMessage // the arguments as they were sent
	full    int             // tokens of the full result; 0: not counted yet

	permitted string   // a digest of the tool and arguments that the policy has permitted
	approved  Approved // by whom; zero: nobody was asked

	detaching

	span *telemetry.Span // of the call; nil: there is none

	script    *scripted // that makes the call; nil: none
	run       string    // the run of a script that the call goes on with; "": none yet
	elsewhere bool      // another service carries out the call: it is not counted in our servers' metrics
}

func (c *Caller) begin(req *Request, span *telemetry.Span) *recording {
	parent := ""
	if req.script != nil {
		parent = req.script.run.rec.call.ID
	}
	return &recording{caller: c, given: req.Params.Args, span: span, script: req.script, call: store.Call{
		Parent: parent,
		ID:     c.log.NewID(), At: c.opts.Now(), Trace: span.Trace(),
		Principal: req.Principal.ID, Profile: req.Profile, Session: req.Params.Session,
		Agent: cmp.Or(req.Agent, req.Params.Agent), MCPSession: req.MCPSession,
		Upstream: cut(req.Params.Tool, 200), BytesIn: int64(len(req.Params.Args)),
	}}
}

func (r *recording) found(e *catalog.Entry) {
	r.call.Server = e.Server
	r.call.Tool = e.Name
	r.call.Upstream = e.Definition.Name
}

// sent notes which tool was called in the end, and what was repaired in the arguments.
func (r *recording) sent(s *sent) {
	if s.entry != nil { // of a tool that another service carries out there is none
		r.found(s.entry)
	}
	repairs := append(r.outer, s.fitted.Repairs...)
	if len(repairs) > 0 {
		text, _ := json.Marshal(repairs) // strings only
		r.call.Repairs = string(text)
	}
	for _, text := range s.fitted.Warn {
		r.note(text)
	}
	r.call.Arguments = store.NewArguments(r.given, s.fitted.Args)
}

// note adds what a reader of the record should know.
func (r *recording) note(text string) { r.notes = append(r.notes, text) }

// warn is note for what belongs in the log as well.
func (r *recording) warn(text string) {
	r.note(text)
	r.caller.opts.Logger.Warn(text, "call", r.call.ID, "tool", r.call.Tool)
}

// The outcomes of a call.
const (
	outcomeOK        = "ok"
	outcomeToolError = "tool_error" // the tool reports an error
	outcomeQuestion  = "question"   // the server asked its client something; the call is made again with the answer
	outcomeError     = "error"      // there is no result
	outcomeCanceled  = "canceled"
)

// maxReason limits how much of a tool's error text is recorded.
const maxReason = 1000

// end completes the record and stores it. If that fails the answer says so: the tool has run, and its result is returned anyway.
func (r *recording) end(ctx context.Context, res *Result, err error) error {
	if err == ErrHandedOver || r.live != nil && err != nil && r.live.Left() {
		if r.live != nil {
			r.live.Leave()
		}
		r.span.Called(&r.call, nil, nil)
		return err // somebody else ends the call and its record
	}
	addErr := r.add(ctx, res, err)
	if r.live != nil {
		defer r.answered(ctx, res, err)
	}
	if addErr == nil {
		return err
	}
	r.caller.opts.Logger.Error("a call is not on record", "call", r.call.ID, "tool", r.call.Tool, "error", fault.As(addErr))
	if err == nil && res.Kind == upstream.Complete { // a question or an error is what it was
		res.Set(Unrecorded(res.Raw))
	}
	return err
}

// add completes the record and stores it.
func (r *recording) add(ctx context.Context, res *Result, err error) error {
	c := &r.call
	c.Duration = r.caller.opts.Now().Sub(c.At)
	c.Outcome = outcomeOK
	c.Level = "info"
	if res != nil {
		isError := r.measure(res) || res.isError
		switch {
		case res.Kind == upstream.InputRequired:
			c.Outcome = outcomeQuestion
		case isError:
			c.Outcome = outcomeToolError
			c.Level = "error"
			if c.Message == "" { // otherwise it says what was fetched
				c.Message = cut(strings.TrimSpace(project.Text(res.Raw)), maxReason)
			}
		}
	}
	if len(r.notes) > 0 && c.Level == "info" { // repaired arguments are not among the notes: the call went well
		c.Level = "warn"
	}
	if err != nil {
		r.failed(err)
	}
	if len(r.notes) > 0 {
		c.Message = strings.TrimPrefix(c.Message+"; "+strings.Join(r.notes, "; "), "; ")
	}
	if !r.elsewhere {
		r.caller.opts.Metrics.observe(c)
	}
	if r.session != "" && c.Outcome != outcomeQuestion {
		r.caller.follow(ctx, r)
	}
	r.caller.counts.ended(c, r.fetch)
	if r.span != nil {
		r.span.Called(c, r.given, shownOf(res))
	}
	return r.caller.log.Add(context.WithoutCancel(ctx), *c)
}

// shownOf is what the caller gets of a result; nil if there is none.
func shownOf(res *Result) json.RawMessage {
	if res == nil {
		return nil
	}
	return res.Raw
}

// measure notes the size of the arguments and the result, and tells whether the tool reports an error.
func (r *recording) measure(res *Result) (isError bool) {
	c := &r.call
	c.BytesFull = int64(len(res.full))
	c.BytesSent = int64(len(res.Raw))
	sent, isError := project.Measure(res.Raw, res.Longest)
	full := r.full
	switch {
	case full > 0:
	case c.BytesSent == c.BytesFull:
		full = sent
	default:
		full = project.Tokens(res.full)
	}
	c.TokensIn = int64(tokens.Sampled([]byte(res.Fitted.Args)))
	c.TokensFull = int64(full)
	c.TokensSent = int64(sent)
	return isError
}

func (r *recording) failed(err error) {
	c := &r.call
	c.Outcome = outcomeError
	c.Level = "error"
	var rpc *mcp.Error
	if errors.As(err, &rpc) {
		c.Code = strconv.Itoa(rpc.Code)
		c.Message = rpc.Message
	} else {
		f := fault.As(err)
		c.Code = string(f.Code)
		c.Message = f.Message
		if f.Code == fault.Canceled {
			c.Outcome = outcomeCanceled
			c.Level = "info"
		}
		if f.Code == fault.BadArguments && c.Arguments == nil {
			c.Arguments = store.NewArguments(r.given, nil)
		}
	}
}

// cut limits what a caller can make us store. The rest of the text is not held on to.
func cut(text string, longest int) string {
	if len(text) > longest {
		text = strings.Clone(text[:longest])
	}
	return strings.ToValidUTF8(text, "")
}
