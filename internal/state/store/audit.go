package store

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"
)

// Actor is who changes something.
type Actor struct {
	Kind string `json:"kind"` // local, key, user or service: a caller; webhook: whom it names; file: the configuration file; server: an upstream server; gateway
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// String is the actor for people: the kind, and the name or else the id.
func (a Actor) String() string { return strings.TrimSpace(a.Kind + " " + cmp.Or(a.Name, a.ID)) }

type actorKey struct{}

// As is a context in which the actor makes the changes. In others the gateway itself does.
func As(ctx context.Context, who Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, who)
}

func actorOf(ctx context.Context) Actor {
	if who, ok := ctx.Value(actorKey{}).(Actor); ok {
		return who
	}
	return Actor{Kind: "gateway"}
}

// AuditRecord is one change, with its place in the chain.
type AuditRecord struct {
	Seq     int64           `json:"seq"`
	At      time.Time       `json:"at"`
	Actor   Actor           `json:"actor"`
	Action  string          `json:"action"` // such as key.create
	Subject string          `json:"subject"`
	Before  json.RawMessage `json:"before,omitempty"` // nil: there was nothing
	After   json.RawMessage `json:"after,omitempty"`  // nil: there is nothing any more
	Key     Hex             `json:"key,omitempty"`    // the id of the key that made the hash; nil: none
	Prev    Hex             `json:"prev"`             // the hash of the record before
	Hash    Hex             `json:"hash"`
}

// Hex is bytes that people see as hexadecimal digits.
type Hex []byte

func (h Hex) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

// UnmarshalText reads what MarshalText writes.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// auditHead is where the log begins and ends.
type auditHead struct {
	First  int64 `json:"first"`
	Anchor Hex   `json:"anchor"` // the hash of the record before the first
	Last   int64 `json:"last"`
	Hash   Hex   `json:"hash"` // of the last
	Key    Hex   `json:"key"`
	Seal   Hex   `json:"seal"`
}

const headColumns = "first, anchor, last, hash, key_id, seal"

func (h *auditHead) columns() []any {
	return []any{&h.First, (*[]byte)(&h.Anchor), &h.Last, (*[]byte)(&h.Hash), (*[]byte)(&h.Key), (*[]byte)(&h.Seal)}
}

// sealed reports whether the head is as a program with that key has left it. That of a new store has no seal yet.
func (h *auditHead) sealed(key SecretKey) bool {
	return h.Last == 0 && len(h.Seal) == 0 || hmac.Equal(h.sum(key), h.Seal)
}

// changes is a transaction whose changes are noted in the audit log.
type changes struct {
	*sql.Tx
	store *Store
	head  auditHead
	noted []AuditRecord
}

// change runs f in a transaction that holds the head of the log from the beginning: what f reads before it changes
// something is what was there, and those who change something at once do not wait for each other in a circle.
func (s *Store) change(ctx context.Context, f func(ctx context.Context, tx *changes) error) error {
	var c *changes
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		c = &changes{Tx: tx, store: s}
		const hold = "UPDATE audit_head SET last = last RETURNING " + headColumns
		if err := tx.QueryRowContext(ctx, hold).Scan(c.head.columns()...); err != nil {
			return fmt.Errorf("hold the audit log: %w", err)
		}
		return f(ctx, c)
	})
	if err == nil {
		for _, r := range c.noted {
			s.opts.Logger.Info("changed", "action", r.Action, "subject", r.Subject, "by", r.Actor.String())
		}
	}
	return err
}

// note writes a change to the log, together with the change itself. Before and after are encoded as JSON; nil is
// nothing. They must not have secrets.
func (c *changes) note(ctx context.Context, action, subject string, before, after any) error {
	if err := c.seal(ctx); err != nil {
		return err
	}
	return c.add(ctx, action, subject, before, after)
}

// seal notes a head that is not as our key leaves it. What is added next seals it with our key, and VerifyAudit could
// not tell any more that it was changed, or by whom it was left without a seal.
func (c *changes) seal(ctx context.Context) error {
	key := c.store.opts.SecretKey
	if key.IsZero() || c.head.sealed(key) {
		return nil
	}
	return c.add(As(ctx, Actor{Kind: "gateway"}), sealAction, "audit", c.head, map[string]Hex{"key": key.id[:]})
}

const sealAction = "audit.seal"

func (c *changes) add(ctx context.Context, action, subject string, before, after any) error {
	r := AuditRecord{
		Seq: c.head.Last + 1, At: c.store.opts.Now(), Actor: actorOf(ctx), Action: action, Subject: subject, Prev: c.head.Hash,
		Before: c.store.shown(before), After: c.store.shown(after),
	}
	r.Key = c.store.opts.SecretKey.auditID()
	r.Hash = r.sum(c.store.opts.SecretKey)
	const insert = `INSERT INTO audit (seq, at, actor_kind, actor_id, actor_name, action, subject, was, becomes, key_id, prev, hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	_, err := c.ExecContext(ctx, insert, r.Seq, micros(r.At), r.Actor.Kind, r.Actor.ID, r.Actor.Name, r.Action, r.Subject,
		notNull(r.Before), notNull(r.After), notNull(r.Key), notNull(r.Prev), notNull(r.Hash))
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	c.head.Last = r.Seq
	c.head.Hash = r.Hash
	c.noted = append(c.noted, r)
	return c.saveHead(ctx)
}

// saveHead seals the head. A program without the key does not: a change is not refused for that, but VerifyAudit tells.
func (c *changes) saveHead(ctx context.Context) error {
	key := c.store.opts.SecretKey
	h := &c.head
	h.Key = key.auditID()
	h.Seal = h.sum(key)
	const update = "UPDATE audit_head SET first = $1, anchor = $2, last = $3, hash = $4, key_id = $5, seal = $6"
	_, err := c.ExecContext(ctx, update, h.First, notNull(h.Anchor), h.Last, notNull(h.Hash), notNull(h.Key), []byte(h.Seal))
	return err
}

// maxAudited is how many bytes of a value the log has: sinks take no message of any size.
const maxAudited = 64 << 10

// shown is a value as the log has it: without known secrets, and not too long.
func (s *Store) shown(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err == nil && s.opts.Redact != nil {
		clean := s.opts.Redact(string(text))
		if text = []byte(clean); !json.Valid(text) { // a number was a secret
			text, err = json.Marshal(clean)
		}
	}
	if err == nil && len(text) > maxAudited {
		sum := sha256.Sum256(text)
		text, err = json.Marshal(map[string]any{"bytes": len(text), "sha256": hex.EncodeToString(sum[:])})
	}
	if err != nil { // it is no JSON: the change is noted all the same
		text, _ = json.Marshal(map[string]string{"unreadable": err.Error()})
	}
	return text
}

// sum is the hash of a record and, with it, of all before it.
func (r *AuditRecord) sum(key SecretKey) []byte {
	return chained(key, "record", r.Prev, number(r.Seq), number(micros(r.At)), []byte(r.Actor.Kind), []byte(r.Actor.ID), []byte(r.Actor.Name),
		[]byte(r.Action), []byte(r.Subject), r.Before, r.After)
}

func (h *auditHead) sum(key SecretKey) []byte {
	return chained(key, "head", number(h.First), h.Anchor, number(h.Last), h.Hash)
}

// chained hashes fields, each after its length: no two lists of fields are the same text.
func chained(key SecretKey, kind string, fields ...[]byte) []byte {
	var h hash.Hash = sha256.New()
	if !key.IsZero() {
		h = hmac.New(sha256.New, key.audit)
	}
	for _, f := range append([][]byte{[]byte("toolfit audit " + kind)}, fields...) {
		fmt.Fprintf(h, "%d:", len(f))
		h.Write(f)
	}
	return h.Sum(nil)
}

// auditID names the key in the log; nil: there is none.
func (k SecretKey) auditID() []byte {
	if k.IsZero() {
		return nil
	}
	return k.id[:]
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// AuditFilter selects records. Zero values select all.
type AuditFilter struct {
	Since  time.Time
	Actor  string // a kind, an id or a name
	What   string // an action, what it begins with before a dot, or a subject
	Before int64  // only records with a smaller number
	Limit  int    // 0 means 100; at most 1000
}

const auditColumns = "seq, at, actor_kind, actor_id, actor_name, action, subject, was, becomes, key_id, prev, hash"

func readAudit(scan scanner, r *AuditRecord) error {
	var was, becomes []byte
	err := scan(&r.Seq, storedTime(&r.At), &r.Actor.Kind, &r.Actor.ID, &r.Actor.Name, &r.Action, &r.Subject, &was, &becomes,
		(*[]byte)(&r.Key), (*[]byte)(&r.Prev), (*[]byte)(&r.Hash))
	if len(was) > 0 {
		r.Before = was
	}
	if len(becomes) > 0 {
		r.After = becomes
	}
	return err
}

// AuditRecords returns records, the newest first.
func (s *Store) AuditRecords(ctx context.Context, f AuditFilter) ([]AuditRecord, error) {
	var w where
	w.since("at", f.Since)
	if f.Actor != "" {
		who := w.value(f.Actor)
		w.is("(actor_kind = " + who + " OR actor_id = " + who + " OR actor_name = " + who + ")")
	}
	if f.What != "" {
		what := w.value(f.What)
		w.is("(action = " + what + " OR subject = " + what + " OR action >= " + w.value(f.What+".") + " AND action < " + w.value(f.What+"/") + ")")
	}
	if f.Before > 0 {
		w.has("seq <", f.Before)
	}
	query := "SELECT " + auditColumns + " FROM audit" + w.String() + " ORDER BY seq DESC" + w.limit(f.Limit)
	return list(ctx, s, "read the audit log", readAudit, query, w.args...)
}

// AuditAfter returns up to limit records that come after a number, the oldest first.
func (s *Store) AuditAfter(ctx context.Context, seq int64, limit int) ([]AuditRecord, error) {
	const query = "SELECT " + auditColumns + " FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2"
	return list(ctx, s, "read the audit log", readAudit, query, seq, limit)
}

// NoteConfig notes that a configuration is in force, unless it was the last one at this path.
func (s *Store) NoteConfig(ctx context.Context, path string, config any) error {
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		var before []byte
		const last = "SELECT becomes FROM audit WHERE action = $1 AND subject = $2 ORDER BY seq DESC LIMIT 1"
		err := tx.QueryRowContext(ctx, last, "config.change", path).Scan(&before)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return tx.note(ctx, "config.change", path, nil, config)
		case err != nil || string(before) == string(s.shown(config)):
			return err
		}
		return tx.note(ctx, "config.change", path, json.RawMessage(before), config)
	})
	return s.explain("note the configuration", err)
}

// SealAudit seals the log with the secret key from now on, if there is one.
func (s *Store) SealAudit(ctx context.Context) error {
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		if !s.opts.SecretKey.IsZero() && len(tx.head.Seal) == 0 { // of a new store, which has nothing to note
			return tx.saveHead(ctx)
		}
		return tx.seal(ctx)
	})
	return s.explain("seal the audit log", err)
}

// TrimAudit deletes records from before a time, without a gap: up to the first that is newer. A program without the
// key leaves a sealed log alone.
func (s *Store) TrimAudit(ctx context.Context, before time.Time) (deleted int64, err error) {
	var old int64
	const overdue = "SELECT count(*) FROM audit WHERE seq = (SELECT first FROM audit_head) AND at < $1"
	err = s.readOne(ctx, "trim the audit log", nil, overdue, []any{micros(before)}, []any{&old})
	if err != nil || old == 0 { // nearly always
		return 0, err
	}
	err = s.change(ctx, func(ctx context.Context, tx *changes) error {
		if s.opts.SecretKey.IsZero() && len(tx.head.Key) > 0 {
			return nil
		}
		if err := tx.seal(ctx); err != nil {
			return err
		}
		tx.head.First = tx.head.Last + 1
		tx.head.Anchor = tx.head.Hash
		const kept = "SELECT seq, prev FROM audit WHERE at >= $1 ORDER BY seq LIMIT 1"
		err := tx.QueryRowContext(ctx, kept, micros(before)).Scan(&tx.head.First, (*[]byte)(&tx.head.Anchor))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := tx.saveHead(ctx); err != nil {
			return err
		}
		deleted, err = affected(tx.ExecContext(ctx, "DELETE FROM audit WHERE seq < $1", tx.head.First))
		return err
	})
	return deleted, s.explain("trim the audit log", err)
}
