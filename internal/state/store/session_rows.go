package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	metadataInto = "session_metadata (session, name, value, sought)"
	// maxName bounds what is part of an index: PostgreSQL takes some 2,700 bytes at most.
	maxName = 512
	// maxMetadata bounds the names and values of one session together: lists hold many.
	maxMetadata = 64 << 10
	// maxSought is how long a value may be to be looked for by itself.
	maxSought = 200
)

func checkName(what, name string) error {
	if name == "" || len(name) > maxName {
		return fault.New(fault.BadRequest, "%s must have 1 to %d bytes, got %d", what, maxName, len(name))
	}
	return nil
}

// metadataRows are the rows of a session's metadata, ordered by name, so that two who write
// at once do not wait for each other in a circle.
func metadataRows(session string, metadata map[string]json.RawMessage) (rows [][]any, err error) {
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		if err := checkName("a metadata name", name); err != nil {
			return nil, err
		}
		sought, err := soughtValue(name, metadata[name])
		if err != nil {
			return nil, err
		}
		rows = append(rows, []any{session, name, []byte(metadata[name]), sought})
	}
	return rows, nil
}

// checkMetadata refuses what would make lists of sessions too large.
func checkMetadata(id string, metadata map[string]json.RawMessage) error {
	size := 0
	for name, value := range metadata {
		size += len(name) + len(value)
	}
	if size > maxMetadata {
		return fault.New(fault.TooLarge, "session %q would have %d bytes of metadata; at most %d are kept", id, size, maxMetadata)
	}
	return nil
}

// soughtValue is the same text for equal values, however they are written. A long one is
// looked for by its digest.
func soughtValue(name string, value json.RawMessage) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		return "", fault.New(fault.BadRequest, "metadata %q is not one JSON value", name)
	}
	text, err := json.Marshal(v) // sorts the keys
	if err != nil {
		return "", fmt.Errorf("write metadata %q: %w", name, err)
	}
	if len(text) <= maxSought {
		return string(text), nil
	}
	digest := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(digest[:]), nil
}

func (s *Store) readSession(ctx context.Context, from reader, id string) (Session, error) {
	found, err := s.readSessions(ctx, from, " WHERE id = $1", []any{id})
	if err == nil && len(found) == 0 {
		err = noSession(id)
	}
	if err != nil {
		return Session{}, err
	}
	return found[0], nil
}

// readSessions reads sessions and then their metadata. One that is deleted in between has none.
func (s *Store) readSessions(ctx context.Context, from reader, rest string, args []any) ([]Session, error) {
	read := func(scan scanner) (v Session, err error) {
		err = scan(&v.ID, &v.Parent, &v.Owner, &v.Title, &v.Directory, storedTime{&v.CreatedAt}, storedTime{&v.UpdatedAt})
		return v, err
	}
	found, err := readRows(ctx, from, read, "SELECT "+sessionColumns+" FROM sessions"+rest, args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found, s.readMetadata(ctx, from, found)
}

func (s *Store) readMetadata(ctx context.Context, from reader, sessions []Session) error {
	byID := make(map[string]*Session, len(sessions))
	var w where
	var places []string
	for i := range sessions {
		byID[sessions[i].ID] = &sessions[i]
		places = append(places, w.value(sessions[i].ID))
	}
	read := func(scan scanner) (none struct{}, err error) {
		var id, name string
		var value []byte
		if err := scan(&id, &name, &value); err != nil {
			return none, err
		}
		v := byID[id]
		if v.Metadata == nil {
			v.Metadata = map[string]json.RawMessage{}
		}
		v.Metadata[name] = value
		return none, nil
	}
	query := "SELECT session, name, value FROM session_metadata WHERE session IN (" + strings.Join(places, ", ") + ")"
	_, err := readRows(ctx, from, read, query, w.args...)
	return err
}
