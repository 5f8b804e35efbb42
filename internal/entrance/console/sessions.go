package console

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// SessionChanges creates, changes and deletes sessions.
type SessionChanges interface {
	CreateSession(ctx context.Context, who access.Principal, in restapi.SessionConfig) (restapi.Session, error)
	ChangeSession(ctx context.Context, who access.Principal, id string, in restapi.SessionConfig) (restapi.Session, error)
	DeleteSession(ctx context.Context, who access.Principal, id string) error
}

type sessionRow struct {
	restapi.Session
	Agent string
}

type sessionsPage struct {
	list
	Rows  []sessionRow
	May   bool // create and change sessions
	Input input
}

func (c *Console) listSessions(v *visit) (sessionsPage, error) {
	p := sessionsPage{list: c.listOf(v, "/environments/sessions", "agent", "parent", "metadata", "since", "until"), May: v.who.MayCall()}
	f, err := sessionFilter(p.query)
	if err != nil {
		return p, err
	}
	f.Before = p.cursor
	found, err := c.Sessions.ListSessions(v.Context(), v.who, f)
	for _, s := range found.Sessions {
		p.Rows = append(p.Rows, sessionRow{s, agentOf(s)})
	}
	p.older(found.Next)
	return p, err
}

func sessionFilter(q url.Values) (f store.SessionFilter, err error) {
	f = store.SessionFilter{Parent: q.Get("parent"), Limit: 50, Metadata: map[string]json.RawMessage{}}
	if id := q.Get("agent"); id != "" {
		f.Metadata[agent.AgentKey], _ = json.Marshal(id) // a string always can
	}
	if text := q.Get("metadata"); text != "" {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return f, fault.New(fault.BadRequest, "metadata must be name=value")
		}
		f.Metadata[name] = json.RawMessage(value)
		if !json.Valid(f.Metadata[name]) {
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
	var s restapi.Session
	var err error
	if text := strings.TrimSpace(v.PostForm.Get("metadata")); text != "" && json.Unmarshal([]byte(text), &in.Metadata) != nil {
		err = fault.New(fault.BadRequest, "metadata must be a JSON object")
	} else {
		s, err = c.SessionChanges.CreateSession(v.Context(), v.who, in)
	}
	if in, ok := rejected(v, err); ok {
		p, err := c.listSessions(v)
		p.Input = in
		return answer{page: "sessions", data: p}, err
	}
	if err != nil {
		return answer{}, err
	}
	return done("/environments/sessions/"+url.PathEscape(s.ID), "sessionMade")
}

type sessionPage struct {
	restapi.Session
	Agent string
	About block // metadata, if there is more than the agent
	Turns []turn
	May   bool
	Pager pager
}

func (c *Console) readSession(v *visit) (sessionPage, error) {
	id := v.PathValue("id")
	s, err := c.Sessions.ReadSession(v.Context(), v.who, id)
	if err != nil {
		return sessionPage{}, err
	}
	after, _ := strconv.ParseInt(v.URL.Query().Get("after"), 10, 64) // 0: from the beginning
	list, err := c.Sessions.ReadMessages(v.Context(), v.who, id, restapi.Stretch{After: max(0, after), Limit: maxTurns})
	p := sessionPage{Session: s, Agent: agentOf(s), Turns: turnsOf(v.lang, list.Messages), May: v.who.MayCall()}
	if len(s.Metadata) > 1 || len(s.Metadata) == 1 && p.Agent == "" {
		p.About = code(text(v.lang, "session.metadata"), []byte(compact(s.Metadata)))
	}
	c.addTimelines(id, p.Turns)
	at := c.at("/environments/sessions/" + url.PathEscape(id))
	if after > 0 {
		p.Pager.First = at
	}
	if list.Next > 0 {
		p.Pager.Older = at + "?after=" + strconv.FormatInt(list.Next, 10)
	}
	return p, err
}

// addTimelines adds to each answer of a session where its calls are shown on an axis of time.
func (c *Console) addTimelines(session string, turns []turn) {
	for i := range turns {
		calls := 0
		for _, p := range turns[i].Parts {
			if p.Call != nil && p.Call.Record != "" {
				calls++
			}
		}
		if calls < 2 {
			continue
		}
		q := url.Values{"session": {session}, "since": {turns[i].At.Format(time.RFC3339Nano)}}
		if i+1 < len(turns) {
			q.Set("until", turns[i+1].At.Format(time.RFC3339Nano))
		}
		turns[i].Timeline = with(c.at("/calls/timeline"), q, "", "")
	}
}

func (c *Console) renameSession(v *visit) (answer, error) {
	id := v.PathValue("id")
	title := strings.TrimSpace(v.PostForm.Get("title"))
	if _, err := c.SessionChanges.ChangeSession(v.Context(), v.who, id, restapi.SessionConfig{Title: &title}); err != nil {
		return answer{}, err
	}
	return done("/environments/sessions/"+url.PathEscape(id), "sessionRenamed")
}

func (c *Console) deleteSession(v *visit) (answer, error) {
	if err := c.SessionChanges.DeleteSession(v.Context(), v.who, v.PathValue("id")); err != nil {
		return answer{}, err
	}
	return done("/environments/sessions", "sessionDeleted")
}
