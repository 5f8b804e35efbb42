package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Waiting is a call that outlives its request. Its id is that of the call's record.
type Waiting struct {
	ID        string
	Owner     string // who may see it
	Profile   string
	Server    tool.ServerID
	Tool      tool.Name // canonical
	State     WaitState
	For       WaitFor   // what it waits for; "" once it has ended
	Message   string    // the last progress, or why it failed; cut to 1000 bytes of valid UTF-8
	Ref       string    // names the stored full result; "": there is none
	Attempt   int       // how often it was taken up, from 1
	Again     bool      // the tool is read-only or idempotent: it may be sent again
	Replica   string    // who works on it; "": nobody has to
	Lease     time.Time // until when; zero when Replica is ""
	Created   time.Time // kept to the microsecond, as are all times; zero is set by AddWaiting
	Updated   time.Time // set by every change but RenewWaiting
	Expires   time.Time // from then on it is not found
	Version   int64     // changes with every change but RenewWaiting; negative in lists
	Body      []byte    // sealed: what is needed to go on with it
	Questions []byte    // sealed: open questions and the answers so far; nil: none
	Answer    []byte    // sealed: what the caller gets; nil until it has ended
	Err       error     // why the sealed parts cannot be read, such as another key; nil when they can
}

// WaitState is where a waiting call stands. One that has ended stays as it is.
type WaitState string

const (
	Working       WaitState = "working"
	InputRequired WaitState = "input_required"
	Completed     WaitState = "completed"
	Failed        WaitState = "failed"
	Cancelled     WaitState = "cancelled"
)

// WaitFor is what a call waits for.
type WaitFor string

const (
	ForServer  WaitFor = "server"
	ForAnswers WaitFor = "answers"
	ForPerson  WaitFor = "person"
)

// Ended reports whether the call is over: it changes no more.
func (w *Waiting) Ended() bool { return w.State != Working && w.State != InputRequired }

// Cursor is the Before of a page that goes on after this call.
func (w *Waiting) Cursor() string { return cursor(w.Created, w.ID) }

// WaitingLimits limit how many calls may be open. Zero sets no bound.
type WaitingLimits struct {
	Owner int // of one owner
	Total int // of all
}

// WaitingFilter chooses waiting calls; a zero field does not filter.
type WaitingFilter struct {
	Owner  string
	Open   bool   // only those that have not ended
	Before string // only what comes after the call with this Cursor
	Limit  int    // 0 means 100; at most 1000
}

// AddWaiting stores a new waiting call with the version that it has. Too many open calls are a
// fault.UpstreamBusy, a taken id is a fault.Conflict. On PostgreSQL, those that are added at the same
// moment do not count each other: for each connection there may be one too many.
func (s *Store) AddWaiting(ctx context.Context, w Waiting, limits WaitingLimits) error {
	if err := checkName("the call's id", w.ID); err != nil {
		return err
	}
	if err := checkName("the call's owner", w.Owner); err != nil {
		return err
	}
	if w.Expires.IsZero() || w.Version < 0 {
		return fmt.Errorf("add waiting call %s: it has no expiry or a negative version", w.ID)
	}
	now := s.opts.Now()
	if w.Created.IsZero() {
		w.Created = now
	}
	w.Updated = now
	w.Attempt = max(w.Attempt, 1)
	if err := w.settle(); err != nil {
		return err
	}
	args := append(s.opts.waitingRow(&w), unlessZero(int64(limits.Owner)), unlessZero(int64(limits.Total)), micros(now))
	n, err := s.exec(ctx, addWaiting, args...)
	if err == nil && n == 0 {
		err = s.whyNotAdded(ctx, &w, limits)
	}
	return s.explain("add waiting call "+w.ID, err)
}

// whyNotAdded looks only now for the reason: adding takes one statement.
func (s *Store) whyNotAdded(ctx context.Context, w *Waiting, limits WaitingLimits) error {
	const look = `SELECT count(CASE WHEN id = $1 THEN 1 END), count(CASE WHEN owner = $2 AND expires > $3 AND ` + isOpen + ` THEN 1 END)
		FROM waiting WHERE id = $1 OR owner = $2`
	var taken, own int
	args := []any{w.ID, w.Owner, micros(s.opts.Now())}
	if err := s.readOne(ctx, "count waiting calls", nil, look, args, []any{&taken, &own}); err != nil {
		return err
	}
	switch {
	case taken > 0:
		return fault.New(fault.Conflict, "the call %s is waiting already", w.ID)
	case limits.Owner > 0 && own >= limits.Owner:
		return fault.New(fault.UpstreamBusy, "you have %d waiting calls, and no more may wait", own).
			WithHint("cancel one, or wait until one has ended")
	}
	return fault.New(fault.UpstreamBusy, "too many calls are waiting in all").WithHint("try again later")
}

// Waiting returns an owner's waiting call ("": anybody's). One that is unknown, expired or somebody
// else's is a fault.NotFound with the same text. If only its sealed parts cannot be read, Err says so.
func (s *Store) Waiting(ctx context.Context, owner, id string) (Waiting, error) {
	var c where
	c.has("id =", id)
	c.equals("owner", owner)
	c.has("expires >", micros(s.opts.Now()))
	query := "SELECT " + waitingColumns + " FROM waiting" + c.String()
	found, err := s.readWaiting(ctx, "read waiting call "+id, query, c.args)
	switch {
	case err != nil:
		return Waiting{}, err
	case len(found) == 0:
		return Waiting{}, fault.New(fault.NotFound, "there is no waiting call %q", id).
			WithHint("check the id; waiting calls are kept for a while only")
	}
	return found[0], nil
}

// SaveWaiting stores all that may change in an open call: not the id, the owner, what is called and
// when it was created. It sets Version and Updated, and clears what a call that has ended does not
// have. A lease that was renewed since w was read is not shortened. It returns false, with w
// unchanged, if somebody else was quicker or the call has ended. A call whose sealed parts could not
// be read can only be ended. After an error it may have been saved: read it again.
func (s *Store) SaveWaiting(ctx context.Context, w *Waiting) (bool, error) {
	switch {
	case w.Version < 0:
		return false, fmt.Errorf("save waiting call %s: it was read without its sealed parts", w.ID)
	case w.Err != nil && !w.Ended():
		return false, w.Err
	}
	next := *w
	next.Err = nil
	next.Version++
	next.Updated = fromMicros(micros(s.opts.Now()))
	if err := next.settle(); err != nil {
		return false, err
	}
	args := []any{string(next.State), string(next.For), next.Message, next.Ref, next.Attempt, next.Again, next.Replica,
		micros(next.Lease), micros(next.Updated), micros(next.Expires), next.Version}
	args = append(args, s.opts.sealWaiting(w)...)
	n, err := s.exec(ctx, saveWaiting, append(args, w.ID, w.Version)...)
	if err != nil || n == 0 {
		return false, s.explain("save waiting call "+w.ID, err)
	}
	*w = next
	return true, nil
}

// ClaimWaiting makes the replica the one that works on an open call until then, if nobody does or
// the lease of who did has ended. Of several that claim a call at once, one gets true.
func (s *Store) ClaimWaiting(ctx context.Context, w *Waiting, replica string, until time.Time) (bool, error) {
	if replica == "" {
		return false, fmt.Errorf("claim waiting call %s: the replica has no name", w.ID)
	}
	now := micros(s.opts.Now())
	n, err := s.exec(ctx, claimWaiting, replica, micros(until), now, w.ID, w.Version)
	if err != nil || n == 0 {
		return false, s.explain("claim waiting call "+w.ID, err)
	}
	w.Replica = replica
	w.Lease = fromMicros(micros(until))
	w.Attempt++
	w.Updated = fromMicros(now)
	w.Version++
	return true, nil
}

// RenewWaiting renews the leases of all open calls of the replica, and returns their ids. A call that
// it works on and that is not among them was taken over, has ended or expired.
func (s *Store) RenewWaiting(ctx context.Context, replica string, until time.Time) ([]string, error) {
	if replica == "" {
		return nil, errors.New("renew leases of waiting calls: the replica has no name")
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	read := func(scan scanner, id *string) error { return scan(id) }
	ids, err := readRows(ctx, s.write, read, renewWaiting, micros(until), replica, micros(s.opts.Now()))
	if err == nil {
		err = s.intact()
	}
	return ids, s.explain("renew leases of waiting calls", err)
}

// LostWaiting returns open calls whose replica has let its lease end, those first that it lost first.
// The limit 0 means 100; at most 1000. A page of long ones is shorter.
func (s *Store) LostWaiting(ctx context.Context, limit int) ([]Waiting, error) {
	return s.readWaiting(ctx, "read lost calls", lostWaiting, []any{micros(s.opts.Now()), pageLimit(limit)})
}

// WaitingCalls returns the matching calls without their sealed parts, the newest first. To change one,
// read it with Waiting.
func (s *Store) WaitingCalls(ctx context.Context, f WaitingFilter) ([]Waiting, error) {
	query, args, err := f.query(&s.dialect, s.opts.Now())
	if err != nil {
		return nil, err
	}
	found, err := list(ctx, s, "read waiting calls", s.opts.scanWaiting, query, args...)
	for i := range found {
		found[i].Version = -1
	}
	return found, err
}

// TrimWaiting deletes the calls that have expired.
func (s *Store) TrimWaiting(ctx context.Context) (deleted int64, err error) {
	deleted, err = s.exec(ctx, trimWaiting, micros(s.opts.Now()))
	return deleted, s.explain("trim waiting calls", err)
}
