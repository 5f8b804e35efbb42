package restapi

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

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
	Answering bool                       `json:"answering,omitempty"` // an answer is being made; not in lists
}

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
	return Session{ID: s.ID, Parent: s.Parent, Title: s.Title, Directory: s.Directory, Time: SessionTime{s.CreatedAt, s.UpdatedAt},
		Metadata: s.Metadata}
}

func (a *API) listSessions(q *request) (any, error) {
	f, err := sessionFilter(q.query)
	if err != nil {
		return nil, err
	}
	return a.ListSessions(q.Context(), q.who, f)
}

// sessionFilter reads the filter. Parameters that begin with "metadata." are JSON or text.
func sessionFilter(q url.Values) (f store.SessionFilter, err error) {
	f = store.SessionFilter{Parent: q.Get("parentID"), Before: q.Get("cursor"), Metadata: map[string]json.RawMessage{}}
	for key, values := range q {
		name, ok := strings.CutPrefix(key, "metadata.")
		if !ok && key != "agent" {
			continue
		}
		value := json.RawMessage(values[0])
		if !json.Valid(value) || key == "agent" {
			value, _ = json.Marshal(values[0]) // a string always can be
		}
		f.Metadata[name] = value
	}
	f.Since, f.Until, err = parseTimes(q)
	if err == nil {
		f.Limit, err = number(q, "limit", 1, maxPage-1)
	}
	return f, err
}

// SessionConfig is a session that a client sends.
type SessionConfig struct {
	ID        string                     `json:"id"`
	Parent    string                     `json:"parentID"`
	Title     *string                    `json:"title"`
	Directory string                     `json:"directory"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
}
