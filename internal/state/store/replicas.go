package store

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Replica is a gateway that shares the store with others.
type Replica struct {
	ID      string
	URL     string // where the others reach it; "": they do not
	Version string
	Seen    time.Time // its last heartbeat; set by BeatReplica
}

// Home names something that only one process can hold, and that one replica therefore owns. What is
// stored of it outlives the replica.
type Home struct {
	Kind string // what it is, such as "session"
	Key  string // which one
}

const (
	beatReplica = `INSERT INTO replicas (id, url, version, seen) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET url = excluded.url, version = excluded.version, seen = excluded.seen`
	liveReplicas = "SELECT id, url, version, seen FROM replicas WHERE seen > $1 AND url <> '' ORDER BY id"
	dropReplica  = "DELETE FROM replicas WHERE id = $1"
	trimReplicas = "DELETE FROM replicas WHERE seen <= $1"

	// The row is returned in any case, so that of many who claim at once all learn the same owner.
	claimHome = `INSERT INTO homes (kind, key, replica, used) VALUES ($1, $2, $3, $6)
		ON CONFLICT (kind, key) DO UPDATE SET used = excluded.used, replica = CASE
			WHEN homes.replica <> $4 AND EXISTS (SELECT 1 FROM replicas WHERE id = homes.replica AND seen > $5) THEN homes.replica
			ELSE excluded.replica END
		RETURNING replica, data`
	storeHome = "UPDATE homes SET data = $4 WHERE kind = $1 AND key = $2 AND replica = $3"
	dropHome  = "DELETE FROM homes WHERE kind = $1 AND key = $2 AND replica = $3"
	dropHomes = "DELETE FROM homes WHERE replica = $1 AND kind = 'session' AND data IS NULL"
	freeHomes = "UPDATE homes SET replica = '' WHERE replica = $1 AND kind = 'session'"
	trimHomes = `DELETE FROM homes WHERE kind NOT IN ('session', '` + ChatLease + `') AND used <= $1 OR kind = 'session' AND used <= $2
		AND NOT EXISTS (SELECT 1 FROM replicas WHERE id = homes.replica)`
	findHome = "SELECT 1 FROM homes WHERE kind = $1 AND key = $2"
)

// BeatReplica stores that the replica is alive.
func (s *Store) BeatReplica(ctx context.Context, r Replica) error {
	if err := checkName("the replica's id", r.ID); err != nil {
		return err
	}
	_, err := s.exec(ctx, beatReplica, r.ID, r.URL, r.Version, micros(s.opts.Now()))
	return s.explain("store heartbeat", err)
}

// Replicas returns those that were alive within the last so long and can be reached, by id.
func (s *Store) Replicas(ctx context.Context, within time.Duration) ([]Replica, error) {
	read := func(scan scanner, r *Replica) error {
		var seen int64
		err := scan(&r.ID, &r.URL, &r.Version, &seen)
		r.Seen = fromMicros(seen)
		return err
	}
	return list(ctx, s, "read replicas", read, liveReplicas, micros(s.opts.Now().Add(-within)))
}

// DropReplica removes a replica that has gone, with its leases and all its homes of which nothing is stored.
func (s *Store) DropReplica(ctx context.Context, id string) error {
	_, err := s.exec(ctx, dropReplica, id)
	if err == nil {
		_, err = s.exec(ctx, dropHomes, id)
	}
	if err == nil {
		_, err = s.exec(ctx, dropLeases, id)
	}
	return s.explain("remove replica", err)
}

// DropHomes ends all sessions' homes that the replica is. What is stored of them stays for the next, and the
// replica stays known to the others.
func (s *Store) DropHomes(ctx context.Context, replica string) error {
	_, err := s.exec(ctx, dropHomes, replica)
	if err == nil {
		_, err = s.exec(ctx, freeHomes, replica)
	}
	return s.explain("drop homes", err)
}

// keepHomes is how long what is no session's home stays that has not been claimed again.
const keepHomes = 24 * time.Hour

// TrimReplicas deletes those that were not alive within the last so long, and the homes of sessions that
// they were. Seats are deleted a day after they were last claimed, by
// whomever; the lease of a chat stays until somebody has noted its end.
func (s *Store) TrimReplicas(ctx context.Context, within time.Duration) (deleted int64, err error) {
	now := s.opts.Now()
	deleted, err = s.exec(ctx, trimReplicas, micros(now.Add(-within)))
	if err == nil {
		_, err = s.exec(ctx, trimHomes, micros(now.Add(-keepHomes)), micros(now.Add(-within)))
	}
	return deleted, s.explain("trim replicas", err)
}

func homeRow(h Home) string { return "home " + h.Kind + " " + h.Key }

// ClaimHome makes the replica the owner if there is none, if the owner is gone, or if it was not alive
// within the last so long. It returns the owner, who is the same for all that claim at once, and what is
// stored of the home: nil if nothing is, empty if it cannot be read any more. Gone may be "".
func (s *Store) ClaimHome(ctx context.Context, h Home, replica, gone string, within time.Duration) (owner string, data []byte, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	now := s.opts.Now()
	var sealed []byte
	row := s.write.QueryRowContext(ctx, claimHome, h.Kind, h.Key, replica, gone, micros(now.Add(-within)), micros(now))
	err = row.Scan(&owner, &sealed)
	if err == nil {
		err = s.intact()
	}
	if err != nil || sealed == nil {
		return owner, nil, s.explain("claim "+h.Kind, err)
	}
	data, err = s.opts.SecretKey.open(h.Kind, homeRow(h), sealed)
	if err != nil {
		s.opts.Logger.Error("what was stored is not used", "error", fault.As(err))
		data = []byte{}
	}
	return owner, data, nil
}

// StoreHome stores something with a home of the replica's, sealed; another's stays as it is.
func (s *Store) StoreHome(ctx context.Context, h Home, replica string, data []byte) error {
	_, err := s.exec(ctx, storeHome, h.Kind, h.Key, replica, s.opts.SecretKey.seal(homeRow(h), data))
	return s.explain("store "+h.Kind, err)
}

// ended is the home of nobody: of a session that has ended for good.
func ended(session string) Home { return Home{Kind: "ended", Key: session} }

// EndHome stores that a client's session has ended for good.
func (s *Store) EndHome(ctx context.Context, session string) error {
	_, _, err := s.ClaimHome(ctx, ended(session), "", "", 0)
	return err
}

// HasEnded tells whether a client's session has ended for good, within the last day.
func (s *Store) HasEnded(ctx context.Context, session string) (bool, error) {
	h := ended(session)
	found := 0
	err := s.readOne(ctx, "look for an ended session", nil, findHome, []any{h.Kind, h.Key}, []any{&found})
	return found == 1, err
}

// DropHome ends what the replica holds; another's stays.
func (s *Store) DropHome(ctx context.Context, h Home, replica string) error {
	_, err := s.exec(ctx, dropHome, h.Kind, h.Key, replica)
	return s.explain("drop "+h.Kind, err)
}
