package restapi

import (
	"cmp"
	"context"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ListSessions returns a page of sessions. Callers see their own.
func (a *API) ListSessions(ctx context.Context, who access.Principal, f store.SessionFilter) (SessionList, error) {
	if !who.MayRead() {
		f.Owner = who.ID
	}
	asked := cmp.Or(f.Limit, 100)
	f.Limit = asked + 1 // one more tells whether there is a next page
	rows, err := a.Store.Sessions(ctx, f)
	if err != nil {
		return SessionList{}, err
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

// ownSession returns a session that the caller may see, or change.
func (a *API) ownSession(ctx context.Context, who access.Principal, id string, change bool) (store.Session, error) {
	s, err := a.Store.Session(ctx, id)
	if err == nil && s.Owner != who.ID && !(who.MayAdmin() || who.MayRead() && !change) {
		err = fault.New(fault.NotFound, "there is no session %.100q", id)
	}
	return s, err
}

// ReadSession returns a session that the caller may see.
func (a *API) ReadSession(ctx context.Context, who access.Principal, id string) (Session, error) {
	s, err := a.ownSession(ctx, who, id, false)
	shown := showSession(s)
	if err == nil && a.Work != nil {
		shown.Answering, err = a.Work.UnderWay(ctx, agent.Lease(id))
	}
	return shown, err
}

// maxTitle limits the title of a session, in bytes.
const maxTitle = 1000

func (c *SessionConfig) check() error {
	if c.Title != nil && len(*c.Title) > maxTitle {
		return fault.New(fault.BadRequest, "the title is longer than %d bytes", maxTitle)
	}
	return nil
}

// CreateSession creates a session of the caller.
func (a *API) CreateSession(ctx context.Context, who access.Principal, in SessionConfig) (Session, error) {
	if !who.MayCall() {
		return Session{}, who.Forbidden("%s may not make sessions")
	}
	if err := in.check(); err != nil {
		return Session{}, err
	}
	n := env.SessionOptions{ID: in.ID}.Filled(time.Now())
	s := store.Session{ID: n.ID, Parent: in.Parent, Owner: who.ID, Title: n.Title, Directory: in.Directory, Metadata: in.Metadata}
	if in.Title != nil {
		s.Title = *in.Title
	}
	s, err := a.Store.CreateSession(ctx, s)
	return showSession(s), err
}

// ChangeSession replaces the title and merges the metadata by name.
func (a *API) ChangeSession(ctx context.Context, who access.Principal, id string, in SessionConfig) (Session, error) {
	if in.ID != "" || in.Parent != "" || in.Directory != "" {
		return Session{}, fault.New(fault.BadRequest, "title and metadata can be changed, nothing else")
	}
	if err := in.check(); err != nil {
		return Session{}, err
	}
	if _, err := a.ownSession(ctx, who, id, true); err != nil {
		return Session{}, err
	}
	s, err := a.Store.UpdateSession(ctx, id, store.SessionChange{Title: in.Title, Metadata: in.Metadata})
	return showSession(s), err
}

// DeleteSession deletes a session with its messages, if it exists.
func (a *API) DeleteSession(ctx context.Context, who access.Principal, id string) error {
	_, err := a.ownSession(ctx, who, id, true)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	}
	return a.Store.DeleteSession(ctx, id)
}

// Stretch is a part of a transcript.
type Stretch struct {
	After int64 // the position before it
	Limit int   // 0: 100
	Last  bool  // it is the end of the transcript
}

func (a *API) ReadMessages(ctx context.Context, who access.Principal, id string, part Stretch) (MessageList, error) {
	list := MessageList{Messages: []TranscriptMessage{}}
	if _, err := a.ownSession(ctx, who, id, false); err != nil {
		return list, err
	}
	limit := cmp.Or(part.Limit, 100)
	var rows []store.Message
	var err error
	if part.Last {
		rows, err = a.Store.LastMessages(ctx, id, limit)
	} else {
		rows, err = a.Store.Messages(ctx, id, part.After, limit)
	}
	if err != nil {
		return list, err
	}
	for _, m := range rows {
		list.Messages = append(list.Messages, TranscriptMessage{m.Position, m.At, m.Body})
	}
	if len(rows) == limit && !part.Last {
		list.Next = rows[len(rows)-1].Position
	}
	return list, nil
}
