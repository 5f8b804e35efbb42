package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/tool"
)

// Server is what was last learned from an upstream server.
type Server struct {
	ID        tool.ServerID
	Info      json.RawMessage // serverInfo as received; nil when never received
	Tools     []Tool          // in the server's order
	ListedAt  time.Time       // when Tools came; zero when never
	CheckedAt time.Time       // when the server was last asked
	Reason    string          // why the last check was bad; "" means it was good
}

// Tool is one tool as its server defined it.
type Tool struct {
	Name       string          // the server's own name for it
	Definition json.RawMessage // byte for byte as received
	Hash       string
	Held       bool // waits for approval
}

// SaveTools replaces the server's stored list by srv.Tools, all of it or nothing, and
// notes a good check. CheckedAt zero means ListedAt; Reason is not looked at.
func (s *Store) SaveTools(ctx context.Context, srv Server) error {
	if srv.CheckedAt.IsZero() {
		srv.CheckedAt = srv.ListedAt
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		const upsert = `INSERT INTO servers (id, info, listed_at, checked_at, reason) VALUES ($1, $2, $3, $4, '')
			ON CONFLICT (id) DO UPDATE SET info = excluded.info, listed_at = excluded.listed_at,
				checked_at = excluded.checked_at, reason = excluded.reason`
		_, err := tx.ExecContext(ctx, upsert, string(srv.ID), []byte(srv.Info), micros(srv.ListedAt), micros(srv.CheckedAt))
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM tools WHERE server = $1", string(srv.ID)); err != nil {
			return err
		}
		return insertTools(ctx, tx, srv)
	})
	return s.explain("save tools of "+string(srv.ID), err)
}

func insertTools(ctx context.Context, tx *sql.Tx, srv Server) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO tools (server, position, name, definition, hash, held)
		VALUES ($1, $2, $3, $4, $5, $6)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for i, t := range srv.Tools {
		definition := []byte(t.Definition)
		if definition == nil {
			definition = []byte{} // nil would be stored as NULL
		}
		if _, err := insert.ExecContext(ctx, string(srv.ID), i, t.Name, definition, t.Hash, t.Held); err != nil {
			return fmt.Errorf("tool %s: %w", t.Name, err)
		}
	}
	return nil
}

// SaveCheck notes how a check of the server ended; reason "" means well. The tools
// that are stored stay.
func (s *Store) SaveCheck(ctx context.Context, id tool.ServerID, at time.Time, reason string) error {
	const upsert = `INSERT INTO servers (id, listed_at, checked_at, reason) VALUES ($1, 0, $2, $3)
		ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, reason = excluded.reason`
	_, err := s.write.ExecContext(ctx, upsert, string(id), micros(at), reason)
	return s.explain("save check of "+string(id), err)
}

// Servers returns all servers with their tools, ordered by id.
func (s *Store) Servers(ctx context.Context) ([]Server, error) {
	// One transaction: a list that is replaced meanwhile is seen before or after, never between.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, s.explain("read servers", err)
	}
	defer rollback(tx) // nothing to lose
	servers, err := readServers(ctx, tx)
	if err != nil {
		return nil, s.explain("read servers", err)
	}
	if err := readTools(ctx, tx, servers); err != nil {
		return nil, s.explain("read tools", err)
	}
	return servers, nil
}

func readServers(ctx context.Context, tx *sql.Tx) ([]Server, error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, info, listed_at, checked_at, reason FROM servers ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var servers []Server
	for rows.Next() {
		var srv Server
		var listed, checked int64
		if err := rows.Scan((*string)(&srv.ID), (*[]byte)(&srv.Info), &listed, &checked, &srv.Reason); err != nil {
			return nil, err
		}
		srv.ListedAt, srv.CheckedAt = fromMicros(listed), fromMicros(checked)
		servers = append(servers, srv)
	}
	return servers, rows.Err()
}

func readTools(ctx context.Context, tx *sql.Tx, servers []Server) error {
	at := make(map[string]int, len(servers))
	for i, srv := range servers {
		at[string(srv.ID)] = i
	}
	rows, err := tx.QueryContext(ctx, "SELECT server, name, definition, hash, held FROM tools ORDER BY server, position")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var t Tool
		if err := rows.Scan(&id, &t.Name, (*[]byte)(&t.Definition), &t.Hash, &t.Held); err != nil {
			return err
		}
		srv := &servers[at[id]]
		srv.Tools = append(srv.Tools, t)
	}
	return rows.Err()
}

// RemoveServer forgets the server and its tools; its calls stay. A server that is not
// stored is no error.
func (s *Store) RemoveServer(ctx context.Context, id tool.ServerID) error {
	_, err := s.write.ExecContext(ctx, "DELETE FROM servers WHERE id = $1", string(id))
	return s.explain("remove server "+string(id), err)
}
