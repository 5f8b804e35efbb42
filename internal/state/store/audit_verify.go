package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/json"
	"fmt"
)

// AuditCheck is what a look at the whole log has found.
type AuditCheck struct {
	First    int64    `json:"first"` // the oldest record that is kept
	Last     int64    `json:"last"`
	Sealed   int64    `json:"sealed_from"` // the first record whose hash is made with the secret key; 0: none is
	Problems []string `json:"problems"`    // none: nothing was changed, removed or put in between
}

// maxProblems is how many problems are listed.
const maxProblems = 20

func (c *AuditCheck) fail(format string, args ...any) {
	if len(c.Problems) < maxProblems {
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	}
}

// VerifyAudit reads the whole log and checks that it is as it was written.
func (s *Store) VerifyAudit(ctx context.Context) (c AuditCheck, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	tx, err := s.snapshot(ctx)
	if err != nil {
		return c, s.explain("verify the audit log", err)
	}
	defer rollback(tx) // nothing to lose
	c.Problems = []string{}
	var head auditHead
	if err := tx.QueryRowContext(ctx, "SELECT "+headColumns+" FROM audit_head").Scan(head.columns()...); err != nil {
		return c, s.explain("verify the audit log", err)
	}
	c.First = head.First
	c.Last = head.Last
	chain := auditChain{check: &c, key: s.opts.SecretKey, next: head.First, prev: head.Anchor}
	read := func(scan scanner, _ *struct{}) error {
		var r AuditRecord
		err := readAudit(scan, &r)
		chain.add(&r)
		return err
	}
	if _, err = readRows(ctx, tx, read, "SELECT "+auditColumns+" FROM audit ORDER BY seq"); err != nil {
		return c, s.explain("verify the audit log", err)
	}
	chain.end(&head)
	return c, nil
}

// auditChain follows the records from the oldest on.
type auditChain struct {
	check *AuditCheck
	key   SecretKey
	next  int64  // the number that comes now
	prev  []byte // the hash before it
	by    []byte // the id of the key of the record before
	loose int64  // the first of the records without a seal that come now, after sealed ones; 0: none do
	lacks string // the id of the key that was missing last
}

func (a *auditChain) add(r *AuditRecord) {
	switch {
	case r.Seq < a.next:
		a.check.fail("record %d is from before the beginning of the log", r.Seq)
		return
	case r.Seq > a.next:
		a.missing(r.Seq)
	case !bytes.Equal(r.Prev, a.prev):
		a.check.fail("record %d does not follow from the one before", r.Seq)
	}
	if r.Action == sealAction && r.Before != nil {
		a.resealed(r)
	}
	switch {
	case len(r.Key) > 0:
		a.tie()
		a.check.Sealed = cmp.Or(a.check.Sealed, r.Seq)
	case a.check.Sealed > 0 && a.loose == 0:
		a.loose = r.Seq
	}
	a.next = r.Seq + 1
	a.prev = r.Hash
	a.by = r.Key
	if key, ok := a.keyFor(r.Key, r.Seq); ok && !hmac.Equal(r.sum(key), r.Hash) {
		a.check.fail("record %d was changed", r.Seq)
	}
}

// resealed checks the head that a program found before it sealed the log with its own key.
func (a *auditChain) resealed(r *AuditRecord) {
	var found auditHead
	err := json.Unmarshal(r.Before, &found)
	key, ok := a.keyFor(found.Key, r.Seq)
	trimmed := r.Seq == a.check.First // the record before
	if err != nil || ok && !found.sealed(key) || !trimmed && !bytes.Equal(found.Key, a.by) {
		a.check.fail("before record %d the note of where the log begins and ends was changed, and records may be missing", r.Seq)
	}
}

// tie reports the records without a seal that end here.
func (a *auditChain) tie() {
	if a.loose > 0 {
		a.check.fail("records %d to %d were written without TOOLFIT_SECRET_KEY, by a program that did not have it or by an intruder",
			a.loose, a.next-1)
	}
	a.loose = 0
}

// missing reports the records between the last one and the one with this number.
func (a *auditChain) missing(to int64) {
	if to-a.next == 1 {
		a.check.fail("record %d is missing", a.next)
	} else {
		a.check.fail("records %d to %d are missing", a.next, to-1)
	}
}

// keyFor finds the key with that id; none for no id.
func (a *auditChain) keyFor(id []byte, seq int64) (SecretKey, bool) {
	if len(id) == 0 {
		return SecretKey{}, true
	}
	for _, one := range append([]SecretKey{a.key}, a.key.older...) {
		if !one.IsZero() && bytes.Equal(one.id[:], id) {
			return one, true
		}
	}
	if a.lacks != string(id) { // once for all that it has sealed
		a.check.fail("record %d is sealed with the key %x, which TOOLFIT_SECRET_KEY does not have", seq, id)
	}
	a.lacks = string(id)
	return SecretKey{}, false
}

// end compares what was read with the head.
func (a *auditChain) end(head *auditHead) {
	switch {
	case a.next <= head.Last:
		a.missing(head.Last + 1)
	case a.next > head.Last+1:
		a.check.fail("records after %d were added past the end of the log", head.Last)
	case !bytes.Equal(a.prev, head.Hash):
		a.check.fail("the end of the log is not its last record")
	}
	if key, ok := a.keyFor(head.Key, head.Last); ok && !head.sealed(key) {
		a.check.fail("the note of where the log begins and ends was changed")
	}
	if len(head.Key) > 0 {
		a.check.Sealed = cmp.Or(a.check.Sealed, head.Last+1)
	}
	if !a.key.IsZero() && len(head.Key) == 0 && a.loose == 0 {
		a.check.fail("TOOLFIT_SECRET_KEY is set, but the end of the log is not sealed; a gateway that starts with the key seals it")
	}
	a.tie()
}
