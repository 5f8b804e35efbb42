package env

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// EnvDescription says what an environment is and what it can do.
type EnvDescription struct {
	ID           string       `json:"id"`
	DisplayName  string       `json:"displayName"`
	Version      string       `json:"version,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
	Profiles     []Profile    `json:"profiles,omitzero"`
	Metadata     Metadata     `json:"metadata,omitempty"`
}

// Profile is one way to use the environment: the agents that work in it together.
type Profile struct {
	ID            string      `json:"id"`
	DisplayName   string      `json:"displayName"`
	PrimaryAgents []AgentSpec `json:"primaryAgents"`
	SubAgents     []AgentSpec `json:"subAgents,omitzero"`
	Metadata      Metadata    `json:"metadata,omitempty"`
}

// Role is what an agent is in its profile.
type Role string

const (
	RolePrimary Role = "primary" // people talk to it
	RoleSub     Role = "sub"     // other agents do
)

// AgentSpec says how an agent is set up. Tool names may hold "*" and "?".
type AgentSpec struct {
	ID             string   `json:"id"`
	Role           Role     `json:"role"`
	PromptID       string   `json:"promptId,omitempty"`
	PromptOverride string   `json:"promptOverride,omitempty"` // in place of the prompt
	AllowedTools   []string `json:"allowedTools,omitzero"`    // nil: all; empty: none
	DeniedTools    []string `json:"deniedTools,omitzero"`     // wins over AllowedTools
	Metadata       Metadata `json:"metadata,omitempty"`
}

// LogEntry is one thing that happened.
type LogEntry struct {
	Timestamp time.Time `json:"timestamp"`
	Level     Level     `json:"level"`
	Message   string    `json:"message"`
	SessionID string    `json:"sessionId,omitempty"`
	AgentID   string    `json:"agentId,omitempty"`
	ToolName  string    `json:"toolName,omitempty"`
	Context   Metadata  `json:"context,omitempty"`
}

// Metadata are values that the protocol carries without knowing them. Values may be of any
// type that JSON can write; those that were read are json.RawMessage, so nothing is lost.
type Metadata map[string]any

// UnmarshalJSON keeps each value as its bytes.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	if rawjson.IsNull(data) {
		*m = nil
		return nil
	}
	out := Metadata{}
	w := rawjson.Object(data)
	for w.Next() {
		out[string(w.Key)] = json.RawMessage(bytes.Clone(w.Value))
	}
	*m = out
	return w.Err()
}

// Get decodes one value; false when it is not there or of another type.
func (m Metadata) Get(name string, into any) bool {
	raw, err := json.Marshal(m[name])
	return m[name] != nil && err == nil && json.Unmarshal(raw, into) == nil
}

// Capabilities say what can be had from an environment.
type Capabilities struct {
	Logs, Events, Metrics, Profiles, MCPTools, Sessions bool
	More                                                Metadata // what else an environment says of itself
}

// fields are the capabilities that have a name here.
func (c *Capabilities) fields() map[string]*bool {
	return map[string]*bool{
		"logs": &c.Logs, "events": &c.Events, "metrics": &c.Metrics,
		"profiles": &c.Profiles, "mcpTools": &c.MCPTools, "sessions": &c.Sessions,
	}
}

// MarshalJSON writes the named capabilities, and More beside them.
func (c Capabilities) MarshalJSON() ([]byte, error) {
	all := maps.Clone(c.More)
	if all == nil {
		all = Metadata{}
	}
	for name, on := range c.fields() {
		if _, said := all[name]; !said {
			all[name] = *on
		}
	}
	return encode(map[string]any(all))
}

// UnmarshalJSON reads what is there. A capability that is neither true nor false is kept in
// More and counts as there.
func (c *Capabilities) UnmarshalJSON(data []byte) error {
	var all Metadata
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*c = Capabilities{}
	fields := c.fields()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		on := fields[name]
		if on != nil && all.Get(name, on) {
			continue
		}
		if on != nil {
			*on = !rawjson.IsNull(all[name].(json.RawMessage))
		}
		if c.More == nil {
			c.More = Metadata{}
		}
		c.More[name] = all[name]
	}
	return nil
}
