package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Server is what was last learned from an upstream server.
type Server struct {
	ID           tool.ServerID
	Info         json.RawMessage   // serverInfo as received; nil when never received
	Capabilities json.RawMessage   // as received; nil when never received
	Instructions string            // for the model; "" when there are none
	Tools        []Tool            // in the server's order, as are the next four
	Prompts      []json.RawMessage // byte for byte as received, as are the next three
	Resources    []json.RawMessage
	Templates    []json.RawMessage
	Skills       []json.RawMessage
	Hosts        []json.RawMessage // of the remote description of an API, each as text
	Held         []Held            // of all that
	Decisions    []Decision        // about definitions that it has or had; SaveTools does not change them
	Era          string            // the protocol era it is spoken to in; "" when it is not known
	TTL          time.Duration     // how long the lists count as fresh; negative when the server does not say
	PrivateTo    string            // a digest of the credentials that the lists are for; "" for any
	ListedAt     time.Time         // when the lists came; zero when never
	CheckedAt    time.Time         // when the server was last asked
	Reason       string            // why the last check was bad; "" means it was good
}

// Tool is one tool as its server defined it.
type Tool struct {
	Name       string          // the server's own name for it
	Definition json.RawMessage // byte for byte as received
}

// Held is something of a server's that is kept from callers until it is approved.
type Held struct {
	Kind    string // tool, prompt, resource, template, skill, instructions or host
	Name    string
	KeptOut bool            // somebody has decided so, and it waits no longer
	Was     json.RawMessage // what was let through under the name before; nil: nothing
}

// The verdicts of decisions.
const (
	Approved = "approved"
	KeptOut  = "kept_out"
)

// Decision is what a person has decided about one definition of something of a server's.
type Decision struct {
	Kind, Name string // as in Held
	Hash       string // of the definition
	Verdict    string
	By         string // the principal
	At         time.Time
}

// offers are the lists beside the tools, by their kind in the table.
func (srv *Server) offers() map[string]*[]json.RawMessage {
	return map[string]*[]json.RawMessage{
		"prompt": &srv.Prompts, "resource": &srv.Resources, "template": &srv.Templates, "skill": &srv.Skills, "host": &srv.Hosts,
	}
}

// SaveTools replaces everything stored of the server's lists, all or nothing, keeps the definitions of tools that it replaces, and
// notes a good check. CheckedAt zero means ListedAt; Reason is ignored.
func (s *Store) SaveTools(ctx context.Context, srv Server) error {
	if srv.CheckedAt.IsZero() {
		srv.CheckedAt = srv.ListedAt
	}
	// The server's row is written first: a second writer of the same server waits for it.
	const upsert = `INSERT INTO servers (` + serverColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '')
		ON CONFLICT (id) DO UPDATE SET info = excluded.info, capabilities = excluded.capabilities,
			instructions = excluded.instructions, era = excluded.era, ttl = excluded.ttl,
			private_to = excluded.private_to, listed_at = excluded.listed_at,
			checked_at = excluded.checked_at, reason = excluded.reason`
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		stored, err := readServers(ctx, tx, " WHERE id = $1", " WHERE server = $1", string(srv.ID))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, upsert, string(srv.ID), []byte(srv.Info), []byte(srv.Capabilities), srv.Instructions,
			srv.Era, ttlMicros(srv.TTL), srv.PrivateTo, micros(srv.ListedAt), micros(srv.CheckedAt))
		if err != nil {
			return err
		}
		since, err := s.keepReplaced(ctx, tx, stored, &srv)
		if err != nil {
			return err
		}
		for _, list := range []struct {
			table, columns string
			rows           [][]any
		}{
			{"tools", " (server, position, name, definition, since)", srv.toolRows(since)},
			{"offers", " (server, kind, position, definition)", srv.offerRows()},
			{"held", " (server, kind, name, kept_out, was)", srv.heldRows()},
		} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+list.table+" WHERE server = $1", string(srv.ID)); err != nil {
				return err
			}
			if err := s.insertRows(ctx, tx.Tx, list.table+list.columns, "", list.rows); err != nil {
				return err
			}
		}
		before, after := map[string]string{}, srv.pins()
		for i := range stored {
			before = stored[i].pins()
		}
		for key, pin := range before {
			if after[key] == pin {
				delete(before, key)
				delete(after, key)
			}
		}
		if len(before)+len(after) == 0 {
			return nil
		}
		return tx.note(As(ctx, Actor{Kind: "server", ID: string(srv.ID)}), "pin.change", string(srv.ID), before, after)
	})
	return s.explain("save tools of "+string(srv.ID), err)
}

// pins are digests of what the server offers, by name, and what of it is held. Resources change too often to be noted
// unless they are held.
func (srv *Server) pins() map[string]string {
	pins := map[string]string{}
	for _, t := range srv.Tools {
		pins[t.Name] = tool.Hash(t.Definition)
	}
	if text := strings.TrimSpace(srv.Instructions); text != "" {
		pins["instructions:"] = tool.Hash(rawjson.AppendString(nil, text))
	}
	for _, list := range []struct {
		kind, name  string
		definitions []json.RawMessage
	}{{"prompt:", "name", srv.Prompts}, {"skill:", "uri", srv.Skills}} {
		for _, definition := range list.definitions {
			name, _ := rawjson.String(rawjson.Get(definition, list.name))
			pins[list.kind+name] = tool.Hash(definition)
		}
	}
	for _, text := range srv.Hosts {
		host, _ := rawjson.String(text)
		pins["host:"+host] = tool.Hash(text)
	}
	for _, h := range srv.Held {
		name, state := h.Kind+":"+h.Name, "held"
		if h.Kind == "tool" {
			name = h.Name
		}
		if h.KeptOut {
			state = "kept out"
		}
		pins[name] = strings.TrimSpace(pins[name] + " " + state)
	}
	return pins
}

const serverColumns = "id, info, capabilities, instructions, era, ttl, private_to, listed_at, checked_at, reason"

// ttlMicros is how a time that lists hold is stored: -1 where none is said.
func ttlMicros(ttl time.Duration) int64 {
	if ttl < 0 {
		return -1
	}
	return ttl.Microseconds()
}

func (srv *Server) toolRows(since map[string]int64) [][]any {
	rows := make([][]any, len(srv.Tools))
	for i, t := range srv.Tools {
		rows[i] = []any{string(srv.ID), i, t.Name, notNull(t.Definition), since[t.Name]}
	}
	return rows
}

func (srv *Server) offerRows() (rows [][]any) {
	for kind, list := range srv.offers() {
		for i, definition := range *list {
			rows = append(rows, []any{string(srv.ID), kind, i, notNull(definition)})
		}
	}
	return rows
}

func (srv *Server) heldRows() [][]any {
	rows := make([][]any, len(srv.Held))
	for i, h := range srv.Held {
		rows[i] = []any{string(srv.ID), h.Kind, h.Name, h.KeptOut, []byte(h.Was)}
	}
	return rows
}

// SaveCheck records the result of a check of the server; reason "" means good. The lists stay.
func (s *Store) SaveCheck(ctx context.Context, id tool.ServerID, at time.Time, reason string) error {
	const upsert = `INSERT INTO servers (id, listed_at, checked_at, reason) VALUES ($1, 0, $2, $3)
		ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, reason = excluded.reason`
	_, err := s.exec(ctx, upsert, string(id), micros(at), reason)
	return s.explain("save check of "+string(id), err)
}

// Servers returns all servers with their lists, ordered by id.
func (s *Store) Servers(ctx context.Context) ([]Server, error) {
	return s.servers(ctx, "", "")
}

// Server returns a server with its lists; one that is not stored has only its id.
func (s *Store) Server(ctx context.Context, id tool.ServerID) (Server, error) {
	found, err := s.servers(ctx, " WHERE id = $1", " WHERE server = $1", string(id))
	if err != nil || len(found) == 0 {
		return Server{ID: id}, err
	}
	return found[0], nil
}

// Stamp changes with what is stored of a server: with its lists, and with the decisions about them.
type Stamp struct {
	Listed  int64 // microseconds
	Decided int64
}

// Stamps returns the stamps of all servers.
func (s *Store) Stamps(ctx context.Context) (map[tool.ServerID]Stamp, error) {
	const query = `SELECT id, listed_at, CAST((SELECT coalesce(sum(at % 1000003 + 1), 0) FROM decisions WHERE server = servers.id) AS BIGINT)
		FROM servers`
	stamps := map[tool.ServerID]Stamp{}
	read := func(scan scanner, _ *struct{}) error {
		var id string
		var stamp Stamp
		err := scan(&id, &stamp.Listed, &stamp.Decided)
		stamps[tool.ServerID(id)] = stamp
		return err
	}
	_, err := list(ctx, s, "read the times of lists", read, query)
	return stamps, err
}

// Stamp is the server's stamp as it was read.
func (srv *Server) Stamp() Stamp {
	stamp := Stamp{Listed: micros(srv.ListedAt)}
	for _, d := range srv.Decisions {
		stamp.Decided += micros(d.At)%1000003 + 1
	}
	return stamp
}

func (s *Store) servers(ctx context.Context, byOwn, byServer string, args ...any) ([]Server, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	// One transaction: a list that is being replaced is seen before or after, never in between.
	tx, err := s.snapshot(ctx)
	if err != nil {
		return nil, s.explain("read servers", err)
	}
	defer rollback(tx) // nothing to lose
	servers, err := readServers(ctx, tx, byOwn, byServer, args...)
	return servers, s.explain("read servers", err)
}

func readServers(ctx context.Context, from reader, byOwn, byServer string, args ...any) ([]Server, error) {
	servers, err := readRows(ctx, from, readServer, "SELECT "+serverColumns+" FROM servers"+byOwn+" ORDER BY id", args...)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*Server, len(servers))
	for i := range servers {
		byID[string(servers[i].ID)] = &servers[i]
	}
	for _, list := range []struct {
		query string
		read  func(scanner, map[string]*Server) error
	}{
		{"SELECT server, name, definition FROM tools" + byServer + " ORDER BY server, position", readTool},
		{"SELECT server, kind, definition FROM offers" + byServer + " ORDER BY server, kind, position", readOffer},
		{"SELECT server, kind, name, kept_out, was FROM held" + byServer + " ORDER BY server, kind, name", readHeld},
		{"SELECT server, kind, name, hash, verdict, decided_by, at FROM decisions" + byServer + " ORDER BY server, kind, name, hash",
			readDecision},
	} {
		read := func(scan scanner, _ *struct{}) error { return list.read(scan, byID) }
		if _, err := readRows(ctx, from, read, list.query, args...); err != nil {
			return nil, err
		}
	}
	return servers, nil
}

func readServer(scan scanner, srv *Server) error {
	return scan((*string)(&srv.ID), (*[]byte)(&srv.Info), (*[]byte)(&srv.Capabilities), &srv.Instructions, &srv.Era,
		storedDuration(&srv.TTL), &srv.PrivateTo, storedTime(&srv.ListedAt), storedTime(&srv.CheckedAt), &srv.Reason)
}

func readTool(scan scanner, servers map[string]*Server) error {
	var id string
	var t Tool
	if err := scan(&id, &t.Name, (*[]byte)(&t.Definition)); err != nil {
		return err
	}
	servers[id].Tools = append(servers[id].Tools, t)
	return nil
}

func readOffer(scan scanner, servers map[string]*Server) error {
	var id, kind string
	var definition []byte
	if err := scan(&id, &kind, &definition); err != nil {
		return err
	}
	if list := servers[id].offers()[kind]; list != nil { // a newer toolfit may know more kinds
		*list = append(*list, definition)
	}
	return nil
}

func readHeld(scan scanner, servers map[string]*Server) error {
	var id string
	var h Held
	if err := scan(&id, &h.Kind, &h.Name, &h.KeptOut, (*[]byte)(&h.Was)); err != nil {
		return err
	}
	servers[id].Held = append(servers[id].Held, h)
	return nil
}

func readDecision(scan scanner, servers map[string]*Server) error {
	var id string
	var d Decision
	if err := scan(&id, &d.Kind, &d.Name, &d.Hash, &d.Verdict, &d.By, storedTime(&d.At)); err != nil {
		return err
	}
	servers[id].Decisions = append(servers[id].Decisions, d)
	return nil
}

// Decide stores decisions about a server's definitions, all or none. One about the same definition is replaced.
func (s *Store) Decide(ctx context.Context, id tool.ServerID, decisions []Decision) error {
	const upsert = `INSERT INTO decisions (server, kind, name, hash, verdict, decided_by, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (server, kind, name, hash) DO UPDATE SET verdict = excluded.verdict, decided_by = excluded.decided_by, at = excluded.at`
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		for _, d := range decisions {
			const had = "SELECT verdict FROM decisions WHERE server = $1 AND kind = $2 AND name = $3 AND hash = $4"
			before, err := readRows(ctx, tx, func(scan scanner, verdict *string) error { return scan(verdict) }, had, string(id), d.Kind, d.Name, d.Hash)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, upsert, string(id), d.Kind, d.Name, d.Hash, d.Verdict, d.By, micros(d.At)); err != nil {
				return err
			}
			pin := func(verdict any) any {
				return map[string]any{"kind": d.Kind, "name": d.Name, "definition": d.Hash, "verdict": verdict}
			}
			if err := tx.note(ctx, "pin.decide", string(id), pin(first(before)), pin(d.Verdict)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("decide about what "+string(id)+" offers", err)
}

// RemoveServer deletes the server and its lists, if there are any; its calls stay.
func (s *Store) RemoveServer(ctx context.Context, id tool.ServerID) error {
	_, err := s.exec(ctx, "DELETE FROM servers WHERE id = $1", string(id))
	return s.explain("remove server "+string(id), err)
}
