package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// maxWaitingMessage limits the message of a waiting call, in bytes.
const maxWaitingMessage = 1000

const (
	waitingHead = `id, owner, profile, server, tool, state, waits_for, message, ref, attempt, again, replica, lease,
		created, updated, expires, version`
	waitingColumns = waitingHead + ", body, questions, answer"

	// isOpen is the condition of the index waiting_open; only in these words is the index used.
	isOpen = "state IN ('working', 'input_required')"

	// The sign keeps SQLite from reading all that have not expired by their time.
	addWaiting = `INSERT INTO waiting (` + waitingColumns + `)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20
		WHERE (SELECT count(CASE WHEN owner = $2 THEN 1 END) < $21 AND count(*) < $22
			FROM waiting WHERE ` + isOpen + ` AND +expires > $23) ON CONFLICT DO NOTHING`
	saveWaiting = `UPDATE waiting SET state = $1, waits_for = $2, message = $3, ref = $4, attempt = $5, again = $6, replica = $7,
		lease = CASE WHEN replica = $7 AND lease > $8 THEN lease ELSE $8 END, updated = $9, expires = $10, version = $11,
		body = $12, questions = $13, answer = $14 WHERE id = $15 AND version = $16 AND ` + isOpen
	claimWaiting = `UPDATE waiting SET replica = $1, lease = $2, attempt = attempt + 1, updated = $3, version = version + 1
		WHERE id = $4 AND version = $5 AND (replica = '' OR lease < $3) AND ` + isOpen
	renewWaiting = "UPDATE waiting SET lease = $1 WHERE replica = $2 AND expires > $3 AND " + isOpen + " RETURNING id"
	lostWaiting  = "SELECT " + waitingColumns + " FROM waiting WHERE replica > '' AND lease < $1 AND expires > $1 AND " + isOpen +
		" ORDER BY lease, id LIMIT $2"
	trimWaiting = "DELETE FROM waiting WHERE expires <= $1"
)

// query is the list of the matching calls, without their sealed parts.
func (f *WaitingFilter) query(d *dialect, now time.Time) (query string, args []any, err error) {
	var w where
	index := "waiting_by_time"
	if f.Owner != "" {
		index = "waiting_by_owner"
	}
	w.equals("owner", f.Owner)
	w.has("expires >", micros(now))
	if f.Open { // few of many: these are sorted
		index = "waiting_open"
		w.is(isOpen)
	}
	if err := w.before(f.Before, "created", "id"); err != nil {
		return "", nil, err
	}
	query = "SELECT " + waitingHead + ", NULL, NULL, NULL FROM waiting" + d.by(index) + w.String() +
		" ORDER BY created DESC, id DESC" + w.limit(f.Limit)
	return query, w.args, nil
}

// settle brings a call into the form in which it is stored, or says why it cannot be.
func (w *Waiting) settle() error {
	switch w.State {
	case Working, InputRequired:
	case Completed, Failed, Cancelled:
		w.For = ""
		w.Replica = ""
	default:
		return fmt.Errorf("store waiting call %s: %q is no state", w.ID, w.State)
	}
	if w.Replica == "" {
		w.Lease = time.Time{}
	}
	w.Message = strings.ToValidUTF8(w.Message[:min(len(w.Message), maxWaitingMessage)], "")
	if len(w.Body)+len(w.Questions)+len(w.Answer) > maxResult {
		return fault.New(fault.TooLarge, "the waiting call of %s has more than %d MB", w.Tool, maxResult>>20)
	}
	return nil
}

// waitingRow are the values of waitingColumns.
func (o *Options) waitingRow(w *Waiting) []any {
	head := []any{w.ID, w.Owner, w.Profile, string(w.Server), string(w.Tool), string(w.State), string(w.For), w.Message, w.Ref, w.Attempt,
		w.Again, w.Replica, micros(w.Lease), micros(w.Created), micros(w.Updated), micros(w.Expires), w.Version}
	return append(head, o.sealWaiting(w)...)
}

// scanWaiting reads the next row of waitingColumns.
func (o *Options) scanWaiting(scan scanner, w *Waiting) error {
	var sealed [3][]byte
	err := scan(&w.ID, &w.Owner, &w.Profile, (*string)(&w.Server), (*string)(&w.Tool), (*string)(&w.State), (*string)(&w.For), &w.Message,
		&w.Ref, &w.Attempt, &w.Again, &w.Replica, storedTime(&w.Lease), storedTime(&w.Created), storedTime(&w.Updated), storedTime(&w.Expires),
		&w.Version, &sealed[0], &sealed[1], &sealed[2])
	if err != nil {
		return err
	}
	for i, part := range w.sealedParts() {
		if sealed[i] == nil || w.Err != nil {
			continue
		}
		*part.text, w.Err = o.SecretKey.open("waiting call "+w.ID, part.boundTo, sealed[i])
	}
	if w.Err != nil {
		w.Body = nil
		w.Questions = nil
	}
	return nil
}

// sealWaiting returns the sealed parts as they are stored; nil, which is NULL, for one that is not there.
func (o *Options) sealWaiting(w *Waiting) []any {
	sealed := make([]any, 3)
	for i, part := range w.sealedParts() {
		if *part.text != nil {
			sealed[i] = o.SecretKey.seal(part.boundTo, *part.text)
		}
	}
	return sealed
}

// waitingPart is a part of a call that is sealed.
type waitingPart struct {
	text    *[]byte
	boundTo string // changing it makes stored ones unreadable
}

// sealedParts are in the order of their columns.
func (w *Waiting) sealedParts() [3]waitingPart {
	row := w.ID + "/" + w.Owner
	return [...]waitingPart{
		{&w.Body, "waiting/body/" + row}, {&w.Questions, "waiting/questions/" + row}, {&w.Answer, "waiting/answer/" + row},
	}
}

// readWaiting reads whole calls, until they take too much memory.
func (s *Store) readWaiting(ctx context.Context, op, query string, args []any) ([]Waiting, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.explain(op, err)
	}
	defer rows.Close()
	var found []Waiting
	for held := 0; held < pageBytes && rows.Next(); {
		var w Waiting
		if err := s.opts.scanWaiting(rows.Scan, &w); err != nil {
			return nil, s.explain(op, err)
		}
		found = append(found, w)
		held += len(w.Body) + len(w.Questions) + len(w.Answer)
	}
	return found, s.explain(op, rows.Err())
}
