package env

import (
	"context"
)

// Description describes the environment.
func (c *Client) Description(ctx context.Context) (d EnvDescription, err error) {
	return d, c.ask(ctx, "get_description", "id", noArguments{}, &d)
}

// Profiles returns all profiles.
func (c *Client) Profiles(ctx context.Context) ([]Profile, error) {
	var out struct{ Profiles []Profile }
	err := c.ask(ctx, "list_profiles", "profiles", noArguments{}, &out)
	return out.Profiles, err
}

// Profile returns a profile; a *NotFoundError when there is none.
func (c *Client) Profile(ctx context.Context, id string) (p Profile, err error) {
	return p, c.ask(ctx, "get_profile", "id", byID{id}, &p)
}

// Agents returns the agents with a role in a profile; "" matches all.
func (c *Client) Agents(ctx context.Context, role Role, profileID string) ([]AgentSpec, error) {
	var out struct{ Agents []AgentSpec }
	err := c.ask(ctx, "list_agents", "agents", AgentFilter{role, profileID}, &out)
	return out.Agents, err
}

// Agent returns an agent; a *NotFoundError when there is none.
func (c *Client) Agent(ctx context.Context, id, profileID string) (a AgentSpec, err error) {
	return a, c.ask(ctx, "get_agent", "id", agentByID{id, profileID}, &a)
}

// Logs returns log entries. Times are sent in UTC, as some servers require.
func (c *Client) Logs(ctx context.Context, q LogQuery) ([]LogEntry, error) {
	q.Since = q.Since.UTC()
	q.Until = q.Until.UTC()
	var out struct{ Logs []LogEntry }
	err := c.ask(ctx, "query_logs", "logs", q, &out)
	return out.Logs, err
}

// CreateSession creates a session; ErrTaken when the id exists.
func (c *Client) CreateSession(ctx context.Context, n SessionOptions) (s Session, err error) {
	return s, c.ask(ctx, "create_session", "id", n, &s)
}

// GetSession returns a session; a *NotFoundError when there is none.
func (c *Client) GetSession(ctx context.Context, id string) (s Session, err error) {
	return s, c.ask(ctx, "get_session", "id", byID{id}, &s)
}

// ListSessions returns a page of sessions.
func (c *Client) ListSessions(ctx context.Context, f SessionFilter) (p SessionPage, err error) {
	f.Since = f.Since.UTC()
	f.Until = f.Until.UTC()
	return p, c.ask(ctx, "list_sessions", "sessions", f, &p)
}

// UpdateSession changes a session.
func (c *Client) UpdateSession(ctx context.Context, id string, change SessionChange) (s Session, err error) {
	return s, c.ask(ctx, "update_session", "id", sessionUpdate{id, change}, &s)
}

// DeleteSession deletes a session.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	var out struct{}
	return c.ask(ctx, "delete_session", "", byID{id}, &out)
}
