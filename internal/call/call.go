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
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/store"
	"github.com/toolfit/toolfit/internal/upstream"
	"github.com/toolfit/toolfit/schema"
)

// Viewer knows what each profile sees.
type Viewer interface {
	View(profile string) (*catalog.View, error)
	Ready(ctx context.Context, profile string) // waits until the profile's servers have been listed once, ever
}

// Sender carries a call to its server.
type Sender interface {
	Call(ctx context.Context, c upstream.Call) (upstream.Outcome, error)
}

// Recorder keeps one record per call.
type Recorder interface {
	NewID() string
	Add(ctx context.Context, c store.Call) error
}

// Caller makes calls.
type Caller struct {
	tools   Viewer
	servers Sender
	log     Recorder
	opts    Options
}

// Options change a Caller. The zero value is usable.
type Options struct {
	Metrics *Metrics         // nil: not counted
	Started func(store.Call) // told of each call that goes to a server; it must not block; nil: nobody is
	Now     func() time.Time // nil: time.Now
}

// New makes a Caller; nil options are the defaults.
func New(tools Viewer, servers Sender, log Recorder, opts *Options) *Caller {
	c := &Caller{tools: tools, servers: servers, log: log}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Started == nil {
		c.opts.Started = func(store.Call) {}
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	return c
}

// Reader is who will read the result.
type Reader int

const (
	Model  Reader = iota // a model: results may be cut to what it needs
	Person               // a person or a service: results are whole
)

// Request is one call to make.
type Request struct {
	Principal  access.Principal
	Profile    string
	MCPSession string       // of the transport; "" where there is none
	Session    *mcp.Session // whose client servers may ask; nil where there is none
	Agent      string       // which agent calls; "" when it is none of ours
	Reader     Reader
	AsListed   bool           // the arguments are for the schemas that the profile's list shows
	Dialect    schema.Dialect // else: whose arguments they are; "" for those that the tool itself takes
	Params     Params
	Client     mcp.Peer // hears of progress and answers questions; nil: nobody
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

// Result is what the caller gets.
type Result struct {
	ID  string          // of the call's record
	Raw json.RawMessage // the result of tools/call; read-only
	out upstream.Outcome
}

// Release lets the room that Raw takes be used again, once it has been sent on. It need not be called.
func (r *Result) Release() { r.out.Release() }

// Do makes one call. A fault says what the caller may know of what went wrong; an
// *mcp.Error is the server's own.
func (c *Caller) Do(ctx context.Context, req Request) (res *Result, err error) {
	rec := c.begin(&req)
	defer func() { err = errors.Join(err, rec.end(ctx, res, err)) }()

	view, entry, err := c.resolve(ctx, &req) // which tool, and may this caller use it
	if err != nil {
		return nil, err
	}
	rec.found(entry)
	c.opts.Started(rec.call)
	msg, err := c.fit(view, entry, &req) // what the caller sent → what the tool takes
	if err != nil {
		return nil, err
	}
	out, err := c.send(ctx, entry, msg) // exactly one upstream request
	if err != nil {
		return nil, err
	}
	return &Result{ID: rec.call.ID, Raw: c.project(&req, out.Raw), out: out}, nil
}

// resolve finds the tool among those that the caller's profile shows.
func (c *Caller) resolve(ctx context.Context, req *Request) (*catalog.View, *catalog.Entry, error) {
	if !req.Principal.MayCall() {
		return nil, nil, fault.New(fault.Forbidden, "%s may not call tools", req.Principal.Name)
	}
	view, entry, err := c.find(req)
	if !fault.Is(err, fault.UnknownTool) {
		return view, entry, err
	}
	// It may be a tool of a server that is being listed for the first time.
	ctx, cancel := context.WithTimeout(ctx, firstList)
	defer cancel()
	c.tools.Ready(ctx, req.Profile)
	return c.find(req)
}

// firstList is how long a call waits for servers that were never listed.
const firstList = 20 * time.Second

func (c *Caller) find(req *Request) (*catalog.View, *catalog.Entry, error) {
	view, err := c.tools.View(req.Profile)
	if err != nil {
		return nil, nil, err
	}
	entry, err := view.Find(req.Params.Tool)
	return view, entry, err
}

func (c *Caller) send(ctx context.Context, entry *catalog.Entry, msg upstream.Call) (upstream.Outcome, error) {
	out, err := c.servers.Call(ctx, msg)
	if err == nil && (len(out.Raw) == 0 || out.Raw[0] != '{') {
		return out, fault.New(fault.UpstreamProtocol, "server %s answered %s with a result that is no object", entry.Server, entry.Definition.Name)
	}
	return out, err
}

// project cuts a result to what its reader needs. There are no rules yet, so nothing is
// left out and nothing has to be kept: every reader gets every byte.
func (c *Caller) project(_ *Request, full json.RawMessage) json.RawMessage { return full }

// isToolError tells whether the tool itself says that it did not work. Nearly every result
// lacks the member, so the bytes are searched before they are walked.
func isToolError(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte(`"isError"`)) && string(rawjson.Get(raw, "isError")) == "true"
}
