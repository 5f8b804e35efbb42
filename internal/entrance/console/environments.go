package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Environment presents the gateway as an environment.
type Environment interface {
	// Options is what the caller may see of the profile.
	Options(who access.Principal, profile string) *env.Options
}

func (c *Console) environmentsSection() section {
	return section{name: "environments", path: "/environments", key: "e", routes: map[string]handler{
		"GET /environments":                       page("environments", whole, c.listProfiles),
		"GET /environments/logs":                  page("logs", whole, c.listLogs),
		"GET /environments/sessions":              page("sessions", whole, c.listSessions),
		"POST /environments/sessions":             c.createSession,
		"GET /environments/sessions/{id}":         page("session", whole, c.readSession),
		"POST /environments/sessions/{id}/rename": c.renameSession,
		"POST /environments/sessions/{id}/delete": c.deleteSession,
	}}
}

type environmentsPage struct {
	Profiles []profileRow
	Agents   []agentRow
	May      bool // chat with agents
}

type profileRow struct {
	Name         string
	URL          string
	Primary, Sub int
}

type agentRow struct {
	env.AgentSpec
	Profile                  string
	Name, Description, Model string
	Tools                    int // -1: all tools of the profile
}

// listWait is how long the page waits for servers that have never listed their tools.
const listWait = 2 * time.Second

func (c *Console) listProfiles(v *visit) (environmentsPage, error) {
	ctx, cancel := context.WithTimeout(v.Context(), listWait)
	defer cancel()
	all, err := c.Environment.Options(v.who, "").ListProfiles(ctx)
	p := environmentsPage{May: v.who.MayCall()}
	for _, one := range all {
		p.Profiles = append(p.Profiles, profileRow{
			one.ID, c.base(v) + "/mcp/" + url.PathEscape(one.ID) + "/env", len(one.PrimaryAgents), len(one.SubAgents),
		})
		for _, spec := range slices.Concat(one.PrimaryAgents, one.SubAgents) {
			p.Agents = append(p.Agents, agentRowOf(spec, one.ID))
		}
	}
	return p, err
}

func agentRowOf(spec env.AgentSpec, profile string) agentRow {
	said := func(name string) string {
		text, _ := spec.Metadata[name].(string) // other types are not shown
		return text
	}
	row := agentRow{AgentSpec: spec, Profile: profile, Name: said("name"), Description: said("description"), Model: said("model"), Tools: -1}
	if spec.AllowedTools != nil {
		row.Tools = len(spec.AllowedTools)
	}
	return row
}

type logsPage struct {
	list
	Levels []env.Level
	Limits []string
	Rows   []logRow // the newest first
}

type logRow struct {
	env.LogEntry
	Record string
}

func (c *Console) listLogs(v *visit) (logsPage, error) {
	p := logsPage{
		list:   c.listOf(v, "/environments/logs", "session", "agent", "level", "since", "until", "limit"),
		Limits: []string{"20", "100", "500"}, Levels: []env.Level{env.LevelDebug, env.LevelInfo, env.LevelWarn, env.LevelError},
	}
	ask, err := logQuery(p.query)
	if err != nil {
		return p, err
	}
	entries, err := c.Environment.Options(v.who, "").QueryLogs(v.Context(), ask)
	for _, e := range slices.Backward(entries) {
		id, _ := e.Context["id"].(string) // "": there is no record
		p.Rows = append(p.Rows, logRow{e, id})
	}
	return p, err
}

func logQuery(q url.Values) (ask env.LogQuery, err error) {
	ask = env.LogQuery{SessionID: q.Get("session"), AgentID: q.Get("agent"), Level: env.Level(q.Get("level"))}
	ask.Limit, err = strconv.Atoi(cmp.Or(q.Get("limit"), "100"))
	if err != nil {
		return ask, fault.New(fault.BadRequest, "limit must be a number")
	}
	ask.Since, ask.Until, err = rangeOf(q)
	if err != nil {
		return ask, err
	}
	if err := ask.Check(); err != nil {
		return ask, fault.New(fault.BadRequest, "%w", err)
	}
	return ask, nil
}

func rangeOf(q url.Values) (since, until time.Time, err error) {
	since, err = timeOf(q.Get("since"))
	if err == nil {
		until, err = timeOf(q.Get("until"))
	}
	return since, until, err
}

// timeOf reads a time as forms send it.
func timeOf(text string) (time.Time, error) {
	if t, ok := config.ParseTime(text); ok || text == "" {
		return t, nil
	}
	return time.Time{}, fault.New(fault.BadRequest, "%.40q is not a time such as 2026-01-02T15:04", text)
}
