package env

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// MemorySessions keeps sessions in memory.
type MemorySessions struct {
	opts MemoryOptions

	mu   sync.RWMutex
	byID map[string]memorySession
}

// memorySession is a session with its metadata in a canonical form.
type memorySession struct {
	Session
	same map[string]string
}

// MemoryOptions are options of MemorySessions.
type MemoryOptions struct {
	Max int              // most sessions at once; 0: 100,000
	Now func() time.Time // nil: time.Now
}

// NewMemorySessions returns an empty MemorySessions; nil options are the defaults.
func NewMemorySessions(opts *MemoryOptions) *MemorySessions {
	m := &MemorySessions{byID: map[string]memorySession{}}
	if opts != nil {
		m.opts = *opts
	}
	if m.opts.Max == 0 {
		m.opts.Max = 100_000
	}
	if m.opts.Now == nil {
		m.opts.Now = time.Now
	}
	return m
}

// CreateSession creates a session.
func (m *MemorySessions) CreateSession(_ context.Context, n SessionOptions) (Session, error) {
	metadata, same, err := n.Metadata.canonical()
	if err != nil {
		return Session{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.opts.Now().UTC()
	n = n.Filled(now)
	if _, taken := m.byID[n.ID]; taken {
		return Session{}, fmt.Errorf("%w: %s", ErrTaken, n.ID)
	}
	if len(m.byID) >= m.opts.Max {
		return Session{}, fmt.Errorf("there are %d sessions already, which is the limit: delete some", len(m.byID))
	}
	s := Session{ID: n.ID, ParentID: n.ParentID, Title: n.Title, Directory: n.Directory, Metadata: metadata}
	s.Time = SessionTimes{Created: now, Updated: now}
	m.byID[s.ID] = memorySession{s, same}
	return s.copied(), nil
}

// copied returns the session with its own metadata.
func (s Session) copied() Session {
	s.Metadata = maps.Clone(s.Metadata)
	return s
}

// GetSession returns a session.
func (m *MemorySessions) GetSession(_ context.Context, id string) (Session, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, there := m.byID[id]
	if !there {
		return Session{}, &NotFoundError{"Session", id}
	}
	return s.copied(), nil
}

// UpdateSession changes a session.
func (m *MemorySessions) UpdateSession(_ context.Context, id string, c SessionChange) (Session, error) {
	metadata, same, err := c.Metadata.canonical()
	if err != nil {
		return Session{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, there := m.byID[id]
	if !there {
		return Session{}, &NotFoundError{"Session", id}
	}
	s = memorySession{s.copied(), maps.Clone(s.same)}
	if c.Title != "" {
		s.Title = c.Title
	}
	if s.Metadata == nil {
		s.Metadata = metadata
		s.same = same
	} else {
		maps.Copy(s.Metadata, metadata)
		maps.Copy(s.same, same)
	}
	s.Time.Updated = m.opts.Now().UTC()
	m.byID[id] = s
	return s.copied(), nil
}

// DeleteSession deletes a session.
func (m *MemorySessions) DeleteSession(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byID, id)
	return nil
}

// ListSessions returns a page of sessions.
func (m *MemorySessions) ListSessions(_ context.Context, f SessionFilter) (SessionPage, error) {
	after, err := readCursor(f.Cursor)
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return SessionPage{}, err
	}
	_, wanted, err := f.Metadata.canonical()
	if err != nil {
		return SessionPage{}, err
	}
	m.mu.RLock()
	found := []Session{}
	for _, s := range m.byID {
		if f.matches(s, wanted) && (f.Cursor == "" || newestFirst(after, s.Session) < 0) {
			found = append(found, s.Session)
		}
	}
	m.mu.RUnlock()
	slices.SortFunc(found, newestFirst)
	limit := cmp.Or(f.Limit, defaultLimit)
	page := SessionPage{Sessions: found[:min(limit, len(found))]}
	if len(found) > limit {
		page.NextCursor = page.Sessions[limit-1].cursor()
	}
	for i, s := range page.Sessions {
		page.Sessions[i] = s.copied()
	}
	return page, nil
}

func newestFirst(a, b Session) int {
	return cmp.Or(b.Time.Created.Compare(a.Time.Created), strings.Compare(b.ID, a.ID))
}

func (f SessionFilter) matches(s memorySession, wanted map[string]string) bool {
	if f.ParentID != "" && f.ParentID != s.ParentID ||
		!f.Since.IsZero() && s.Time.Created.Before(f.Since) ||
		!f.Until.IsZero() && s.Time.Created.After(f.Until) {
		return false
	}
	for name, value := range wanted {
		if has, there := s.same[name]; !there || has != value {
			return false
		}
	}
	return true
}

// canonical returns the metadata as compact JSON, and as texts that are equal for equal values.
func (m Metadata) canonical() (Metadata, map[string]string, error) {
	if m == nil {
		return nil, nil, nil
	}
	out := make(Metadata, len(m))
	same := make(map[string]string, len(m))
	for name, v := range m {
		raw, err := rawjson.Marshal(v)
		if err != nil {
			return nil, nil, fmt.Errorf("metadata %s: %w", name, err)
		}
		out[name] = raw
		same[name], err = sameText(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("metadata %s: %w", name, err)
		}
	}
	return out, same, nil
}

// sameText writes a value with sorted names and unchanged numbers.
func sameText(raw json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var parsed any
	if err := dec.Decode(&parsed); err != nil {
		return "", err
	}
	same, err := json.Marshal(parsed)
	return string(same), err
}

func (s Session) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(s.Time.Created.UnixNano(), 10) + " " + s.ID))
}

// readCursor reads a cursor into a session with only time and id.
func readCursor(cursor string) (Session, error) {
	if cursor == "" {
		return Session{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	at, id, found := strings.Cut(string(text), " ")
	nanos, err2 := strconv.ParseInt(at, 10, 64)
	if err != nil || err2 != nil || !found {
		return Session{}, errors.New("cursor: expected one that a page before this one named")
	}
	return Session{ID: id, Time: SessionTimes{Created: time.Unix(0, nanos).UTC()}}, nil
}
