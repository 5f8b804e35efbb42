package env

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// EnvDescription describes an environment.
type EnvDescription struct {
	ID           string       `json:"id"`
	DisplayName  string       `json:"displayName"`
	Version      string       `json:"version,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
	Profiles     []Profile    `json:"profiles,omitzero"`
	Metadata     Metadata     `json:"metadata,omitempty"`
}

// Profile is a way to use the environment: agents that work together.
type Profile struct {
	ID            string      `json:"id"`
	DisplayName   string      `json:"displayName"`
	PrimaryAgents []AgentSpec `json:"primaryAgents"`
	SubAgents     []AgentSpec `json:"subAgents,omitzero"`
	Metadata      Metadata    `json:"metadata,omitempty"`
}

// Role is an agent's role in its profile.
type Role string

const (
	RolePrimary Role = "primary" // people talk to it
	RoleSub     Role = "sub"     // other agents do
)

// AgentSpec describes an agent. Tool names may contain "*" and "?".
type AgentSpec struct {
	ID             string   `json:"id"`
	Role           Role     `json:"role"`
	PromptID       string   `json:"promptId,omitempty"`
	PromptOverride string   `json:"promptOverride,omitempty"` // in place of the prompt
	AllowedTools   []string `json:"allowedTools,omitzero"`    // nil: all; empty: none
	DeniedTools    []string `json:"deniedTools,omitzero"`     // wins over AllowedTools
	Metadata       Metadata `json:"metadata,omitempty"`
}

// LogEntry is one log entry.
type LogEntry struct {
	Timestamp time.Time `json:"timestamp"`
	Level     Level     `json:"level"`
	Message   string    `json:"message"`
	SessionID string    `json:"sessionId,omitempty"`
	AgentID   string    `json:"agentId,omitempty"`
	ToolName  string    `json:"toolName,omitempty"`
	Context   Metadata  `json:"context,omitempty"`
}

// Metadata are values of any type that JSON can encode. Decoded values are json.RawMessage, so
// nothing is lost.
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

// Get decodes one value; false when it is missing or of another type.
func (m Metadata) Get(name string, into any) bool {
	raw, err := json.Marshal(m[name])
	return m[name] != nil && err == nil && json.Unmarshal(raw, into) == nil
}

// Capabilities are what an environment offers.
type Capabilities struct {
	Logs, Events, Metrics, Profiles, MCPTools, Sessions bool
	More                                                Metadata // further properties
}

func (c *Capabilities) fields() map[string]*bool {
	return map[string]*bool{
		"logs": &c.Logs, "events": &c.Events, "metrics": &c.Metrics,
		"profiles": &c.Profiles, "mcpTools": &c.MCPTools, "sessions": &c.Sessions,
	}
}

// MarshalJSON writes the capabilities and More.
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
	return rawjson.Marshal(map[string]any(all))
}

// UnmarshalJSON reads capabilities. One that is not a boolean is kept in More and counts as true.
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
