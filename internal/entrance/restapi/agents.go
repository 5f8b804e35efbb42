package restapi

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/overlay"
	"github.com/toolfit/toolfit/internal/state/store"
)

// AgentBook knows the agents, and changes those of the store.
type AgentBook interface {
	// Agents returns all agents, those of the file first. It is read-only.
	Agents() []overlay.Entry[config.Agent]
	// SaveAgent stores the agent that the JSON text describes and activates it. A new one
	// without an id gets one.
	SaveAgent(ctx context.Context, id string, version int64, text []byte) (string, error)
	// RemoveAgent deletes a stored agent; the warning says what stays.
	RemoveAgent(ctx context.Context, id string) (warning string, err error)
	// AgentPrompt returns what an agent would send its model before the messages of the
	// session; "": of a new one.
	AgentPrompt(ctx context.Context, who access.Principal, id, session string) (*agent.Prompt, error)
	// Silence is why an agent's model did not answer when it was last asked; "": it did.
	Silence(*config.Agent) string
}

// Agent is an agent as the API shows it.
type Agent struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Personality  string          `json:"personality"`
	Role         string          `json:"role"`
	Model        string          `json:"model"`
	Profile      string          `json:"profile"`
	Prompt       string          `json:"prompt,omitempty"`
	Heading      string          `json:"heading,omitempty"`
	Language     string          `json:"language,omitempty"`
	Available    []string        `json:"available_tools"`
	Denied       []string        `json:"denied_tools,omitempty"`
	Timeout      string          `json:"timeout"`
	Budget       int             `json:"budget,omitempty"`
	MaxTokens    int             `json:"max_tokens,omitempty"`
	Capabilities Capabilities    `json:"capabilities"`
	Metadata     json.RawMessage `json:"metadata"`
	Source       Source          `json:"source"`
	Reason       string          `json:"reason,omitempty"` // why it is not active
	Version      int64           `json:"version,omitempty"`
	CreatedAt    *time.Time      `json:"created_at,omitempty"`
	UpdatedAt    *time.Time      `json:"updated_at,omitempty"`
}

// Capabilities are the capabilities of an agent.
type Capabilities struct {
	Planning            bool `json:"enable_planning"`
	ToolCalling         bool `json:"enable_tool_calling"`
	Reflection          bool `json:"enable_reflection"`
	Memory              bool `json:"enable_memory"`
	MaxToolCalls        int  `json:"max_tool_calls"`
	MaxToolResultLength int  `json:"max_tool_result_length"`
	MaxReflections      int  `json:"max_reflection_iterations"`
	MemoryLimit         int  `json:"memory_limit"`
}

// AgentList is all agents that the caller may see.
type AgentList struct {
	Agents []Agent `json:"agents"`
}

func showAgent(e overlay.Entry[config.Agent]) Agent {
	v := e.Value
	a := Agent{
		ID: e.ID, Name: v.Name, Description: v.Description, Personality: v.Personality, Role: v.Role, Model: v.Model, Profile: v.Profile,
		Prompt: v.Prompt, Heading: v.Heading, Language: v.Language, Available: v.Available, Denied: v.Denied, Timeout: v.Timeout.String(),
		Budget: v.Budget, MaxTokens: v.MaxTokens, Capabilities: Capabilities(v.Capabilities), Metadata: v.Metadata,
		Source: sources[e.Source], Reason: e.Problem, Version: e.Row.Version,
		CreatedAt: moment(e.Row.CreatedAt), UpdatedAt: moment(e.Row.UpdatedAt),
	}
	if e.Hidden {
		a.Reason = "the file has an agent of this id, which wins"
	}
	if a.Available == nil {
		a.Available = []string{}
	}
	if a.Metadata == nil {
		a.Metadata = json.RawMessage("{}")
	}
	return a
}

// seesAgent tells whether a caller may see an agent: callers see those whose tools they have.
func seesAgent(who access.Principal, e overlay.Entry[config.Agent]) bool {
	if who.MayRead() {
		return true
	}
	profile, err := who.ProfileFor(e.Value.Profile)
	return err == nil && profile == e.Value.Profile && e.Problem == "" && !e.Hidden
}

func (a *API) listAgents(q *request) (any, error) {
	list := AgentList{Agents: []Agent{}}
	for _, e := range a.Agents.Agents() {
		if seesAgent(q.who, e) {
			list.Agents = append(list.Agents, showAgent(e))
		}
	}
	return list, nil
}

// readAgent returns an agent; of two with the id, the active one.
func (a *API) readAgent(_ context.Context, who access.Principal, id string) (Agent, error) {
	all := a.Agents.Agents()
	at := slices.IndexFunc(all, func(e overlay.Entry[config.Agent]) bool { return e.ID == id && seesAgent(who, e) })
	if at < 0 {
		return Agent{}, fault.New(fault.NotFound, "there is no agent %.100q", id)
	}
	return showAgent(all[at]), nil
}

func (a *API) agentPrompt(q *request) (any, error) {
	return a.Agents.AgentPrompt(q.Context(), q.who, q.id(), q.query.Get("session"))
}

// createAgent stores a new agent. Its id is the member id, or a random one.
func (a *API) createAgent(q *request) (any, error) {
	id, text, err := agentText(q.body)
	if err != nil {
		return nil, err
	}
	if id != "" && slices.ContainsFunc(a.Agents.Agents(), func(e overlay.Entry[config.Agent]) bool { return e.ID == id }) {
		return nil, fault.New(fault.Conflict, "there is an agent %.100s already", id).WithHint("choose another id, or change it with PUT")
	}
	id, err = a.Agents.SaveAgent(q.Context(), id, 0, text)
	if err != nil {
		return nil, err
	}
	made, err := a.readAgent(q.Context(), q.who, id)
	return created{"/agents/" + id, made}, err
}

// putAgent replaces an agent; with ?version only that version.
func (a *API) putAgent(q *request) (any, error) {
	said, text, err := agentText(q.body)
	if err != nil {
		return nil, err
	}
	id := q.id()
	if said != "" && said != id {
		return nil, fault.New(fault.BadRequest, "the agent says that its id is %.100q, the path says %.100q", said, id)
	}
	version, err := number(q.query, "version", 1, maxNumber)
	if err != nil {
		return nil, err
	}
	if _, err := a.Agents.SaveAgent(q.Context(), id, int64(version), text); err != nil {
		return nil, err
	}
	return a.readAgent(q.Context(), q.who, id)
}

// agentText is the agent in a body, and the id that it has there. Members that only the
// gateway writes are dropped, so that what was read can be sent back.
func agentText(data []byte) (id string, text []byte, err error) {
	if err := rawjson.Check(data); err != nil || data[0] != '{' {
		return "", nil, fault.New(fault.BadRequest, "the agent must be a JSON object")
	}
	if given := rawjson.Get(data, "id"); given != nil {
		id, _ = rawjson.String(given)
		if id == "" {
			return "", nil, fault.New(fault.BadRequest, "id must be text")
		}
	}
	return id, mcp.Without(data, "id", "source", "reason", "version", "created_at", "updated_at"), nil
}

func (a *API) deleteAgent(ctx context.Context, _ access.Principal, id string) (warning string, err error) {
	return a.Agents.RemoveAgent(ctx, id)
}

// FailingAgent is an agent that is not active, whose model does not answer, or whose last calls failed.
type FailingAgent struct {
	ID            string
	Reason        string // why it is not active, or its model did not answer; not told to callers
	Silent        bool   // its model did not answer
	Calls, Failed int    // of its last calls; 0: the reason is another
}

const (
	// judgedCalls are the last calls by which an agent is judged, judgedSince how old they may be.
	judgedCalls, judgedSince = 20, 24 * time.Hour
	// fewestCalls are too few to judge by.
	fewestCalls = 5
)

// FailingAgents returns the agents that the caller may see which are not active, whose models did not answer last, or half of whose
// last calls failed. A caller's own calls alone count.
func (a *API) FailingAgents(ctx context.Context, who access.Principal) ([]FailingAgent, error) {
	var out []FailingAgent
	for _, e := range a.Agents.Agents() {
		switch {
		case e.Hidden || !seesAgent(who, e):
			continue
		case e.Problem != "":
			out = append(out, FailingAgent{ID: e.ID, Reason: e.Problem})
			continue
		}
		if why := a.Agents.Silence(&e.Value); why != "" {
			if !who.MayRead() {
				why = "" // it may be about the chat of another
			}
			out = append(out, FailingAgent{ID: e.ID, Reason: why, Silent: true})
			continue
		}
		f := store.CallFilter{Agent: e.ID, Since: time.Now().Add(-judgedSince), Limit: judgedCalls}
		if !who.MayRead() {
			f.Principal = who.ID
		}
		last, err := a.Store.Calls(ctx, f)
		if err != nil {
			return nil, err
		}
		failed := 0
		for _, c := range last {
			if c.Level == "error" {
				failed++
			}
		}
		if len(last) >= fewestCalls && 2*failed >= len(last) {
			out = append(out, FailingAgent{ID: e.ID, Calls: len(last), Failed: failed})
		}
	}
	return out, nil
}
