package env

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"
)

// Sessions stores sessions. An environment with these methods, such as one that embeds Base, offers
// the session tools. Concurrent changes must not be lost.
type Sessions interface {
	// CreateSession creates a session; ErrTaken when the id exists.
	CreateSession(ctx context.Context, n SessionOptions) (Session, error)
	// GetSession returns a session; a *NotFoundError when there is none.
	GetSession(ctx context.Context, id string) (Session, error)
	// ListSessions returns one page, the newest session first.
	ListSessions(ctx context.Context, f SessionFilter) (SessionPage, error)
	// UpdateSession replaces the title and merges metadata by name; a *NotFoundError when
	// there is no such session.
	UpdateSession(ctx context.Context, id string, c SessionChange) (Session, error)
	// DeleteSession deletes a session, if it exists.
	DeleteSession(ctx context.Context, id string) error
}

// Session is a unit of work, such as a chat or a test run.
type Session struct {
	ID        string       `json:"id"` // ses_… unless its maker chose another
	ParentID  string       `json:"parentID,omitempty"`
	Title     string       `json:"title"`
	Directory string       `json:"directory,omitempty"`
	Time      SessionTimes `json:"time"`
	Metadata  Metadata     `json:"metadata,omitempty"`
}

// SessionTimes are the times of a session.
type SessionTimes struct {
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// SessionOptions describe a new session. All fields are optional.
type SessionOptions struct {
	ID        string   `json:"id,omitempty"` // "": a random one
	ParentID  string   `json:"parentID,omitempty"`
	Title     string   `json:"title,omitempty"` // "": one that carries the time
	Directory string   `json:"directory,omitempty"`
	Metadata  Metadata `json:"metadata,omitempty"`
}

const sessionPrefix = "ses_"

// Filled returns a copy with an id and a title, for implementations of Sessions.
func (n SessionOptions) Filled(now time.Time) SessionOptions {
	if n.ID == "" {
		n.ID = sessionPrefix + strings.ToLower(rand.Text())
	}
	if n.Title == "" {
		n.Title = "Session of " + now.UTC().Format(time.RFC3339)
	}
	return n
}

// SessionChange is a change of a session.
type SessionChange struct {
	Title    string   `json:"title,omitempty"`    // "": unchanged
	Metadata Metadata `json:"metadata,omitempty"` // merged by name
}

// SessionFilter selects sessions; zero fields match all.
type SessionFilter struct {
	ParentID string    `json:"parentID,omitempty"`
	Metadata Metadata  `json:"metadata,omitempty"` // each name has an equal value
	Since    time.Time `json:"since,omitzero"`     // created then or later
	Until    time.Time `json:"until,omitzero"`     // created then or earlier
	Limit    int       `json:"limit,omitempty"`    // at most so many, 1 to 1000; 0: 100
	Cursor   string    `json:"cursor,omitempty"`   // the NextCursor of the previous page
}

// Check validates the filter.
func (f SessionFilter) Check() error { return checkPage(f.Limit, f.Since, f.Until) }

// SessionPage is a page of sessions.
type SessionPage struct {
	Sessions   []Session `json:"sessions"`
	NextCursor string    `json:"nextCursor,omitempty"` // "": there are no more
}

// SessionEvent says that a session has changed.
type SessionEvent struct {
	Kind    SessionEventKind
	Session Session // of a deleted one, as it was
}

// SessionEventKind is the kind of a change.
type SessionEventKind string

const (
	SessionCreated SessionEventKind = "created"
	SessionUpdated SessionEventKind = "updated"
	SessionDeleted SessionEventKind = "deleted"
)

// Watched calls tell after every change, possibly concurrently.
func Watched(s Sessions, tell func(SessionEvent)) Sessions {
	return &watched{Sessions: s, tell: tell}
}

type watched struct {
	Sessions
	tell     func(SessionEvent)
	deleting sync.Mutex // so that only one of two concurrent deletions reports it
}

func (w *watched) CreateSession(ctx context.Context, n SessionOptions) (Session, error) {
	s, err := w.Sessions.CreateSession(ctx, n)
	if err == nil {
		w.tell(SessionEvent{SessionCreated, s})
	}
	return s, err
}

func (w *watched) UpdateSession(ctx context.Context, id string, c SessionChange) (Session, error) {
	s, err := w.Sessions.UpdateSession(ctx, id, c)
	if err == nil {
		w.tell(SessionEvent{SessionUpdated, s})
	}
	return s, err
}

// DeleteSession reports only sessions that existed.
func (w *watched) DeleteSession(ctx context.Context, id string) error {
	w.deleting.Lock()
	defer w.deleting.Unlock()
	s, err := w.GetSession(ctx, id)
	var none *NotFoundError
	if errors.As(err, &none) {
		return nil
	}
	if err == nil {
		err = w.Sessions.DeleteSession(ctx, id)
	}
	if err == nil {
		w.tell(SessionEvent{SessionDeleted, s})
	}
	return err
}
