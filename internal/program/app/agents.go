package app

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/overlay"
	"github.com/toolfit/toolfit/internal/state/store"
)

// agentKind is the overlay of agents.
func agentKind(st *store.Store) overlay.Kind[config.Agent] {
	return overlay.Kind[config.Agent]{
		Name: "agent",
		ID:   func(one config.Agent) string { return one.ID },
		Rows: st.Agents,
		Parse: func(row store.Document, file *config.Config) (config.Agent, error) {
			return config.ParseAgent(row.ID, row.Body, file)
		},
		Delete: st.DeleteAgent,
		InFile: func(id string) error {
			return fault.New(fault.Conflict, "the configuration file has an agent %s already", id).WithHint("choose another id, or edit the file")
		},
		NotStored: func(id string) error {
			return fault.New(fault.Conflict, "agent %s is in the configuration file", id).WithHint("edit the file")
		},
		Unknown: func(id string) error { return fault.New(fault.NotFound, "there is no agent %.100q", id) },
		Stays:   "the file has an agent of this id, which stays",
	}
}

// Chat is the chat completions API for callers that admit accepts.
func (a *App) Chat(admit func(*http.Request) (access.Principal, error)) http.Handler {
	return chatapi.New(chatapi.Parts{Agents: a.runner, Admit: admit, MaxBody: a.started.Limits.Body, Logger: a.log})
}

// admitChat identifies the sender of a chat. Clients of that API always send a key, so that any
// text passes for one while there are no keys.
func (a *App) admitChat(r *http.Request) (access.Principal, error) {
	if !a.edge.Load().door.Closed() {
		r = r.Clone(r.Context())
		r.Header.Del("Authorization")
	}
	return a.admit(r)
}

// Agents returns all agents, those of the file first.
func (s *settings) Agents() []overlay.Entry[config.Agent] { return s.agents.Entries() }

// AgentPrompt is what an agent's model would be sent next, before the messages of the session.
func (a *App) AgentPrompt(ctx context.Context, who access.Principal, id, session string) (*agent.Prompt, error) {
	return a.runner.Prompt(ctx, agent.Turn{Agent: id, Principal: who, Session: session})
}

// Silence is why the model of an agent did not answer when it was last asked; "": it did, as far as this gateway knows.
func (a *App) Silence(of *config.Agent) string { return a.runner.Silence(of) }

// SaveAgent stores the agent that the JSON text describes, in the keys of the file, and applies
// it. An id of the file is a fault.Conflict, and so is a version other than the stored one; 0
// means any. A new agent without an id gets one.
func (s *settings) SaveAgent(ctx context.Context, id string, version int64, text []byte) (string, error) {
	if id == "" {
		id = "agt_" + strings.ToLower(rand.Text()[:16])
	}
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if _, err := config.ParseAgent(id, text, s.file); err != nil {
		return "", err
	}
	if err := s.agents.CheckNotInFile(id); err != nil {
		return "", err
	}
	if _, err := s.store.SaveAgent(ctx, store.Document{ID: id, Version: version, Body: text}); err != nil {
		return "", err
	}
	_, err := s.agentsChanged(ctx)
	return id, err
}

// RemoveAgent deletes an agent from the store and stops using it. One of the file is a
// fault.Conflict; where both have it, the warning says that the file's stays.
func (s *settings) RemoveAgent(ctx context.Context, id string) (warning string, err error) {
	return s.remove(ctx, id, s.agents.Delete, s.agentsChanged)
}

// agentsChanged applies what was changed in the store. The caller holds reloading.
func (s *settings) agentsChanged(ctx context.Context) (changed []string, err error) {
	return s.refresh(ctx, s.agents.Read)
}
