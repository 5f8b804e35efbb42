package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// Definition is what a server has listed under the name of a tool for some time.
type Definition struct {
	Hash     string
	Raw      json.RawMessage // byte for byte as received
	Since    time.Time       // when it was first listed
	Until    time.Time       // when it was listed otherwise, or no more; zero: it is listed so
	Decision *Decision       // what a person has decided about it; nil: nobody was asked
}

// How many definitions are kept that were replaced: a server may list others each time.
const (
	maxDefinitions  = 20      // of a tool
	definitionBytes = 4 << 20 // of a server, with rowBytes for each
	rowBytes        = 256
)

// keepReplaced keeps the definitions that a new list replaces, and returns since when each tool has its definition. It writes
// only what has changed, in the transaction of the list.
func (s *Store) keepReplaced(ctx context.Context, tx *changes, stored []Server, srv *Server) (since map[string]int64, err error) {
	id, at := string(srv.ID), micros(srv.ListedAt)
	since = make(map[string]int64, len(srv.Tools))
	for _, t := range srv.Tools {
		since[t.Name] = at
	}
	if len(stored) == 0 {
		return since, nil
	}
	before := map[string]int64{}
	read := func(scan scanner, _ *struct{}) error {
		var name string
		var since int64
		err := scan(&name, &since)
		before[name] = since
		return err
	}
	if _, err := readRows(ctx, tx, read, "SELECT name, since FROM tools WHERE server = $1", id); err != nil {
		return nil, err
	}
	now := make(map[string]json.RawMessage, len(srv.Tools))
	for _, t := range srv.Tools {
		now[t.Name] = t.Definition
	}
	var rows [][]any
	for _, t := range stored[0].Tools {
		was, first := before[t.Name]
		if !first { // a name that is listed twice
			continue
		}
		delete(before, t.Name)
		if def, listed := now[t.Name]; listed && tool.Same(def, t.Definition) {
			since[t.Name] = was
			continue
		}
		rows = append(rows, []any{id, t.Name, tool.Hash(t.Definition), notNull(t.Definition), was, at})
	}
	if len(rows) == 0 {
		return since, nil
	}
	const again = " ON CONFLICT (server, tool, hash) DO UPDATE SET definition = excluded.definition, since = excluded.since, until = excluded.until"
	if err := s.insertRows(ctx, tx.Tx, "definitions (server, tool, hash, definition, since, until)", again, rows); err != nil {
		return nil, err
	}
	return since, s.trimDefinitions(ctx, tx, id)
}

// trimDefinitions deletes the oldest of a server that are too many or too large.
func (s *Store) trimDefinitions(ctx context.Context, tx *changes, id string) error {
	const trim = `DELETE FROM definitions WHERE server = $1 AND (tool, hash) IN (SELECT tool, hash FROM (
		SELECT tool, hash, row_number() OVER (PARTITION BY tool ORDER BY until DESC, since DESC, hash) AS place,
			sum(octet_length(definition) + $2) OVER (ORDER BY until DESC, tool, hash) AS size
		FROM definitions WHERE server = $1) AS kept WHERE place > $3 OR size > $4)`
	_, err := tx.ExecContext(ctx, trim, id, rowBytes, maxDefinitions, definitionBytes)
	return err
}

// Definitions returns what a server's tool is like and was before, the newest first.
func (s *Store) Definitions(ctx context.Context, id tool.ServerID, name string) ([]Definition, error) {
	op := "read the definitions of " + string(tool.Canonical(id, name))
	const query = `SELECT definition, since, 0 AS until FROM tools WHERE server = $1 AND name = $2
		UNION ALL SELECT definition, since, until FROM definitions WHERE server = $1 AND tool = $2`
	read := func(scan scanner, d *Definition) error {
		err := scan((*[]byte)(&d.Raw), storedTime(&d.Since), storedTime(&d.Until))
		d.Hash = tool.Hash(d.Raw)
		return err
	}
	found, err := list(ctx, s, op, read, query, string(id), name)
	if err != nil {
		return nil, err
	}
	const decided = "SELECT server, kind, name, hash, verdict, decided_by, at FROM decisions WHERE server = $1 AND kind = 'tool' AND name = $2"
	decisions := map[string]*Server{string(id): {}}
	readDecision := func(scan scanner, _ *struct{}) error { return readDecision(scan, decisions) }
	if _, err := list(ctx, s, op, readDecision, decided, string(id), name); err != nil {
		return nil, err
	}
	for i := range found {
		for _, d := range decisions[string(id)].Decisions {
			if d.Hash == found[i].Hash {
				found[i].Decision = &d
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Definition) int {
		if a.Until.IsZero() != b.Until.IsZero() {
			return cmp.Compare(micros(a.Until), micros(b.Until)) // what is listed now has none
		}
		return cmp.Or(b.Until.Compare(a.Until), b.Since.Compare(a.Since))
	})
	return found, nil
}
