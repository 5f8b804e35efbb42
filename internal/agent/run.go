package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/toolfit/toolfit/internal/agent/toolcall"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// maxAtOnce bounds how many calls of one answer are made at a time.
const maxAtOnce = 16

// run makes the calls of one round, those that do not depend on each other at once, and
// keeps what came of each as soon as it is there. Where the round is not open, or the
// number of calls is used up, they are answered and not made.
func (c *chat) run(ctx context.Context, calls []wanted, open bool) error {
	b := batch{reports: make([]Report, len(calls)), errs: make([]error, len(calls)), done: make([]chan struct{}, len(calls))}
	var refused []Message
	for i := range calls {
		b.done[i] = make(chan struct{})
		if rep, ok := c.refuse(&calls[i], open); ok {
			b.reports[i] = rep
			refused = append(refused, rep.message())
			close(b.done[i])
		}
	}
	if len(refused) > 0 {
		if err := c.store(ctx, refused...); err != nil {
			return err
		}
	}
	c.carryAll(ctx, calls, &b)
	for i := range b.reports {
		c.said = append(c.said, b.reports[i].message())
	}
	c.answer.Calls = append(c.answer.Calls, b.reports...)
	if err := errors.Join(b.errs...); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	return nil
}

// batch is what becomes of the calls of one round.
type batch struct {
	reports []Report
	errs    []error
	done    []chan struct{} // closed when the call is over
}

// carryAll makes the calls that were not refused.
func (c *chat) carryAll(ctx context.Context, calls []wanted, b *batch) {
	cfg := c.parts.Config()
	room := make(chan struct{}, maxAtOnce)
	var work sync.WaitGroup
	defer work.Wait()
	for i := range calls {
		if b.reports[i].Status != "" {
			continue
		}
		before := dependencies(cfg, calls[:i], &calls[i])
		work.Go(func() {
			defer close(b.done[i])
			for _, j := range before {
				<-b.done[j]
			}
			room <- struct{}{}
			defer func() { <-room }()
			b.reports[i] = c.carry(ctx, &calls[i])
			b.errs[i] = c.store(ctx, b.reports[i].message())
		})
	}
}

// refuse answers a call that is not made. Calls that cannot be read count as calls: a model
// that writes nothing else must come to an end too.
func (c *chat) refuse(w *wanted, open bool) (Report, bool) {
	refusal, skipped := c.admit(w, open)
	if !skipped {
		c.made++
	}
	if refusal == nil {
		return Report{}, false
	}
	rep := w.report(Failed)
	if skipped {
		rep.Status = Skipped
	}
	rep.Error = c.sentence(refusal)
	c.tell(rep)
	return rep, true
}

func (w *wanted) report(s Status) Report {
	rep := Report{ID: w.id, Tool: w.tool, Arguments: w.args, Status: s}
	if w.found.Entry != nil {
		rep.Tool = w.found.Shown
	}
	return rep
}

// admit decides whether a call is made: the reason when not, and whether a limit is the reason.
func (c *chat) admit(w *wanted, open bool) (refusal error, skipped bool) {
	most := c.agent.Capabilities.MaxToolCalls
	switch {
	case c.made >= most:
		return fault.New(fault.RateLimited, "not called: the limit of %d calls for one answer is reached", most).WithHint("answer with what you know"), true
	case !open:
		return fault.New(fault.RateLimited, "not called: no more calls are possible in this answer").WithHint("answer with what you know"), true
	case errors.Is(w.err, errInThought):
		return fault.New(fault.BadArguments, "not called: %w", w.err).WithHint("write the call after them, in the answer itself"), false
	case errors.Is(w.err, errInWords):
		return fault.New(fault.BadArguments, "not called: %w", w.err).WithHint("if a call is meant, %s; if not, answer", c.askForCall()), false
	case errors.Is(w.err, toolcall.ErrMadeUp):
		return fault.New(fault.BadArguments, "not called: %w", w.err).WithHint("wait for the results, then write the call again"), false
	case errors.Is(w.err, toolcall.ErrQuoted):
		return fault.New(fault.BadArguments, "not called: %w", w.err).WithHint("if a call is meant, %s, with an id of your own", c.askForCall()), false
	case w.err != nil:
		return fault.New(fault.BadArguments, "the call cannot be read: %w", w.err).WithHint("%s", c.askForCall()), false
	}
	w.found, refusal = c.tools.find(w.tool, w.source, w.args)
	return refusal, false
}

// askForCall asks for a call in the form that can be read.
func (c *chat) askForCall() string {
	if c.model.Tools == config.TextTools {
		return "write it as " + callForm
	}
	return "call the function again"
}

// dependencies are the calls that must be over before one is made. Calls of one round do
// not know each other's results, so they are independent, but for those of one server where
// the order counts: where it keeps state for a session, or one of the tools says that it
// changes something.
func dependencies(cfg *config.Config, earlier []wanted, w *wanted) (list []int) {
	if w.found.Entry == nil {
		return nil
	}
	for i := range earlier {
		e := earlier[i].found
		if e.Entry != nil && e.Server == w.found.Server && (e.Acts() || w.found.Acts() || keepsState(cfg, e.Server)) {
			list = append(list, i)
		}
	}
	return list
}

func keepsState(cfg *config.Config, id tool.ServerID) bool {
	for i := range cfg.Servers {
		if cfg.Servers[i].ID == id {
			return cfg.Servers[i].Isolation == "session"
		}
	}
	return false
}

// carry makes one call and tells of it.
func (c *chat) carry(ctx context.Context, w *wanted) Report {
	rep := w.report(Failed)
	if ctx.Err() != nil {
		rep.Status, rep.Error = Skipped, c.speech.Say("not called: "+fault.As(stopped(ctx)).Error())
	} else {
		c.tell(w.report(Running))
		began := c.opts.Now()
		c.do(ctx, w, &rep)
		rep.DurationMS = c.opts.Now().Sub(began).Milliseconds()
	}
	c.tell(rep)
	return rep
}

// tell reports a call to the stream and to whoever else listens.
func (c *chat) tell(rep Report) {
	c.hear(Event{Call: &rep})
	c.opts.Called(rep, Origin{Principal: c.turn.Principal, Agent: c.agent.ID, Session: c.answer.Session})
}

// may tells whether the agent has a tool, also one that was listed after the chat began.
func (c *chat) may(e *catalog.Entry) bool { return e.UsedBy(c.agent) || mayFetch(c.agent, e) }

// do makes the call.
func (c *chat) do(ctx context.Context, w *wanted, rep *Report) {
	params, err := call.NewParams(w.found.name, w.args)
	var res *call.Result
	if err == nil {
		params.Session = c.answer.Session
		req := call.Request{
			Principal: c.turn.Principal, Profile: c.agent.Profile, Agent: c.agent.ID, Reader: call.Model, Params: params,
			Budget: c.agent.Budget, MaxChars: c.agent.Capabilities.MaxToolResultLength, May: c.may,
		}
		if c.model.Tools != config.TextTools {
			req.Dialect = schema.Dialect(c.model.Dialect)
		}
		res, err = c.parts.Caller.Do(ctx, req)
	}
	if err != nil {
		rep.Error = c.clip(c.sentence(err), "")
		return
	}
	rep.Call, rep.Ref = res.ID, res.Ref
	text := c.clip(project.Text(res.Raw), res.Ref)
	switch {
	case res.Kind != upstream.Complete:
		rep.Error = c.speech.Say("the tool asks a question, which an agent cannot answer")
	case string(rawjson.Get(res.Raw, "isError")) == "true":
		rep.Error = text
	default:
		rep.Status, rep.Result = Success, text
	}
	res.Release()
}
