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
)

// Environment is the gateway as an environment.
type Environment interface {
	// Options are what the caller gets to see in the profile.
	Options(who access.Principal, profile string) *env.Options
}

func (c *Console) environmentsSection() section {
	return section{name: "environments", path: "/environments", key: "e", routes: map[string]handler{
		"GET /environments":                       c.showEnvironments,
		"GET /environments/logs":                  c.showLogs,
		"GET /environments/sessions":              func(v *visit) (answer, error) { return c.showSessions(v, refused{}) },
		"POST /environments/sessions":             c.createSession,
		"GET /environments/sessions/{id}":         c.showSession,
		"POST /environments/sessions/{id}/rename": c.renameSession,
		"POST /environments/sessions/{id}/delete": c.deleteSession,
	}}
}

// environmentsPage is what the page of profiles and agents shows.
type environmentsPage struct {
	Profiles []profileRow
	Agents   []agentRow
	May      bool // talk with agents
}

// profileRow is a profile and where agents of it are served.
type profileRow struct {
	Name         string
	URL          string
	Primary, Sub int
}

// agentRow is an agent as the environment shows it.
type agentRow struct {
	env.AgentSpec
	Profile                  string
	Name, Description, Model string
	Tools                    int // -1: all of the profile
}

// listWait is how long the page waits for servers that were never listed.
const listWait = 2 * time.Second

func (c *Console) showEnvironments(v *visit) (answer, error) {
	ctx, cancel := context.WithTimeout(v.Context(), listWait)
	defer cancel()
	all, err := c.Environment.Options(v.who, "").ListProfiles(ctx)
	if err != nil {
		return answer{}, err
	}
	p := environmentsPage{May: v.who.MayCall()}
	scheme, host := c.Address(v.Request)
	for _, one := range all {
		p.Profiles = append(p.Profiles, profileRow{
			one.ID, scheme + "://" + host + c.at("/mcp/"+url.PathEscape(one.ID)+"/env"), len(one.PrimaryAgents), len(one.SubAgents),
		})
		for _, spec := range slices.Concat(one.PrimaryAgents, one.SubAgents) {
			p.Agents = append(p.Agents, agentRowOf(spec, one.ID))
		}
	}
	return show("environments", p)
}

func agentRowOf(spec env.AgentSpec, profile string) agentRow {
	said := func(name string) string {
		text, _ := spec.Metadata[name].(string) // what is no text is not shown
		return text
	}
	row := agentRow{AgentSpec: spec, Profile: profile, Name: said("name"), Description: said("description"), Model: said("model"), Tools: -1}
	if spec.AllowedTools != nil {
		row.Tools = len(spec.AllowedTools)
	}
	return row
}

// logsPage is what the page of logs shows.
type logsPage struct {
	Filter   map[string]string
	Filtered bool
	Levels   []env.Level
	Limits   []string
	Rows     []logRow // the newest first
}

// logRow is an entry of the log and the record that it is about.
type logRow struct {
	env.LogEntry
	Record string
}

// logFilters are what entries are chosen by.
var logFilters = []string{"session", "agent", "level", "since", "until", "limit"}

func (c *Console) showLogs(v *visit) (answer, error) {
	q := v.URL.Query()
	p := logsPage{
		Filter: map[string]string{}, Limits: []string{"20", "100", "500"},
		Levels: []env.Level{env.LevelDebug, env.LevelInfo, env.LevelWarn, env.LevelError},
	}
	for _, name := range logFilters {
		p.Filter[name] = q.Get(name)
		p.Filtered = p.Filtered || q.Get(name) != ""
	}
	ask, err := logQuery(q)
	if err != nil {
		return answer{}, err
	}
	entries, err := c.Environment.Options(v.who, "").QueryLogs(v.Context(), ask)
	if err != nil {
		return answer{}, err
	}
	for _, e := range slices.Backward(entries) {
		id, _ := e.Context["id"].(string) // without one there is no record
		p.Rows = append(p.Rows, logRow{e, id})
	}
	return show("logs", p)
}

// logQuery reads which entries are asked for.
func logQuery(q url.Values) (ask env.LogQuery, err error) {
	ask = env.LogQuery{SessionID: q.Get("session"), AgentID: q.Get("agent"), Level: env.Level(q.Get("level"))}
	if ask.Limit, err = strconv.Atoi(cmp.Or(q.Get("limit"), "100")); err != nil {
		return ask, fault.New(fault.BadRequest, "limit must be a number")
	}
	if ask.Since, ask.Until, err = rangeOf(q); err != nil {
		return ask, err
	}
	if err := ask.Check(); err != nil {
		return ask, fault.New(fault.BadRequest, "%w", err)
	}
	return ask, nil
}

// rangeOf reads the time from which and until which something is asked for.
func rangeOf(q url.Values) (since, until time.Time, err error) {
	if since, err = timeOf(q.Get("since")); err == nil {
		until, err = timeOf(q.Get("until"))
	}
	return since, until, err
}

// timeOf reads a time as forms send it, which is meant as clocks here show it, or one with its zone.
func timeOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.New(fault.BadRequest, "%.40q is no time such as 2026-01-02T15:04", text)
}

// levelTone is the tone of an entry of the log.
func levelTone(l env.Level) string {
	switch l {
	case env.LevelError:
		return "bad"
	case env.LevelWarn:
		return "warn"
	case env.LevelInfo:
		return "good"
	}
	return "calm"
}
