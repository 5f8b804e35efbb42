package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/endpoint"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// agentBook is the agents, of the file and of the store, and what runs them.
type agentBook struct {
	rows   []store.Document // what the store says; guarded by App.reloading
	state  atomic.Pointer[[]restapi.AgentState]
	runner *agent.Runner
	models *endpoint.Client
}

// startAgents makes what answers chats.
func (a *App) startAgents() {
	a.book.models = endpoint.New()
	parts := agent.Parts{Config: a.Config, Tools: a.Catalog, Caller: a.Caller, Models: a.book.models, Sessions: a.Store}
	a.book.runner = agent.New(parts, &agent.Options{
		Logger: a.log, Redact: a.secrets.redact, Called: a.events.AgentCalled, Metrics: agent.NewMetrics(a.registry),
	})
}

// Chat is the chat completions API for whoever admit lets in.
func (a *App) Chat(admit func(*http.Request) (access.Principal, error)) http.Handler {
	return chatapi.New(chatapi.Parts{Agents: a.book.runner, Admit: admit, MaxBody: a.started.Limits.Body, Logger: a.log})
}

// admitChat tells who sends a chat. Clients of that API cannot do without a key, so that some
// word stands for one where there are no keys yet.
func (a *App) admitChat(r *http.Request) (access.Principal, error) {
	if !a.Keys.Any() {
		r = r.Clone(r.Context())
		r.Header.Del("Authorization")
	}
	return a.admit(r)
}

// readAgents reads the agents of the store. The caller holds reloading.
func (a *App) readAgents(ctx context.Context) error {
	rows, err := a.Store.Agents(ctx)
	if err == nil {
		a.book.rows = rows
	}
	return err
}

// withAgents puts the agents of the store behind those of the file. On equal ids the file
// wins; one that cannot be used keeps no other from being used. The caller holds reloading.
func (a *App) withAgents(cfg *config.Config) {
	var states []restapi.AgentState
	for _, one := range cfg.Agents {
		states = append(states, restapi.AgentState{Agent: one, Source: restapi.FromFile})
	}
	agents := slices.Clone(cfg.Agents)
	for _, row := range a.book.rows {
		s := restapi.AgentState{Source: restapi.FromStore, Version: row.Version, Created: row.CreatedAt, Updated: row.UpdatedAt}
		var err error
		if s.Agent, err = config.ParseAgent(row.ID, row.Body, cfg); err != nil {
			s.ID, s.Problem = row.ID, fault.As(err).Error()
		}
		s.Hidden = slices.ContainsFunc(cfg.Agents, func(one config.Agent) bool { return one.ID == row.ID })
		if states = append(states, s); s.Problem == "" && !s.Hidden {
			agents = append(agents, s.Agent)
		}
	}
	a.warnOfStored("agent", storedAgents(a.Agents()), storedAgents(states))
	cfg.Agents = agents
	a.book.state.Store(&states)
}

func storedAgents(states []restapi.AgentState) (rows []storedRow) {
	for _, s := range states {
		if s.Source == restapi.FromStore {
			rows = append(rows, storedRow{s.ID, s.Problem, s.Hidden})
		}
	}
	return rows
}

// Agents are all agents, those of the file first. It is read-only.
func (a *App) Agents() []restapi.AgentState {
	if p := a.book.state.Load(); p != nil {
		return *p
	}
	return nil
}

// AgentPrompt is what an agent's model would be sent next, before what was said in the session.
func (a *App) AgentPrompt(ctx context.Context, who access.Principal, id, session string) (*agent.Prompt, error) {
	return a.book.runner.Prompt(ctx, agent.Turn{Agent: id, Principal: who, Session: session})
}

// SaveAgent stores the agent that the JSON text describes, in the keys of the file, and puts
// it in force. An id of the file is a fault.Conflict, and so is another version than the one
// that is given; 0 stands for any. A new agent without an id gets one.
func (a *App) SaveAgent(ctx context.Context, id string, version int64, text []byte) (string, error) {
	if id == "" {
		id = "agt_" + strings.ToLower(rand.Text()[:16])
	}
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if _, err := config.ParseAgent(id, text, a.file); err != nil {
		return "", err
	}
	if slices.ContainsFunc(a.file.Agents, func(one config.Agent) bool { return one.ID == id }) {
		return "", fault.New(fault.Conflict, "the configuration file has an agent %s already", id).WithHint("choose another id, or edit the file")
	}
	if _, err := a.Store.SaveAgent(ctx, store.Document{ID: id, Version: version, Body: text}); err != nil {
		return "", err
	}
	return id, a.agentsChanged(ctx)
}

// RemoveAgent takes an agent out of the store and out of force. One of the file is a
// fault.Conflict; where both have it, the warning says that the file's stays.
func (a *App) RemoveAgent(ctx context.Context, id string) (warning string, err error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	inFile := slices.ContainsFunc(a.file.Agents, func(one config.Agent) bool { return one.ID == id })
	err = a.Store.DeleteAgent(ctx, id)
	switch {
	case inFile && fault.Is(err, fault.NotFound):
		return "", fault.New(fault.Conflict, "agent %s is in the configuration file", id).WithHint("edit the file")
	case fault.Is(err, fault.NotFound):
		return "", fault.New(fault.NotFound, "there is no agent %.100q", id)
	case err != nil:
		return "", err
	case inFile:
		warning = "the file has an agent of this id, which stays"
	}
	return warning, a.agentsChanged(ctx)
}

// agentsChanged puts in force what the store has now. The caller holds reloading.
func (a *App) agentsChanged(ctx context.Context) error {
	if err := a.readAgents(ctx); err != nil {
		return err
	}
	a.apply(a.file)
	return nil
}

// rereadAgents puts in force what others have changed in the store.
func (a *App) rereadAgents(ctx context.Context) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	before := a.book.rows
	if err := a.readAgents(ctx); err != nil {
		return fmt.Errorf("follow the agents of the store: %w", err)
	}
	same := func(x, y store.Document) bool {
		return x.ID == y.ID && x.Version == y.Version && x.CreatedAt.Equal(y.CreatedAt)
	}
	if !slices.EqualFunc(before, a.book.rows, same) {
		a.apply(a.file)
		a.log.Info("agents of the store were changed")
	}
	return nil
}
