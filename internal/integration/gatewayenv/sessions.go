package gatewayenv

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// sessions are the stored sessions that a caller may see.
type sessions struct {
	gateway *Gateway
	who     access.Principal
}

// Sessions are the stored sessions that the caller may see and change. Others' do not exist for it.
func (g *Gateway) Sessions(who access.Principal) env.Sessions { return sessions{g, who} }

// owner is whose sessions the caller may see; "": everybody's.
func (s sessions) owner() string {
	if s.who.MayRead() {
		return ""
	}
	return s.who.ID
}

func (s sessions) mayChange() error {
	if !s.who.MayCall() {
		return fault.New(fault.Forbidden, "a viewer changes no sessions").WithHint("use a key with the role caller or admin")
	}
	return nil
}

// CreateSession stores a new session of the caller.
func (s sessions) CreateSession(ctx context.Context, n env.SessionOptions) (env.Session, error) {
	if err := s.mayChange(); err != nil {
		return env.Session{}, err
	}
	n = n.Filled(time.Now())
	metadata, err := rawValues(n.Metadata)
	if err != nil {
		return env.Session{}, err
	}
	v, err := s.gateway.parts.Store.CreateSession(ctx, store.Session{
		ID: n.ID, Parent: n.ParentID, Owner: s.who.ID, Title: n.Title, Directory: n.Directory, Metadata: metadata,
	})
	if fault.Is(err, fault.Conflict) {
		return env.Session{}, fmt.Errorf("%w: %s", env.ErrTaken, n.ID)
	}
	return shown(v), s.gateway.told(err)
}

// GetSession returns a session.
func (s sessions) GetSession(ctx context.Context, id string) (env.Session, error) {
	v, err := s.gateway.parts.Store.Session(ctx, id)
	if owner := s.owner(); err == nil && owner != "" && v.Owner != owner {
		return env.Session{}, &env.NotFoundError{Kind: "Session", ID: id}
	}
	return shown(v), s.told(id, err)
}

// ListSessions returns one page.
func (s sessions) ListSessions(ctx context.Context, f env.SessionFilter) (env.SessionPage, error) {
	metadata, err := rawValues(f.Metadata)
	if err != nil {
		return env.SessionPage{}, err
	}
	wanted := store.SessionFilter{Owner: s.owner(), Parent: f.ParentID, Metadata: metadata, Since: f.Since, Until: f.Until,
		Before: f.Cursor}
	page := env.SessionPage{Sessions: []env.Session{}}
	size := 0
	for left := cmp.Or(f.Limit, 100); left > 0 && size < maxPage; {
		wanted.Limit = min(left, atOnce)
		found, err := s.gateway.parts.Store.Sessions(ctx, wanted)
		if err != nil {
			return env.SessionPage{}, s.gateway.told(err)
		}
		for _, v := range found {
			page.Sessions = append(page.Sessions, shown(v))
			size += sizeOf(v)
		}
		if len(found) < wanted.Limit {
			return page, nil
		}
		left -= len(found)
		wanted.Before = found[len(found)-1].Cursor()
	}
	page.NextCursor = wanted.Before // what follows may turn out to be empty
	return page, nil
}

const (
	atOnce  = 100     // sessions that are read at a time
	maxPage = 4 << 20 // bytes after which a page ends, though more sessions were asked for
)

// sizeOf estimates the size of a session in bytes.
func sizeOf(v store.Session) int {
	size := len(v.Title) + len(v.Directory) + len(v.Parent)
	for name, value := range v.Metadata {
		size += len(name) + len(value)
	}
	return size
}

// UpdateSession changes a session.
func (s sessions) UpdateSession(ctx context.Context, id string, c env.SessionChange) (env.Session, error) {
	if err := s.mayChange(); err != nil {
		return env.Session{}, err
	}
	metadata, err := rawValues(c.Metadata)
	if err != nil {
		return env.Session{}, err
	}
	change := store.SessionChange{Owner: s.owner(), Metadata: metadata}
	if c.Title != "" {
		change.Title = &c.Title
	}
	v, err := s.gateway.parts.Store.UpdateSession(ctx, id, change)
	return shown(v), s.told(id, err)
}

// DeleteSession deletes a session.
func (s sessions) DeleteSession(ctx context.Context, id string) error {
	if err := s.mayChange(); err != nil {
		return err
	}
	_, err := s.gateway.parts.Store.TakeSession(ctx, id, s.owner())
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return s.gateway.told(err)
}

func (s sessions) told(id string, err error) error {
	if fault.Is(err, fault.NotFound) {
		return &env.NotFoundError{Kind: "Session", ID: id}
	}
	return s.gateway.told(err)
}

func shown(v store.Session) env.Session {
	out := env.Session{ID: v.ID, ParentID: v.Parent, Title: v.Title, Directory: v.Directory}
	out.Time = env.SessionTimes{Created: v.CreatedAt, Updated: v.UpdatedAt}
	if len(v.Metadata) > 0 {
		out.Metadata = make(env.Metadata, len(v.Metadata))
		for name, value := range v.Metadata {
			out.Metadata[name] = value
		}
	}
	return out
}

// rawValues encodes metadata for the store.
func rawValues(m env.Metadata) (map[string]json.RawMessage, error) {
	if m == nil {
		return nil, nil
	}
	out := make(map[string]json.RawMessage, len(m))
	for name, value := range m {
		raw, read := value.(json.RawMessage) // it stays as it was written
		if !read {
			var err error
			raw, err = json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("metadata %s: %w", name, err)
			}
		}
		out[name] = raw
	}
	return out, nil
}
