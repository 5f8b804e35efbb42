// Package call is the spine: it carries one tool call from whoever makes it to the server
// that has the tool, and back. Start reading here.
//
//	resolve → fit → send → keep → project → record → answer
//
// Every entrance (MCP, REST, the command line) makes its calls through Do, so that each
// call is decided, sent once and recorded in the same way. Arguments and results are raw
// JSON; what no rule changes is passed on byte for byte.
//
//	params, err := call.ParseParams(raw)
//	res, err := caller.Do(ctx, call.Request{Principal: p, Profile: "default", Params: params})
package call

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/schema"
)

// Viewer knows what each profile sees.
type Viewer interface {
	View(profile string) (*catalog.View, error)
	Listed(ctx context.Context, profile string) (*catalog.View, error) // waits for servers that were never listed
}

// Sender carries a call to its server.
type Sender interface {
	Call(ctx context.Context, c upstream.Call) (upstream.Outcome, error)
	Curl(ctx context.Context, c upstream.Call) (string, error) // the HTTP request that the call would become
	Tasks
}

// Tasks are the servers' own tasks.
type Tasks interface {
	GetTask(ctx context.Context, c upstream.Call, id string) (upstream.Task, error)
	TaskResult(ctx context.Context, c upstream.Call, id string) (upstream.Outcome, error)
	AnswerTask(ctx context.Context, c upstream.Call, id string, answers json.RawMessage) error
	CancelTask(ctx context.Context, c upstream.Call, id string) error
	Timeout(server tool.ServerID, rawTool string) time.Duration // that is configured for calls of the tool; 0: none
}

// Recorder stores one record per call.
type Recorder interface {
	NewID() string
	Add(ctx context.Context, c store.Call) error
	Refuses() error // why calls that change something are refused now; nil: they are allowed
}

// Caller makes calls.
type Caller struct {
	tools    Viewer
	servers  Sender
	log      Recorder
	opts     Options
	warned   sync.Map // warnings already logged
	slow     sync.Map // tools of which a call was detached
	memories *memories
	followed *lru[followed]           // by session
	pages    *lru[map[string]written] // by session
	types    *lru[*heldType]          // by canonical name
	counts   ruleCounts
	idle     time.Duration // see scriptIdle
}

// OwnTool carries out a call of one of our own tools. The arguments match its schema.
type OwnTool func(ctx context.Context, req *Request, args json.RawMessage) (json.RawMessage, error)

// Options change a Caller. The zero value is usable.
type Options struct {
	Metrics *Metrics             // nil: not counted
	Trace   *telemetry.Telemetry // nil: off
	Results Results              // stores full results; nil: nothing is stored
	Waiting *waiting.Calls       // holds calls that outlive their requests; nil: none do
	Retain  func() time.Duration // how long results are stored; nil: a day
	Redact  func(string) string  // removes secrets from the arguments stored with results; nil: there are none
	Own     map[string]OwnTool   // our own tools outside this package, by name
	// FindElements resolves elements that a browser call describes in words; an answer replaces the
	// call. nil: words go to the server unchanged.
	FindElements func(ctx context.Context, req *Request, entry *catalog.Entry, args json.RawMessage) (found, answer json.RawMessage, err error)
	// SignIn asks the caller's client to let a person sign in to a server, and tells whether they have; nil: nobody is asked.
	SignIn func(ctx context.Context, req *Request, server tool.ServerID) bool
	// Approve asks a person about a call with exactly these arguments, and uses their yes; nil: nobody can be asked.
	Approve func(ctx context.Context, p *Permission) (Approved, error)
	// Count counts a call for limits, or returns which one is reached, and for how long; over is -1 if none is. nil: nothing is counted.
	Count      func(ctx context.Context, counts []policy.Count, now time.Time) (over int, wait time.Duration)
	Scripts    *script.Runner // runs models' scripts in processes of their own; nil: no scripts
	ScriptRuns ScriptRuns     // stores them; nil: no scripts
	// Recipe returns the script of a recipe, unless a tool that it uses has changed.
	Recipe func(ctx context.Context, e *catalog.Entry) (code string, err error)
	// JQ runs a model's jq program in a separate process; nil: jq is off.
	JQ func(ctx context.Context, who, program string, value []byte) ([]byte, error)
	// PastResults returns stored results, as examples for prompts and for the types of results; nil: there are none.
	PastResults func(ctx context.Context, f store.ResultFilter) ([]store.Result, error)
	Uses        Uses             // stores which tools searches led to; nil: nothing is stored
	Meaning     Meaning          // ranks by meaning; nil: searches match words only
	Background  func(func())     // runs work in the background; nil: inline
	Logger      *slog.Logger     // nil: discard
	Started     func(store.Call) // called for each call that goes to a server; it must not block; may be nil
	Now         func() time.Time // nil: time.Now
}

// New makes a Caller; nil options are the defaults.
func New(tools Viewer, servers Sender, log Recorder, opts *Options) *Caller {
	c := &Caller{tools: tools, servers: servers, log: log, idle: scriptIdle}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.New(slog.DiscardHandler))
	if c.opts.Started == nil {
		c.opts.Started = func(store.Call) {}
	}
	c.opts.Own = map[string]OwnTool{FindTools: c.findTools, DescribeTool: c.describeTool}
	if opts != nil {
		maps.Copy(c.opts.Own, opts.Own)
	}
	if c.opts.Background == nil {
		c.opts.Background = func(work func()) { work() }
	}
	if c.opts.Redact == nil {
		c.opts.Redact = func(s string) string { return s }
	}
	if c.opts.Retain == nil {
		c.opts.Retain = func() time.Duration { return 24 * time.Hour }
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.memories = newMemories(&c.opts)
	c.followed = newLRU[followed](maxFollowed)
	c.pages = newLRU[map[string]written](maxPages)
	c.types = newLRU[*heldType](maxTyped)
	return c
}

// Reader is who will read the result.
type Reader int

const (
	Model  Reader = iota // a model: results may be cut to what it needs
	Person               // a person or a service: results are whole
)

// Request is what was asked: one call to make. Nothing in it changes while the call is made.
type Request struct {
	Principal  access.Principal
	Profile    string
	MCPSession string      // of the transport; "" where there is none
	From       mcp.Speaker // the client that servers may ask; the zero value cannot be asked
	Agent      string      // the calling agent; "" if it is not one of ours
	Reader     Reader
	AsListed   bool           // the arguments are for the schemas that the profile's list shows
	Dialect    schema.Dialect // otherwise: the dialect the arguments are written for; "": the tool's own schema
	Budget     int            // limit of a result in estimated tokens; 0: the profile's
	AsRuled    bool           // the result is cut only as somebody configured, not by the default budget
	MaxChars   int            // limit of a result's text in characters; the rest is stored; 0: no limit
	Whole      bool           // the result is neither cut nor stored, whatever the profile says
	Found      bool           // page elements are already resolved to refs
	Params     Params
	Client     mcp.Peer        // gets progress and answers questions; nil: nobody does
	Began      func(id string) // is told the id of the call's record, before anything else happens; may be nil

	Front Front        // answers the request while the call goes on; nil: the call ends with its request
	Asked *mcp.Request // the request, for Front
	Tasks TaskUse      // how the caller follows a call that takes long

	Environment bool                      // the caller came to the profile as an environment
	May         func(*catalog.Entry) bool // which tools its agent may use; nil: all of the profile

	script *scripted // the script that makes the call; nil: none
}

// session is the key under which servers keep state for the caller.
func (r *Request) session() string {
	switch {
	case r.Params.Session != "":
		return r.Principal.ID + "/" + r.Params.Session
	case r.MCPSession != "":
		return r.MCPSession
	}
	return r.Principal.ID
}

// Result is what came back: the server's outcome, with Raw as the caller gets it.
type Result struct {
	upstream.Outcome
	ID     string     // of the call's record
	Fitted fit.Result // the arguments as the tool got them, and what was changed in them
	Ref    string     // names the stored full result; "": it is not stored
	Rule   string     // the rule that cut the result; "": none did

	full    json.RawMessage // the result as the server gave it
	isError bool            // the tool reports an error in another way than isError
}

// Do makes one call. A *fault.Error is safe to show the caller; an *mcp.Error is the server's own.
func (c *Caller) Do(ctx context.Context, req Request) (res *Result, err error) {
	ctx, span := c.opts.Trace.Call(ctx)
	defer span.Return()
	rec := c.begin(&req, span)
	defer func() { err = rec.end(ctx, res, err) }()
	if req.Began != nil {
		req.Began(rec.call.ID)
	}

	s, err := c.decide(ctx, &req, rec) // which tool, and may this caller use it
	rec.logDecided(ctx, err)
	if err != nil {
		return nil, err
	}
	if !s.entry.Own && s.view.Searches() {
		rec.session = req.session()
	}
	err = s.takePage()
	if err != nil {
		return nil, err
	}
	c.opts.Started(rec.call)
	if req.Tasks == AsTask || s.view.Ruled() || s.runs() {
		ctx, rec.stop = context.WithCancelCause(ctx)
		defer rec.stop(nil)
	}
	out, err := c.attempt(ctx, &s, &req, rec) // what the caller sent → what the tool takes; one upstream request
	rec.ended()
	rec.sent(&s)
	rec.logSent(ctx, &s, out, err)
	if err == nil && out.Kind != upstream.Complete {
		rec.goesOn(ctx, out)
		out, err = c.afterwards(ctx, &s, &req, rec, out)
	}
	if req.Tasks == AsTask {
		err = cmp.Or(rec.asTask(ctx, &s, &req, err), err)
	}
	if err != nil {
		return nil, err
	}
	return c.finish(ctx, &s, &req, rec, out)
}

// finish makes an outcome what the caller gets.
func (c *Caller) finish(ctx context.Context, s *sent, req *Request, rec *recording, out upstream.Outcome) (*Result, error) {
	res := &Result{Outcome: out, ID: rec.call.ID, Fitted: s.fitted, full: out.Raw}
	if out.Kind != upstream.Complete { // a question, which the client gets as it is
		return res, nil
	}
	if err := c.checkOutput(ctx, s, rec, res.Raw); err != nil {
		return nil, err
	}
	s.took(ctx, res.Raw)
	projecting, span := c.opts.Trace.Begin(ctx, "project")
	res.Set(c.project(projecting, s, req, rec, out.Raw))
	span.Projected(len(out.Raw), len(res.Raw), rec.call.Rule)
	rec.logProjected(ctx, len(out.Raw), len(res.Raw))
	res.Ref = rec.call.Ref
	res.Rule = rec.call.Rule
	return res, nil
}

// Curl is the HTTP request that a call of an API's tool would send, as a command line without secrets. Nothing is sent.
// What the policy denies is refused.
func (c *Caller) Curl(ctx context.Context, req Request) (string, error) {
	s, err := c.resolve(ctx, &req)
	if err != nil {
		return "", err
	}
	msg, err := c.fit(ctx, &s, &req)
	if err != nil {
		return "", err
	}
	if d := s.view.Decide(req.Principal, s.entry, s.fitted.Args, c.opts.Now()); d.Verdict == policy.Deny {
		return "", Denied(&d, s.entry.PolicyTool())
	}
	return c.servers.Curl(ctx, msg)
}

func (c *Caller) send(ctx context.Context, entry *catalog.Entry, msg upstream.Call) (upstream.Outcome, error) {
	ctx, span := c.opts.Trace.Begin(ctx, "send")
	out, err := c.servers.Call(ctx, msg)
	span.Sent(len(msg.Params), len(out.Raw), err)
	if err == nil && (len(out.Raw) == 0 || out.Raw[0] != '{') {
		return out, fault.New(fault.UpstreamProtocol, "server %s answered %s with a result that is not an object",
			entry.Server, entry.Definition.Name)
	}
	return out, err
}

// isToolError tells whether the tool reports an error. Few results have the member, so the bytes are searched before they are walked.
func isToolError(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte(`"isError"`)) && string(rawjson.Get(raw, "isError")) == "true"
}
