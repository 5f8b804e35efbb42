package store

import (
	"context"
	"fmt"
	"time"
)

// The kinds of homes that are leases: what a replica does until it is done. They stay with a replica that
// goes down, until it is gone.
const (
	ChatLease   = "chat"   // an answer in a session, by the session's id
	RunLease    = "run"    // a run of browser tests, by its id
	ListLease   = "list"   // listing a server, by its id
	ScreenLease = "screen" // steps in a caller's browser
)

const leaseKinds = "('" + ChatLease + "', '" + RunLease + "', '" + ListLease + "', '" + ScreenLease + "')"

const (
	dropLeases   = "DELETE FROM homes WHERE replica = $1 AND kind IN " + leaseKinds
	readHome     = "SELECT replica FROM homes WHERE kind = $1 AND key = $2"
	leaveReplica = "UPDATE replicas SET url = '' WHERE id = $1"

	deadHomes = `SELECT kind, key, replica FROM homes WHERE kind = $1
		AND NOT EXISTS (SELECT 1 FROM replicas WHERE id = homes.replica AND seen > $2) ORDER BY key LIMIT $3`

	// A run that is under way has a lease. Older ones may have none, and lists of runs are short.
	deadRuns = "SELECT " + runColumns + ` FROM runs WHERE outcome = $1 AND NOT EXISTS (
		SELECT 1 FROM homes JOIN replicas ON replicas.id = homes.replica
		WHERE homes.kind = '` + RunLease + `' AND homes.key = runs.id AND replicas.seen > $2) ORDER BY at, id LIMIT $3`
	changeOutcome = "UPDATE runs SET outcome = $1 WHERE id = $2 AND outcome = $3"
)

// LeaveReplica frees the homes of a replica that goes down, except its leases, and takes it from the list:
// nobody passes anything on to it from now on.
func (s *Store) LeaveReplica(ctx context.Context, id string) error {
	if _, err := s.exec(ctx, leaveReplica, id); err != nil {
		return s.explain("leave", err)
	}
	return s.DropHomes(ctx, id)
}

// Home returns the owner, alive or not; "" if there is none.
func (s *Store) Home(ctx context.Context, h Home) (owner string, err error) {
	err = s.readOne(ctx, "read the owner of "+h.Kind, nil, readHome, []any{h.Kind, h.Key}, []any{&owner})
	return owner, err
}

// DeadHomes returns homes of a kind whose owner was not alive within the last so long. The limit 0 means
// 100; at most 1000.
func (s *Store) DeadHomes(ctx context.Context, kind string, within time.Duration, limit int) ([]Home, error) {
	read := func(scan scanner, h *Home) error {
		var owner string
		return scan(&h.Kind, &h.Key, &owner)
	}
	return list(ctx, s, fmt.Sprintf("read what was %s", kind), read, deadHomes, kind, micros(s.opts.Now().Add(-within)), pageLimit(limit))
}

// DeadRuns returns runs with the outcome that nobody works on: they have no lease of a replica that was
// alive within the last so long.
func (s *Store) DeadRuns(ctx context.Context, outcome string, within time.Duration, limit int) ([]Run, error) {
	read := func(scan scanner, r *Run) error { return scan(r.columns()...) }
	return list(ctx, s, "read runs", read, deadRuns, outcome, micros(s.opts.Now().Add(-within)), pageLimit(limit))
}

// ChangeOutcome changes the outcome of a run; false if it is not the one given.
func (s *Store) ChangeOutcome(ctx context.Context, run, from, to string) (bool, error) {
	n, err := s.exec(ctx, changeOutcome, to, run, from)
	return n > 0, s.explain("change run "+run, err)
}
