package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	waitingHead = `id, owner, profile, server, tool, state, waits_for, message, ref, attempt, again, replica, lease,
		created, updated, expires, version`
	waitingColumns = waitingHead + ", body, questions, answer"
	// maxWaitingMessage limits the message of a waiting call, in bytes.
	maxWaitingMessage = 1000
)

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
func (s *Store) readWaiting(ctx context.Context, op, rest string, args []any) ([]Waiting, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	rows, err := s.read.QueryContext(ctx, "SELECT "+waitingColumns+" FROM waiting"+rest, args...)
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
