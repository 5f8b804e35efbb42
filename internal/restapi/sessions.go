package restapi

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/store"
)

// Session is a session as the API shows it.
type Session struct {
	ID        string                     `json:"id"`
	Parent    string                     `json:"parentID,omitempty"`
	Title     string                     `json:"title"`
	Directory string                     `json:"directory,omitempty"`
	Time      SessionTime                `json:"time"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

// SessionTime is when a session was made and last changed.
type SessionTime struct {
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// SessionList is a page of sessions, the newest first.
type SessionList struct {
	Sessions []Session `json:"sessions"`
	Next     string    `json:"next,omitempty"` // the cursor of the next page; "": this is the last
}

// MessageList is a page of a transcript.
type MessageList struct {
	Messages []TranscriptMessage `json:"messages"`
	Next     int64               `json:"next,omitempty"` // after which position to go on; 0: this is the last page
}

// TranscriptMessage is one message of a transcript, in the form of the chat completions API.
type TranscriptMessage struct {
	Position int64           `json:"position"`
	At       time.Time       `json:"at"`
	Message  json.RawMessage `json:"message"`
}

func showSession(s store.Session) Session {
	return Session{ID: s.ID, Parent: s.Parent, Title: s.Title, Directory: s.Directory, Time: SessionTime{s.CreatedAt, s.UpdatedAt}, Metadata: s.Metadata}
}

// listSessions gives callers their own sessions, others all.
func (a *API) listSessions(r *http.Request, who access.Principal) (any, error) {
	f, err := sessionFilter(r.URL.Query())
	if err != nil {
		return nil, err
	}
	if !who.MayRead() {
		f.Owner = who.ID
	}
	if f.Limit == 0 {
		f.Limit = 100
	}
	asked := f.Limit
	f.Limit++ // one more tells whether there is a next page
	rows, err := a.Store.Sessions(r.Context(), f)
	if err != nil {
		return nil, err
	}
	list := SessionList{Sessions: []Session{}}
	if len(rows) > asked {
		rows = rows[:asked]
		list.Next = rows[asked-1].Cursor()
	}
	for _, s := range rows {
		list.Sessions = append(list.Sessions, showSession(s))
	}
	return list, nil
}

// sessionFilter reads which sessions are asked for. What begins with "metadata." is a value
// of the metadata, as JSON or as text.
func sessionFilter(q url.Values) (f store.SessionFilter, err error) {
	f = store.SessionFilter{Parent: q.Get("parentID"), Before: q.Get("cursor"), Metadata: map[string]json.RawMessage{}}
	for key, values := range q {
		name, ok := strings.CutPrefix(key, "metadata.")
		if key == "agent" {
			name, ok = key, true
		}
		if !ok {
			continue
		}
		value := json.RawMessage(values[0])
		if !json.Valid(value) || key == "agent" {
			value, _ = json.Marshal(values[0]) // a string always can be
		}
		f.Metadata[name] = value
	}
	for name, into := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		if text := q.Get(name); text != "" {
			if *into, err = time.Parse(time.RFC3339, text); err != nil {
				return f, fault.New(fault.BadRequest, "%s must be a time such as 2026-01-02T15:04:05Z", name)
			}
		}
	}
	if f.Limit, err = limitOf(q, 999); err != nil {
		return f, err
	}
	return f, nil
}

// limitOf reads how many are asked for; 0: not said.
func limitOf(q url.Values, most int) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fault.New(fault.BadRequest, "limit must be a whole number from 1 to %d", most)
	}
	return n, nil
}

// ownSession is a session that the caller may see; with change, that it may change.
func (a *API) ownSession(r *http.Request, who access.Principal, change bool) (store.Session, error) {
	id := r.PathValue("id")
	s, err := a.Store.Session(r.Context(), id)
	if err == nil && s.Owner != who.ID && !(who.MayAdmin() || who.MayRead() && !change) {
		err = fault.New(fault.NotFound, "there is no session %.100q", id)
	}
	return s, err
}

func (a *API) session(r *http.Request, who access.Principal) (any, error) {
	s, err := a.ownSession(r, who, false)
	if err != nil {
		return nil, err
	}
	return showSession(s), nil
}

// sessionChange is what a client sends of a session.
type sessionChange struct {
	ID        string                     `json:"id"`
	Parent    string                     `json:"parentID"`
	Title     *string                    `json:"title"`
	Directory string                     `json:"directory"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
}

// maxTitle bounds the title of a session, in bytes.
const maxTitle = 1000

func (a *API) sessionBody(r *http.Request) (in sessionChange, err error) {
	data, err := a.body(r)
	if err == nil && data != nil {
		if err = decode(data, &in); err != nil {
			err = fault.New(fault.BadRequest, "the body must be {\"title\", \"metadata\", …}: %w", err)
		}
	}
	if err == nil && in.Title != nil && len(*in.Title) > maxTitle {
		err = fault.New(fault.BadRequest, "the title is longer than %d bytes", maxTitle)
	}
	return in, err
}

func (a *API) createSession(r *http.Request, who access.Principal) (any, error) {
	if !who.MayCall() {
		return nil, fault.New(fault.Forbidden, "%s may not make sessions", who.Name)
	}
	in, err := a.sessionBody(r)
	if err != nil {
		return nil, err
	}
	s := store.Session{ID: in.ID, Parent: in.Parent, Owner: who.ID, Directory: in.Directory, Metadata: in.Metadata}
	if s.ID == "" {
		s.ID = "ses_" + strings.ToLower(rand.Text())
	}
	if s.Title = "Session of " + time.Now().UTC().Format(time.RFC3339); in.Title != nil {
		s.Title = *in.Title
	}
	if s, err = a.Store.CreateSession(r.Context(), s); err != nil {
		return nil, err
	}
	return created{"/sessions/" + url.PathEscape(s.ID), showSession(s)}, nil
}

// patchSession replaces the title and merges the metadata by name.
func (a *API) patchSession(r *http.Request, who access.Principal) (any, error) {
	in, err := a.sessionBody(r)
	if err != nil {
		return nil, err
	}
	if in.ID != "" || in.Parent != "" || in.Directory != "" {
		return nil, fault.New(fault.BadRequest, "title and metadata can be changed, nothing else")
	}
	if _, err := a.ownSession(r, who, true); err != nil {
		return nil, err
	}
	s, err := a.Store.UpdateSession(r.Context(), r.PathValue("id"), store.SessionChange{Title: in.Title, Metadata: in.Metadata})
	if err != nil {
		return nil, err
	}
	return showSession(s), nil
}

// deleteSession forgets a session with its messages. One that is not there is no error.
func (a *API) deleteSession(r *http.Request, who access.Principal) (any, error) {
	id := r.PathValue("id")
	if _, err := a.ownSession(r, who, true); err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	} else if err == nil {
		if err := a.Store.DeleteSession(r.Context(), id); err != nil {
			return nil, err
		}
	}
	return deleted{ID: id}, nil
}

func (a *API) sessionMessages(r *http.Request, who access.Principal) (any, error) {
	q := r.URL.Query()
	limit, err := limitOf(q, 1000)
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = 100
	}
	var after int64
	if text := q.Get("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			return nil, fault.New(fault.BadRequest, "after must be a position, from 0 on")
		}
	}
	if _, err := a.ownSession(r, who, false); err != nil {
		return nil, err
	}
	rows, err := a.Store.Messages(r.Context(), r.PathValue("id"), after, limit)
	if err != nil {
		return nil, err
	}
	list := MessageList{Messages: []TranscriptMessage{}}
	for _, m := range rows {
		list.Messages = append(list.Messages, TranscriptMessage{m.Position, m.At, m.Body})
	}
	if len(rows) == limit {
		list.Next = rows[len(rows)-1].Position
	}
	return list, nil
}
