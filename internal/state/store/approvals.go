package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Approval is a question whether a call may be made, and what was decided. It is about one caller, one tool and exact arguments.
type Approval struct {
	ID        string
	Principal string
	Profile   string
	Server    tool.ServerID
	Tool      tool.Name
	Digest    string // of the arguments and the rules that ask
	Call      string // the record of the call that asked first
	About     []byte // sealed: who asks, the arguments and the rules
	State     ApprovalState
	Created   time.Time
	Expires   time.Time // of the question; once it is decided, of the decision
	Decided   time.Time // zero: not yet
	By        string    // who decided
	Reason    string
	Err       error // why About cannot be read, such as another key; nil when it can
}

// ApprovalState is where a question stands.
type ApprovalState string

const (
	ApprovalOpen     ApprovalState = "open"
	ApprovalApproved ApprovalState = "approved"
	ApprovalDenied   ApprovalState = "denied"
	ApprovalUsed     ApprovalState = "used"     // approved, and the call was made
	ApprovalCanceled ApprovalState = "canceled" // the call that asked was
	ApprovalExpired  ApprovalState = "expired"  // nobody decided in time, or the call was not made in time; never stored
)

const (
	approvalColumns = `id, principal, profile, server, tool, digest, call, about, state, created_at, expires_at, decided_at, decided_by,
		reason`

	replaceApproval = `UPDATE approvals SET standing = FALSE
		WHERE principal = $1 AND tool = $2 AND digest = $3 AND standing AND expires_at <= $4`
	addApproval = "INSERT INTO approvals (" + approvalColumns + `, standing)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9, $10, 0, '', '', TRUE) ON CONFLICT DO NOTHING`
	findStanding   = "SELECT " + approvalColumns + " FROM approvals WHERE principal = $1 AND tool = $2 AND digest = $3 AND standing"
	countOpen      = "SELECT count(*) FROM approvals WHERE principal = $1 AND standing AND state = 'open' AND expires_at > $2"
	decideApproval = `UPDATE approvals SET state = $1, decided_by = $2, reason = $3, decided_at = $4, expires_at = $5
		WHERE id = $6 AND state = 'open' AND expires_at > $4`
	useApproval    = "UPDATE approvals SET state = 'used', standing = FALSE WHERE id = $1 AND state = 'approved' AND expires_at > $2"
	returnApproval = `UPDATE approvals SET state = 'approved', standing = TRUE WHERE id = $1 AND state = 'used' AND NOT EXISTS (SELECT 1
		FROM approvals AS other WHERE other.principal = approvals.principal AND other.tool = approvals.tool
			AND other.digest = approvals.digest AND other.standing)`
	cancelApproval = "UPDATE approvals SET state = 'canceled', standing = FALSE WHERE id = $1 AND call = $2 AND state = 'open'"
)

// AskApproval returns the question that stands for such a call, whatever became of it; without one it stores a, and
// says so. More than most open questions of one caller are a fault.LimitReached.
func (s *Store) AskApproval(ctx context.Context, a Approval, most int) (standing Approval, asked bool, err error) {
	now := micros(s.opts.Now())
	same := []any{a.Principal, string(a.Tool), a.Digest}
	err = s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, replaceApproval, append(same, now)...); err != nil {
			return err
		}
		found, err := readRows(ctx, tx, s.scanApproval, findStanding, same...)
		if err != nil || len(found) > 0 {
			standing = firstApproval(found)
			return err
		}
		open := 0
		if err := tx.QueryRowContext(ctx, countOpen, a.Principal, now).Scan(&open); err != nil {
			return err
		}
		if open >= most {
			return fault.New(fault.LimitReached, "%d of your calls wait for a decision already, and no more may", open).
				WithHint("wait until they are decided; see: toolfit approvals")
		}
		n, err := affected(tx.ExecContext(ctx, addApproval, a.ID, a.Principal, a.Profile, string(a.Server), string(a.Tool), a.Digest, a.Call,
			s.opts.SecretKey.seal(approvalRow(a.ID), a.About), now, micros(a.Expires)))
		if err != nil {
			return err
		}
		asked = n > 0
		found, err = readRows(ctx, tx, s.scanApproval, findStanding, same...) // of two that ask at once, one has
		if err == nil && len(found) == 0 {
			err = fault.New(fault.Conflict, "the same call was asked about and canceled just now").WithHint("make the call again")
		}
		standing = firstApproval(found)
		return err
	})
	return standing, asked, s.explain("ask for an approval", err)
}

func firstApproval(found []Approval) Approval {
	if len(found) == 0 {
		return Approval{}
	}
	return found[0]
}

// DecideApproval decides an open question; what is decided holds until it expires. One that is not open any more is a
// fault.Conflict. Of several that decide at once, one does.
func (s *Store) DecideApproval(ctx context.Context, id string, state ApprovalState, by, reason string, until time.Time) (a Approval, err error) {
	err = s.change(ctx, func(ctx context.Context, tx *changes) error {
		n, err := affected(tx.ExecContext(ctx, decideApproval, string(state), by, reason, micros(s.opts.Now()), micros(until), id))
		if err != nil {
			return err
		}
		found, err := readRows(ctx, tx, s.scanApproval, "SELECT "+approvalColumns+" FROM approvals WHERE id = $1", id)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return noApproval(id)
		case n == 0:
			return fault.New(fault.Conflict, "this is not open any more: it is %s", found[0].State).WithHint("%s", found[0].whyClosed())
		}
		a = found[0]
		action := "call.deny"
		if state == ApprovalApproved {
			action = "call.approve"
		}
		return tx.note(ctx, action, id, nil, map[string]string{
			"tool": string(a.Tool), "caller": a.Principal, "call": a.Call, "arguments": a.Digest, "by": by, "reason": reason,
		})
	})
	return a, s.explain("decide "+id, err)
}

func (a *Approval) whyClosed() string {
	if a.By != "" {
		return "it was decided by " + a.By
	}
	return "the call has to be made again to ask anew"
}

// UseApproval uses an approval. Of several that do so at once, one gets true.
func (s *Store) UseApproval(ctx context.Context, id string) (bool, error) {
	n, err := s.exec(ctx, useApproval, id, micros(s.opts.Now()))
	return n > 0, s.explain("use approval "+id, err)
}

// ReturnApproval lets an approval be used once more until it expires: the server asked something, and the call is
// not over.
func (s *Store) ReturnApproval(ctx context.Context, id string) error {
	_, err := s.exec(ctx, returnApproval, id)
	return s.explain("return approval "+id, err)
}

// CancelApproval closes the open question of a call that was canceled.
func (s *Store) CancelApproval(ctx context.Context, id, call string) error {
	_, err := s.exec(ctx, cancelApproval, id, call)
	return s.explain("cancel approval "+id, err)
}

// Approval returns a question. An unknown one is a fault.NotFound.
func (s *Store) Approval(ctx context.Context, id string) (Approval, error) {
	found, err := list(ctx, s, "read approval", s.scanApproval, "SELECT "+approvalColumns+" FROM approvals WHERE id = $1", id)
	if err == nil && len(found) == 0 {
		err = noApproval(id)
	}
	return firstApproval(found), err
}

func noApproval(id string) error { return fault.New(fault.NotFound, "there is no question %.100q", id) }

// Approvals returns questions, the newest first: the open ones, or all of a tool ("": of any). The limit 0 means 100.
func (s *Store) Approvals(ctx context.Context, open bool, of tool.Name, limit int) ([]Approval, error) {
	var w where
	if open {
		w.is("standing AND state = 'open'")
		w.has("expires_at >", micros(s.opts.Now()))
	}
	w.equals("tool", string(of))
	query := "SELECT " + approvalColumns + " FROM approvals" + w.String() + " ORDER BY created_at DESC, id DESC" + w.limit(limit)
	return list(ctx, s, "read approvals", s.scanApproval, query, w.args...)
}

// TrimApprovals deletes the questions that were asked before a time.
func (s *Store) TrimApprovals(ctx context.Context, before time.Time) (deleted int64, err error) {
	deleted, err = s.exec(ctx, "DELETE FROM approvals WHERE created_at < $1 AND expires_at <= $2", micros(before), micros(s.opts.Now()))
	return deleted, s.explain("trim approvals", err)
}

func (s *Store) scanApproval(scan scanner, a *Approval) error {
	var sealed []byte
	err := scan(&a.ID, &a.Principal, &a.Profile, (*string)(&a.Server), (*string)(&a.Tool), &a.Digest, &a.Call, &sealed, (*string)(&a.State),
		storedTime(&a.Created), storedTime(&a.Expires), storedTime(&a.Decided), &a.By, &a.Reason)
	if err != nil {
		return err
	}
	a.About, a.Err = s.opts.SecretKey.open("approval "+a.ID, approvalRow(a.ID), sealed)
	if (a.State == ApprovalOpen || a.State == ApprovalApproved) && !s.opts.Now().Before(a.Expires) {
		a.State = ApprovalExpired
	}
	return nil
}

// approvalRow is what is sealed is bound to. Changing it makes stored ones unreadable.
func approvalRow(id string) string { return "approvals/about/" + id }
