package console

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// SessionChanges makes, changes and forgets sessions.
type SessionChanges interface {
	CreateSession(ctx context.Context, who access.Principal, in restapi.SessionConfig) (restapi.Session, error)
	ChangeSession(ctx context.Context, who access.Principal, id string, in restapi.SessionConfig) (restapi.Session, error)
	DeleteSession(ctx context.Context, who access.Principal, id string) error
}

// sessionRow is a session in a list.
type sessionRow struct {
	restapi.Session
	Agent string
}

// sessionsPage is what the list of sessions shows.
type sessionsPage struct {
	Rows     []sessionRow
	Filter   map[string]string
	Filtered bool
	May      bool // make and change sessions
	Pager    pager
	Refused  refused // why no session was made
}

// sessionFilters are what sessions are chosen by.
var sessionFilters = []string{"agent", "parent", "metadata", "since", "until"}

// showSessions lists sessions; why says why none was made.
func (c *Console) showSessions(v *visit, why refused) (answer, error) {
	p := sessionsPage{Filter: map[string]string{}, May: v.who.MayCall(), Refused: why}
	q := url.Values{}
	for _, name := range sessionFilters {
		if value := v.URL.Query().Get(name); value != "" {
			q.Set(name, value)
		}
		p.Filter[name] = q.Get(name)
	}
	p.Filtered = len(q) > 0
	f, err := sessionsAsked(q)
	if err != nil {
		return answer{}, err
	}
	if f.Before = v.URL.Query().Get("cursor"); f.Before != "" {
		p.Pager.First = with(c.at("/environments/sessions"), q, "", "")
	}
	list, err := c.Gateway.ListSessions(v.Context(), v.who, f)
	if err != nil {
		return answer{}, err
	}
	for _, s := range list.Sessions {
		p.Rows = append(p.Rows, sessionRow{s, agentOf(s)})
	}
	if list.Next != "" {
		p.Pager.Older = with(c.at("/environments/sessions"), q, "cursor", list.Next)
	}
	return show("sessions", p)
}

// sessionsAsked reads which sessions are asked for.
func sessionsAsked(q url.Values) (f store.SessionFilter, err error) {
	f = store.SessionFilter{Parent: q.Get("parent"), Limit: 50, Metadata: map[string]json.RawMessage{}}
	if id := q.Get("agent"); id != "" {
		f.Metadata[agent.AgentKey], _ = json.Marshal(id) // a string can be
	}
	if text := q.Get("metadata"); text != "" {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return f, fault.New(fault.BadRequest, "metadata must be name=value")
		}
		if f.Metadata[name] = json.RawMessage(value); !json.Valid(f.Metadata[name]) {
			f.Metadata[name], _ = json.Marshal(value) // likewise
		}
	}
	f.Since, f.Until, err = rangeOf(q)
	return f, err
}

func (c *Console) createSession(v *visit) (answer, error) {
	in := restapi.SessionConfig{Parent: v.PostForm.Get("parent"), Directory: v.PostForm.Get("directory")}
	if title := strings.TrimSpace(v.PostForm.Get("title")); title != "" {
		in.Title = &title
	}
	if text := strings.TrimSpace(v.PostForm.Get("metadata")); text != "" && json.Unmarshal([]byte(text), &in.Metadata) != nil {
		return c.showSessions(v, refused{fault.New(fault.BadRequest, "metadata must be a JSON object"), v.PostForm})
	}
	s, err := c.Gateway.CreateSession(v.Context(), v.who, in)
	if why, fixable := refusal(v, err); err != nil && fixable {
		return c.showSessions(v, why)
	}
	if err != nil {
		return answer{}, err
	}
	return done("/environments/sessions/"+url.PathEscape(s.ID), "sessionMade")
}

// sessionPage is what the page of one session shows.
type sessionPage struct {
	restapi.Session
	Agent string
	About block // its metadata, where that says more than the agent
	Turns []turn
	May   bool
	Pager pager
}

func (c *Console) showSession(v *visit) (answer, error) {
	id := v.PathValue("id")
	s, err := c.Gateway.ReadSession(v.Context(), v.who, id)
	if err != nil {
		return answer{}, err
	}
	after, _ := strconv.ParseInt(v.URL.Query().Get("after"), 10, 64) // what is no position is the beginning
	list, err := c.Gateway.ReadMessages(v.Context(), v.who, id, restapi.Stretch{After: max(0, after), Limit: maxTurns})
	if err != nil {
		return answer{}, err
	}
	p := sessionPage{Session: s, Agent: agentOf(s), Turns: turnsOf(v.lang, list.Messages), May: v.who.MayCall()}
	if len(s.Metadata) > 1 || len(s.Metadata) == 1 && p.Agent == "" {
		raw, err := json.Marshal(s.Metadata)
		if err != nil {
			return answer{}, err
		}
		p.About = code(text(v.lang, "session.metadata"), raw)
	}
	at := c.at("/environments/sessions/" + url.PathEscape(id))
	if after > 0 {
		p.Pager.First = at
	}
	if list.Next > 0 {
		p.Pager.Older = at + "?after=" + strconv.FormatInt(list.Next, 10)
	}
	return show("session", p)
}

func (c *Console) renameSession(v *visit) (answer, error) {
	id, title := v.PathValue("id"), strings.TrimSpace(v.PostForm.Get("title"))
	if _, err := c.Gateway.ChangeSession(v.Context(), v.who, id, restapi.SessionConfig{Title: &title}); err != nil {
		return answer{}, err
	}
	return done("/environments/sessions/"+url.PathEscape(id), "sessionRenamed")
}

func (c *Console) deleteSession(v *visit) (answer, error) {
	if err := c.Gateway.DeleteSession(v.Context(), v.who, v.PathValue("id")); err != nil {
		return answer{}, err
	}
	return done("/environments/sessions", "sessionDeleted")
}
