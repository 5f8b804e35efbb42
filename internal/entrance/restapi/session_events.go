package restapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// sessionChanged stands before what was done to a session.
const sessionChanged = "session."

// sessionTopics are the topics about sessions.
var sessionTopics = []string{sessionChanged + "created", sessionChanged + "updated", sessionChanged + "deleted"}

// heardSession is a session as events show it, in the words of the environment protocol.
type heardSession struct {
	ID        string `json:"id"`
	Parent    string `json:"parentID,omitempty"`
	Owner     string `json:"owner"`
	Title     string `json:"title"`
	Directory string `json:"directory,omitempty"`
	Time      struct {
		Created time.Time `json:"created"`
		Updated time.Time `json:"updated"`
	} `json:"time"`
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// SessionChanged tells that a session was created, updated or deleted. It does not block.
func (e *Events) SessionChanged(kind string, session store.Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell(happening{topic: sessionChanged + kind, at: e.now(), session: session})
}

// tellSession tells of a session: callers of their own, others of all.
func (c *connection) tellSession(ctx context.Context, h happening) error {
	if !c.who.MayRead() && h.session.Owner != c.who.ID {
		return nil
	}
	v := h.session
	heard := heardSession{ID: v.ID, Parent: v.Parent, Owner: v.Owner, Title: v.Title, Directory: v.Directory, Metadata: v.Metadata}
	heard.Time.Created, heard.Time.Updated = v.CreatedAt, v.UpdatedAt
	return c.send(ctx, h.topic, h.at, heard)
}
