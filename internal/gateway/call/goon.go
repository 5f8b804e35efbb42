package call

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// saved is what is needed to go on with a call: the request, with the arguments as the tool gets
// them, and how far it has come.
type saved struct {
	Principal   access.Principal `json:"principal"`
	Profile     string           `json:"profile"`
	MCPSession  string           `json:"mcpSession,omitempty"`
	Agent       string           `json:"agent,omitempty"`
	Reader      Reader           `json:"reader,omitempty"`
	Budget      int              `json:"budget,omitempty"`
	AsRuled     bool             `json:"asRuled,omitempty"`
	MaxChars    int              `json:"maxChars,omitempty"`
	Whole       bool             `json:"whole,omitempty"`
	Environment bool             `json:"environment,omitempty"`
	From        speaker          `json:"from"`
	Params      json.RawMessage  `json:"params"`
	Call        store.Call       `json:"call"`
	Span        string           `json:"span,omitempty"` // of the call so far
	Notes       []string         `json:"notes,omitempty"`
	Task        upstreamTask     `json:"task,omitzero"`
	State       json.RawMessage  `json:"state,omitempty"` // a modern server's, which it gets back with the answers
	Asks        bool             `json:"asks,omitempty"`  // a modern server wants to be called again with answers
	Person      string           `json:"person,omitempty"`
	Permitted   string           `json:"permitted,omitempty"`
	Run         string           `json:"run,omitempty"`
}

// speaker is the client, without the ways to reach it.
type speaker struct {
	Era          mcp.Era         `json:"era,omitempty"`
	Info         json.RawMessage `json:"info,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
	Level        string          `json:"level,omitempty"`
	Header       http.Header     `json:"header,omitempty"`
}

// state is the call so far.
func (r *recording) state() saved {
	req := r.req
	params, _ := r.params.forServer(r.entry.Shown, r.withPage())
	from := req.From
	body := saved{
		Principal: req.Principal, Profile: req.Profile, MCPSession: req.MCPSession, Agent: req.Agent, Reader: req.Reader,
		Budget: req.Budget, AsRuled: req.AsRuled, MaxChars: req.MaxChars, Whole: req.Whole, Environment: req.Environment,
		From:   speaker{from.Era, from.Info, from.Capabilities, from.Level, from.Header},
		Params: mcp.Without(params, "inputResponses", "requestState"), Call: r.call, Notes: r.notes, Span: r.span.Parent(),
		Person: r.person, Permitted: r.permitted, Run: r.run,
	}
	if r.task != nil {
		body.Task = *r.task
	}
	return body
}

// withPage is the fitted arguments with those for paging.
func (r *recording) withPage() json.RawMessage {
	args := orNone(r.args)
	if !r.entry.Paged || rawjson.IsNull(r.given) || r.given[0] != '{' {
		return args
	}
	for w := rawjson.Object(r.given); w.Next(); {
		switch string(w.Key) {
		case "_fields", "_limit", "_offset":
			args = mcp.With(args, string(w.Key), w.Value)
		}
	}
	return args
}

// resumed is a waiting call that is taken up again.
type resumed struct {
	saved
	row  store.Waiting
	req  Request
	sent sent
	rec  *recording
}

// reopen rebuilds a call from its row.
func (c *Caller) reopen(ctx context.Context, l *waiting.Live, w store.Waiting) (*resumed, error) {
	r := &resumed{row: w}
	if w.Err != nil {
		return r, w.Err
	}
	if err := json.Unmarshal(w.Body, &r.saved); err != nil {
		return r, err
	}
	s := &r.saved
	params, err := ParseParams(s.Params)
	if err != nil {
		return r, err
	}
	r.req = Request{
		Principal: s.Principal, Profile: s.Profile, MCPSession: s.MCPSession, Agent: s.Agent, Reader: s.Reader, Budget: s.Budget,
		AsRuled: s.AsRuled, MaxChars: s.MaxChars, Whole: s.Whole, Environment: s.Environment, Found: true, Params: params,
		From:   mcp.Speaker{Era: s.From.Era, Info: s.From.Info, Capabilities: s.From.Capabilities, Level: s.From.Level, Header: s.From.Header},
		Client: asking{l, s.From.Capabilities}, Tasks: MayTask,
	}
	r.rec = &recording{caller: c, call: s.Call, notes: s.Notes, given: params.Args, permitted: s.Permitted, run: s.Run}
	r.rec.person = s.Person
	r.rec.live = l
	r.rec.task = &s.Task
	r.sent, err = c.resolve(ctx, &r.req)
	if fault.Is(err, fault.UnknownTool) && s.Person == "" { // it has gone meanwhile, and its result may still come
		r.sent.entry = &catalog.Entry{Name: w.Tool, Server: w.Server, Shown: params.Tool}
		r.sent.entry.Definition.Name = s.Call.Upstream
		err = nil
	}
	if err == nil {
		err = r.sent.takePage()
	}
	r.sent.fitted.Args = r.sent.args
	r.rec.sent(&r.sent)
	r.rec.sends(&r.sent, &r.req)
	return r, err
}

// asking is the client of a detached call: who collects the call is asked.
type asking struct {
	live *waiting.Live
	caps json.RawMessage
}

// Notify keeps the last progress.
func (a asking) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if method == progressMethod {
		a.live.Progress(ctx, progressText(params))
	}
	return nil
}

func (a asking) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if !mcp.Can(a.caps, method, params) {
		return mcp.Deaf.Ask(ctx, method, params)
	}
	return a.live.Ask(ctx, method, params)
}

const progressMethod = "notifications/progress"

// progressText is progress in words: "3 of 10: indexing".
func progressText(params json.RawMessage) string {
	text := string(rawjson.Get(params, "progress"))
	if total := rawjson.Get(params, "total"); total != nil && !rawjson.IsNull(total) {
		text += " of " + string(total)
	}
	if message, _ := rawjson.String(rawjson.Get(params, "message")); message != "" {
		text += ": " + message
	}
	return text
}

// maxAttempts is how often a call is sent again whose gateway has gone.
const maxAttempts = 3

// GoOn does the next step of a waiting call: it looks at its server's task, sends it again with the
// answers of its client, or, if the replica that sent it has gone, sends it again where that is
// safe.
func (c *Caller) GoOn(ctx context.Context, l *waiting.Live) {
	w, err := l.Row(ctx)
	if err != nil {
		c.opts.Logger.Error("waiting call not read", "call", l.ID, "error", fault.As(err))
		l.After(retryTask)
		return
	}
	if w.Ended() {
		l.Drop()
		return
	}
	r, err := c.reopen(ctx, l, w)
	if r.rec == nil {
		l.End(ctx, store.Failed, func(w *store.Waiting) {
			f := fault.As(err)
			w.Answer, _ = json.Marshal(answer{Fault: f}) // strings only
			w.Message = f.Message
		})
		return
	}
	switch {
	case err != nil:
		c.conclude(ctx, r, upstream.Outcome{}, err)
	case r.Task.ID != "":
		c.lookAtTask(ctx, l, r)
	case r.Asks:
		c.sendAnswers(ctx, r)
	case r.Person != "": // nothing was sent: the question is asked again, or its answer used
		if err := withdraw(ctx, l); err != nil {
			l.After(retryTask)
			return
		}
		c.sendAgain(ctx, r)
	case w.Again && w.Attempt <= maxAttempts:
		r.rec.note("sent again: the gateway that sent it first has gone")
		if err := withdraw(ctx, l); err != nil {
			l.After(retryTask)
			return
		}
		c.sendAgain(ctx, r)
	default:
		c.conclude(ctx, r, upstream.Outcome{}, lostCall(r.sent.entry.Shown))
	}
}

// withdraw closes what was asked in an earlier attempt: nobody waits for the answer.
func withdraw(ctx context.Context, l *waiting.Live) error {
	_, err := l.Change(ctx, func(w *store.Waiting) {
		q := waiting.ReadQuestions(w)
		q.Open = nil
		q.Said = nil
		q.Write(w)
	})
	return err
}

// lostCall is the error for a call whose gateway has gone while its server had it.
func lostCall(tool string) error {
	return fault.New(fault.Unknown, "the gateway was restarted while %s was running: it may or may not have happened", tool).
		WithHint("check before you call it again")
}

// sendAnswers calls a modern server again, with the answers to its questions.
func (c *Caller) sendAnswers(ctx context.Context, r *resumed) {
	q := waiting.ReadQuestions(&r.row)
	answers, err := q.Answers()
	if err != nil {
		c.conclude(ctx, r, upstream.Outcome{}, err)
		return
	}
	raw := mcp.With(r.Params, "inputResponses", answers)
	if r.State != nil {
		raw = mcp.With(raw, "requestState", r.State)
	}
	params, err := ParseParams(raw)
	if err != nil {
		c.conclude(ctx, r, upstream.Outcome{}, err)
		return
	}
	// From here on the server may act: a replica that goes on after us must not send them again.
	_, err = r.rec.live.Change(ctx, func(w *store.Waiting) {
		q.Said = nil
		q.Write(w)
		body := r.saved
		body.Asks = false
		w.Body, _ = json.Marshal(body) // valid JSON and strings only
	})
	if err != nil {
		r.rec.live.After(retryTask)
		return
	}
	r.req.Params = params
	r.sent.params = &r.req.Params
	c.sendAgain(ctx, r)
}

// sendAgain sends a detached call and ends it.
func (c *Caller) sendAgain(ctx context.Context, r *resumed) {
	ctx, r.rec.span = c.opts.Trace.Resume(ctx, r.Span)
	out, err := c.attempt(ctx, &r.sent, &r.req, r.rec)
	r.rec.ended()
	if err == nil {
		out, err = c.afterwards(ctx, &r.sent, &r.req, r.rec, out)
	}
	c.conclude(ctx, r, out, err)
}

// conclude ends a call that was taken up again.
func (c *Caller) conclude(ctx context.Context, r *resumed, out upstream.Outcome, err error) {
	if err == ErrHandedOver {
		r.rec.span.Return()
		return
	}
	if r.rec.span == nil {
		ctx, r.rec.span = c.opts.Trace.Resume(ctx, r.Span)
	}
	defer r.rec.span.Return()
	var res *Result
	if err == nil {
		res, err = c.finish(ctx, &r.sent, &r.req, r.rec, out)
	}
	r.rec.end(ctx, res, err)
}

// retryTask is how long we wait after an error before we look at a waiting call again.
const retryTask = 5 * time.Second
