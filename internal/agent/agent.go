// Package agent is the loop in which a model uses tools: it asks the model, makes the calls
// that the model asks for, hands it the results, and asks again until there is an answer. Every
// call goes through the spine, as everybody's do.
//
// What it promises: the limits of an agent hold, whatever the model does; every call that is
// refused or cannot be read is answered to the model with the reason; a tool's own error is
// a failure; what was said and done is stored before it is acted upon, so that a chat can be
// continued after any end; and when the caller leaves, everything stops.
//
// It never speaks HTTP itself (package endpoint asks models), never decides who may use a
// tool, and never invents arguments.
//
//	r := agent.New(agent.Parts{Config: cfg, Tools: catalog, Caller: caller, Models: endpoint.New(), Sessions: store}, nil)
//	answer, err := r.Answer(ctx, agent.Turn{Agent: "helper", Principal: who, Messages: messages, Hear: show})
package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Viewer knows the tools of each profile.
type Viewer interface {
	Listed(ctx context.Context, profile string) (*catalog.View, error) // waits for servers that were never listed
}

type Caller interface {
	Do(ctx context.Context, req call.Request) (*call.Result, error)
}

// Models asks models, in the words of their provider.
type Models interface {
	// Encode writes a conversation as a request; its size is what the request costs.
	Encode(m *config.Model, c conversation.Conversation) []byte
	// Ask sends a request, calls hear with each piece of the reply, and returns the whole. An
	// error of hear ends it and is returned, with the reply so far.
	Ask(ctx context.Context, m *config.Model, request []byte, hear func(conversation.Piece) error) (*conversation.Reply, error)
}

// Sessions stores conversations.
type Sessions interface {
	CreateSession(ctx context.Context, s store.Session) (store.Session, error)
	Session(ctx context.Context, id string) (store.Session, error)
	AppendMessages(ctx context.Context, session string, bodies ...json.RawMessage) error
	Messages(ctx context.Context, session string, after int64, limit int) ([]store.Message, error)
	LastMessages(ctx context.Context, session string, limit int) ([]store.Message, error)
	LastMessageWithPrefix(ctx context.Context, session string, texts ...string) (position int64, err error)
}

// Parts are what the loop works with.
type Parts struct {
	Config   func() *config.Config // the current configuration
	Tools    Viewer
	Caller   Caller
	Models   Models
	Sessions Sessions
	Leases   *replicas.Leases // so that of all gateways one answers in a session; nil: of those in this process
}

// Options change a Runner. The zero value is usable.
type Options struct {
	Logger  *slog.Logger         // nil: discard
	Redact  func(string) string  // removes secrets from log messages and models' errors; may be nil
	Called  func(Report, Origin) // called for each call and its outcome; it must not block; may be nil
	Metrics *Metrics             // nil: not counted
	Now     func() time.Time     // nil: time.Now
}

// Runner answers chats. It may be used concurrently.
type Runner struct {
	parts Parts
	opts  Options

	endsThoughts sync.Map // models that mark only the end of their thoughts
	silences     sync.Map // of agents whose models did not answer when they were last asked: a silence, by the agent's id
}

// New makes a Runner; nil options are the defaults.
func New(parts Parts, opts *Options) *Runner {
	r := &Runner{parts: parts}
	if parts.Leases == nil {
		r.parts.Leases = replicas.NewLeases(nil)
	}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Logger == nil {
		r.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if r.opts.Redact == nil {
		r.opts.Redact = func(s string) string { return s }
	}
	if r.opts.Called == nil {
		r.opts.Called = func(Report, Origin) {}
	}
	if r.opts.Now == nil {
		r.opts.Now = time.Now
	}
	return r
}

// Turn is one request to an agent.
type Turn struct {
	Agent     string
	Principal access.Principal
	Session   string                 // that goes on; "": a new one
	Messages  []conversation.Message // new in the session
	Unkept    bool                   // nothing is stored
	NoTools   bool                   // nothing is called this time
	Params    json.RawMessage        // further members of the requests to the model, before those of the model's own; nil: none
	// Hear is called with one event at a time; may be nil.
	Hear func(Event)
}

// Event is something that happened. One member is set.
type Event struct {
	Session   string // where it is stored: the first event
	Text      string
	Reasoning string
	Call      *Report
}

// Origin says who caused an agent's call.
type Origin struct {
	Principal access.Principal
	Agent     string
	Session   string
}

// Answer is the answer to a turn.
type Answer struct {
	Session string // "" when nothing is stored
	Text    string // of all rounds
	Thought string // likewise
	Finish  string // stop, or length when a limit ended it
	Limit   string // which; "" with stop
	Usage   conversation.Usage
	Calls   []Report // in the order of the model's
	Rounds  int
}

// Agents returns the agents that a caller may use.
func (r *Runner) Agents(who access.Principal) []config.Agent {
	var list []config.Agent
	for _, a := range r.parts.Config().Agents {
		if mayUse(who, &a) {
			list = append(list, a)
		}
	}
	return list
}

// mayUse tells whether a caller has access to the agent's profile.
func mayUse(who access.Principal, a *config.Agent) bool {
	profile, err := who.ProfileFor(a.Profile)
	return err == nil && profile == a.Profile && who.MayCall()
}

// find returns the agent of a turn and its model.
func (r *Runner) find(t *Turn) (*config.Agent, *config.Model, error) {
	cfg := r.parts.Config()
	a := cfg.AgentNamed(t.Agent)
	if a == nil || !mayUse(t.Principal, a) { // what may not be used is not shown
		return nil, nil, fault.New(fault.NotFound, "there is no agent %.100q", t.Agent).
			WithHint("see the list of agents for those that there are")
	}
	m := cfg.ModelNamed(a.Model)
	if m == nil {
		return nil, nil, fault.New(fault.BadConfig, "agent %s needs the model %s, which does not exist", a.ID, a.Model).
			WithHint("add it to models")
	}
	return a, m, nil
}
