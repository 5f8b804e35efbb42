package restapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
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

func (a *API) listSessions(r *http.Request, who access.Principal) (any, error) {
	f, err := sessionFilter(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return a.ListSessions(r.Context(), who, f)
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

func (a *API) session(r *http.Request, who access.Principal) (any, error) {
	return a.ReadSession(r.Context(), who, r.PathValue("id"))
}

// SessionConfig is what a client sends of a session.
type SessionConfig struct {
	ID        string                     `json:"id"`
	Parent    string                     `json:"parentID"`
	Title     *string                    `json:"title"`
	Directory string                     `json:"directory"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
}

func (a *API) sessionBody(r *http.Request) (in SessionConfig, err error) {
	data, err := a.body(r)
	if err == nil && data != nil {
		if err = decode(data, &in); err != nil {
			err = fault.New(fault.BadRequest, "the body must be {\"title\", \"metadata\", …}: %w", err)
		}
	}
	return in, err
}

func (a *API) createSession(r *http.Request, who access.Principal) (any, error) {
	in, err := a.sessionBody(r)
	if err != nil {
		return nil, err
	}
	s, err := a.CreateSession(r.Context(), who, in)
	if err != nil {
		return nil, err
	}
	return created{"/sessions/" + url.PathEscape(s.ID), s}, nil
}

// patchSession replaces the title and merges the metadata by name.
func (a *API) patchSession(r *http.Request, who access.Principal) (any, error) {
	in, err := a.sessionBody(r)
	if err != nil {
		return nil, err
	}
	return a.ChangeSession(r.Context(), who, r.PathValue("id"), in)
}

// deleteSession forgets a session with its messages. One that is not there is no error.
func (a *API) deleteSession(r *http.Request, who access.Principal) (any, error) {
	id := r.PathValue("id")
	if err := a.DeleteSession(r.Context(), who, id); err != nil {
		return nil, err
	}
	return deleted{ID: id}, nil
}

func (a *API) sessionMessages(r *http.Request, who access.Principal) (any, error) {
	q := r.URL.Query()
	limit, err := limitOf(q, 1000)
	if err != nil {
		return nil, err
	}
	var after int64
	if text := q.Get("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			return nil, fault.New(fault.BadRequest, "after must be a position, from 0 on")
		}
	}
	return a.ReadMessages(r.Context(), who, r.PathValue("id"), Stretch{After: after, Limit: limit})
}
