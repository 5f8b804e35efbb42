package agent

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/agent/conversation"
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

// maxAtOnce is the maximum number of concurrent calls of an answer.
const maxAtOnce = 16

// run makes the calls of a round, independent ones concurrently, and stores each result at once.
// When the model may not call any more, they are only answered.
func (c *chat) run(ctx context.Context, calls []wanted, open bool) error {
	b := batch{reports: make([]Report, len(calls)), errs: make([]error, len(calls)), done: make([]chan struct{}, len(calls))}
	var refused []conversation.Message
	for i := range calls {
		b.done[i] = make(chan struct{})
		if rep, ok := c.refuse(&calls[i], open); ok {
			b.reports[i] = rep
			refused = append(refused, rep.message())
			close(b.done[i])
		}
	}
	if err := c.store(ctx, refused...); err != nil {
		return err
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

// batch holds the results of the calls of a round.
type batch struct {
	reports []Report
	errs    []error
	done    []chan struct{} // closed when the call is over
}

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

// refuse answers a call that is not made. Unreadable calls count, so that a model that writes
// nothing else reaches the limit.
func (c *chat) refuse(w *wanted, open bool) (Report, bool) {
	err := c.admit(w, open)
	status := conversation.Failed
	if fault.Is(err, fault.RateLimited) {
		status = conversation.Skipped
	} else {
		c.made++
	}
	if err == nil {
		return Report{}, false
	}
	rep := w.report(status)
	rep.Error = c.sentence(err)
	c.tell(rep)
	return rep, true
}

func (w *wanted) report(s conversation.Status) Report {
	rep := Report{ID: w.id, Tool: w.tool, Arguments: w.args, Status: s}
	if w.found.Entry != nil {
		rep.Tool = w.found.Shown
	}
	return rep
}

// admit returns why a call is not made, if it is not: fault.RateLimited for a limit.
func (c *chat) admit(w *wanted, open bool) (err error) {
	most := c.agent.Capabilities.MaxToolCalls
	notCalled := fault.New(fault.BadArguments, "not called: %w", w.err)
	switch {
	case c.made >= most:
		return fault.New(fault.RateLimited, "not called: the limit of %d calls for one answer is reached", most).
			WithHint("answer with what you know")
	case !open:
		return fault.New(fault.RateLimited, "not called: no more calls are possible in this answer").WithHint("answer with what you know")
	case errors.Is(w.err, errInThought):
		return notCalled.WithHint("write the call after them, in the answer itself")
	case errors.Is(w.err, errInWords):
		return notCalled.WithHint("if a call is meant, %s; if not, answer", c.askForCall())
	case errors.Is(w.err, toolcall.ErrMadeUp):
		return notCalled.WithHint("wait for the results, then write the call again")
	case errors.Is(w.err, toolcall.ErrQuoted):
		return notCalled.WithHint("if a call is meant, %s, with an id of your own", c.askForCall())
	case w.err != nil:
		return fault.New(fault.BadArguments, "the call cannot be read: %w", w.err).WithHint("%s", c.askForCall())
	}
	w.found, err = c.tools.find(w.tool, w.source, w.args)
	return err
}

func (c *chat) askForCall() string {
	if c.model.Tools == config.TextTools {
		return "write it as " + callForm
	}
	return "call the function again"
}

// dependencies returns the earlier calls that must end first: those to the same server, if it keeps
// session state or one of the tools changes something.
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
	return slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.ID == id && s.Isolation == "session" })
}

// carry makes one call and reports it.
func (c *chat) carry(ctx context.Context, w *wanted) Report {
	rep := w.report(conversation.Failed)
	if ctx.Err() != nil {
		rep.Status = conversation.Skipped
		rep.Error = c.speech.Translate("not called: " + fault.As(stopped(ctx)).Error())
	} else {
		c.tell(w.report(conversation.Running))
		began := c.opts.Now()
		c.do(ctx, w, &rep)
		rep.DurationMS = c.opts.Now().Sub(began).Milliseconds()
	}
	c.tell(rep)
	return rep
}

// tell reports a call to all listeners.
func (c *chat) tell(rep Report) {
	c.hear(Event{Call: &rep})
	c.opts.Called(rep, Origin{Principal: c.turn.Principal, Agent: c.agent.ID, Session: c.answer.Session})
}

// may tells whether the agent has a tool, even one that was listed after the chat began.
func (c *chat) may(e *catalog.Entry) bool { return e.UsedBy(c.agent) || mayFetch(c.agent, e) }

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
	rep.Call = res.ID
	rep.Ref = res.Ref
	text := c.clip(project.Text(res.Raw), res.Ref)
	switch {
	case res.Kind != upstream.Complete:
		rep.Error = c.speech.Translate("the tool asks a question, which an agent cannot answer")
	case string(rawjson.Get(res.Raw, "isError")) == "true":
		rep.Error = text
	default:
		rep.Status = conversation.Success
		rep.Result = text
	}
	res.Release()
}
