// Package mcpserver is the entrance for agents: it answers MCP requests from the catalog,
// the spine and the servers. Client and server may be of different protocol eras: results
// are then written as the client's era wants them, and a question of the server reaches the
// client in the way that its era has for it. Nothing else of a result is changed.
//
//	s := mcpserver.New(cat, caller, pool, &mcpserver.Options{Version: version})
//	defer s.Close()
//	front.Serve(w, r, s.Entry(principal, "default"))
package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/presence"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Caller makes tool calls, and writes tools as text.
type Caller interface {
	Do(ctx context.Context, req call.Request) (*call.Result, error)
	Prompt(ctx context.Context, req call.PromptRequest) (*prompt.Page, error)
}

// Server makes the entries of MCP fronts.
type Server struct {
	tools         call.Viewer
	calls         Caller
	servers       *upstream.Pool
	subscriptions subscriptions
	levels        levels
	parked        lot
	watchers      watchers
	seal          *seal
	self          json.RawMessage // who we are
	opts          Options

	ctx  context.Context // of calls that outlive their requests; ends with Close
	stop context.CancelFunc
	work sync.WaitGroup
}

// Options change a Server. The zero value is usable.
type Options struct {
	Version string               // "" says "dev"
	Park    time.Duration        // how long a call waits for the answers of a modern client; 0: 5 minutes
	Key     []byte               // seals what modern clients are to bring back; the same for all replicas; nil: a new one
	Replica string               // names this process among the replicas; "": a new name
	Now     func() time.Time     // nil: time.Now
	Logger  *slog.Logger         // nil: discard
	Waiting *waiting.Calls       // the calls that outlive their requests; nil: none do
	Trace   *telemetry.Telemetry // nil: off
	Seen    *presence.Seen       // remembers clients; nil: nobody does
	// May is the decision which tools an agent of a profile may use; nil: there are no agents.
	May func(profile, agent string) (func(*catalog.Entry) bool, error)
	// Changed is told that a server has other skills than it has listed; nil: nobody is.
	Changed func(server tool.ServerID)
	// Hold stores what is held for a session, which TakeUp gets at another replica; nil: there are none.
	Hold func(ctx context.Context, session string, held []byte)
}

// New makes a Server; nil options are the defaults.
func New(tools call.Viewer, calls Caller, servers *upstream.Pool, opts *Options) *Server {
	s := &Server{tools: tools, calls: calls, servers: servers}
	s.subscriptions.to = map[resource]*subscription{}
	s.subscriptions.of = map[*mcp.Session]map[resource]string{}
	s.subscriptions.left = map[*mcp.Session]map[string]bool{}
	s.subscriptions.ending = map[resource]chan struct{}{}
	s.levels.of = map[*mcp.Session]string{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Version = cmp.Or(s.opts.Version, "dev")
	s.opts.Park = cmp.Or(s.opts.Park, 5*time.Minute)
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.New(slog.DiscardHandler))
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	s.seal = newSeal(s.opts.Key, s.opts.Now)
	s.parked.replica = cmp.Or(s.opts.Replica, rand.Text())
	s.watchers.of = map[string]map[*mcp.Session]func(store.Waiting){}
	s.self = mcp.Info{Name: "toolfit", Title: "toolfit", Version: s.opts.Version}.Implementation()
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends the calls that wait for their clients.
func (s *Server) Close() {
	s.stop()
	s.work.Wait()
}

// capabilities are those that any server behind us could have: which ones have what may not be known when a client connects.
var capabilities = json.RawMessage(`{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}`)

// Entry is the door for one caller and profile.
func (s *Server) Entry(p access.Principal, profile string) mcp.Entry {
	return s.entry(&visitor{server: s, principal: p, profile: profile})
}

func (s *Server) entry(v *visitor) mcp.Entry {
	return mcp.Entry{Owner: v.principal.ID, Group: v.profile, Info: v.info, Handler: v}
}

// SessionEnded lets go of what was kept for a session. It may wait for servers.
func (s *Server) SessionEnded(ctx context.Context, session *mcp.Session) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	unused := time.Duration(0)
	if s.opts.Replica != "" && !session.EndedForGood() {
		unused = time.Hour // another replica may serve it, and use what is here
	}
	s.servers.EndSession(session.ID, unused)
	s.setLevel(ctx, s.levels.drop(session))
	s.unsubscribeAll(ctx, session)
	s.watchers.forget(session)
}

// visitor answers one caller in one profile.
type visitor struct {
	server    *Server
	principal access.Principal
	profile   string

	environment bool // the profile is seen as an environment
}

// info is what initialize answers.
func (v *visitor) info() mcp.Info {
	info := mcp.Info{
		Name: "toolfit", Title: "toolfit", Version: v.server.opts.Version, Capabilities: capabilities,
		Tasks: v.server.opts.Waiting != nil,
	}
	if view, err := v.view(); err == nil {
		info.Instructions = view.Instructions
		if extensions, _ := view.Extensions(); extensions != nil {
			info.Capabilities = mcp.With(capabilities, "extensions", extensions)
		}
	}
	return info
}

// Greet notes a client that has introduced itself.
func (v *visitor) Greet(client mcp.Speaker) { v.note(client.Era, client.Info, false) }

func (v *visitor) note(era mcp.Era, info json.RawMessage, call bool) {
	if v.server.opts.Seen != nil {
		v.server.opts.Seen.Note(v.principal, v.profile, era, info, call)
	}
}

// Serve answers one request, in the words of its client's era.
func (v *visitor) Serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	switch {
	case req.Meta != nil:
		v.note(mcp.Modern, req.Meta.Info, req.Method == "tools/call")
	case req.Session != nil && req.ID != nil:
		v.note(mcp.Legacy, req.Session.Info, req.Method == "tools/call")
	}
	ctx, span := v.server.opts.Trace.Serve(ctx, req)
	raw, err := v.serve(ctx, req)
	span.Answered(raw, err)
	return raw, err
}

func (v *visitor) serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	era := mcp.Legacy
	if req.Meta != nil {
		era = mcp.Modern
	}
	switch req.Method {
	case "tools/list":
		return v.listTools(ctx, req, era)
	case "prompts/list":
		return v.list(ctx, req, era, catalog.PromptKind, nil)
	case "resources/list":
		return v.list(ctx, req, era, catalog.ResourceKind, nil)
	case "resources/templates/list":
		return v.list(ctx, req, era, catalog.TemplateKind, nil)
	case "skills/list":
		return v.list(ctx, req, era, catalog.SkillKind, nil)
	}
	if strings.HasPrefix(req.Method, "tasks/") && v.server.opts.Waiting != nil && v.principal.MayCall() {
		return v.task(ctx, req, era)
	}
	if ask := v.passedOn(req.Method); ask != nil {
		raw, err := v.passOn(ctx, req, era, ask)
		if err == errAnswered {
			err = nil
		}
		return raw, err
	}
	if era == mcp.Modern {
		return v.listen(ctx, req)
	}
	return v.session(ctx, req)
}

// passOn passes a request on to its server.
func (v *visitor) passOn(ctx context.Context, req *mcp.Request, era mcp.Era, ask asker) (json.RawMessage, error) {
	if era == mcp.Modern {
		return v.modern(ctx, req, ask)
	}
	a, err := ask(ctx, req)
	return v.inLegacy(req, a, err)
}

// asker passes a request on to its server.
type asker func(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error)

// passedOn is how a method reaches the servers; nil for methods that do not.
func (v *visitor) passedOn(method string) asker {
	switch method {
	case "tools/call":
		return v.call
	case "prompts/get":
		return v.getPrompt
	case "resources/read":
		return v.readResource
	case "resources/directory/read":
		return v.readDirectory
	case "skills/get":
		return v.getSkill
	case "completion/complete":
		return v.complete
	}
	if isExtension(method) {
		return v.extension
	}
	return nil
}

// session answers what only a client with a session can ask.
func (v *visitor) session(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if !v.principal.MayCall() {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
	}
	switch req.Method {
	case "resources/subscribe":
		return v.subscribe(ctx, req)
	case "resources/unsubscribe":
		return v.unsubscribe(ctx, req)
	case "logging/setLevel":
		return v.setLevel(ctx, req)
	case "notifications/progress", "notifications/message": // of what we never asked
		return nil, nil
	}
	if req.ID == nil && strings.HasPrefix(req.Method, "notifications/") { // to the servers that have a session for this client alone
		v.server.servers.Tell(sessionOf(req), req.Method, req.Params)
		return nil, nil
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
}

// list answers with a list, or a page of a long one; of the tools, only with those that may holds for, unless it is nil.
func (v *visitor) list(
	ctx context.Context, req *mcp.Request, era mcp.Era, kind catalog.Kind, may func(*catalog.Entry) bool,
) (json.RawMessage, error) {
	view, err := v.shown(v.server.tools.Listed(ctx, v.profile))
	if err != nil {
		return nil, rpcError(err)
	}
	cursor, _ := rawjson.String(rawjson.Get(req.Params, "cursor"))
	view = view.As(v.principal)
	if kind == catalog.ToolKind && mcp.Declares(req.Speaker().Capabilities, mcp.ExtensionApps) {
		view = view.ForApps()
	}
	page, err := view.Page(era, kind, cursor, may)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%v", err)
	}
	return page, nil
}

func (v *visitor) call(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	raw := req.Params
	tasks := call.NoTask
	if req.Meta != nil && mcp.Declares(req.Meta.Capabilities, mcp.ExtensionTasks) {
		tasks = call.MayTask
	}
	if bytes.Contains(raw, []byte(`"task"`)) {
		if wantsTask(req) {
			tasks = call.AsTask
		}
		raw = mcp.Without(raw, "task")
	}
	params, err := call.ParseParams(raw)
	if err != nil {
		return nil, rpcError(err)
	}
	may, err := v.agentMay(params.Agent)
	if err != nil {
		return nil, err
	}
	res, err := v.server.calls.Do(ctx, call.Request{
		Principal: v.principal, Profile: v.profile, MCPSession: sessionOf(req), From: req.Speaker(),
		Reader: call.Model, AsListed: true, Params: params, Client: req.Client, Environment: v.environment, May: may,
		Front: v, Asked: req, Tasks: tasks,
	})
	return v.outcome(params.Tool, res, err)
}

// outcome is what a client gets of a call: errors that a model can act on become results.
func (v *visitor) outcome(tool string, res *call.Result, err error) (*upstream.Outcome, error) {
	switch {
	case err == nil:
		return &res.Outcome, nil
	case errors.Is(err, call.ErrHandedOver):
		return nil, errAnswered
	}
	if fault.Is(err, fault.UnknownTool) || fault.Is(err, fault.Forbidden) {
		return nil, rpcError(err)
	}
	var rpc *mcp.Error
	if errors.As(err, &rpc) {
		return nil, rpc
	}
	var f *fault.Error
	if errors.As(err, &f) {
		if f.Hides() {
			v.server.opts.Logger.Error("call not made", "tool", tool, "error", f)
		}
		return &upstream.Outcome{Raw: v.refusal(tool, f)}, nil
	}
	return nil, err
}

func sessionOf(req *mcp.Request) string {
	if req.Session == nil {
		return ""
	}
	return req.Session.ID
}

// relay sends a request that is no tool call to the server it belongs to.
func (v *visitor) relay(ctx context.Context, req *mcp.Request, server tool.ServerID, params json.RawMessage) (*upstream.Outcome, error) {
	out, err := v.server.servers.Call(ctx, upstream.Call{
		Server: server, Method: req.Method, Params: params, Meta: mcp.FindMeta(params), Header: req.Speaker().Header,
		Peer: req.Client, Session: v.sessionKey(req), Caller: v.principal.ID, From: req.Speaker(),
	})
	if err != nil {
		return nil, rpcError(err)
	}
	return &out, nil
}

// sessionKey is the key under which servers hold state for the caller. A modern client has only the session that it names.
func (v *visitor) sessionKey(req *mcp.Request) string {
	if req.Meta == nil {
		return sessionOf(req)
	}
	if name, _ := rawjson.String(rawjson.Get(req.Params, "_meta", "toolfit/session")); name != "" {
		return v.principal.ID + "/" + name
	}
	return v.principal.ID
}
