package store

import (
	"context"
	"time"
)

// Replica is a gateway that shares the store with others.
type Replica struct {
	ID      string
	URL     string // where the others reach it
	Version string
	Seen    time.Time // its last heartbeat; set by BeatReplica
}

// Home names something that only one process can hold, and that one replica therefore owns.
type Home struct {
	Kind string // what it is, such as "session"
	Key  string // which one
}

const (
	beatReplica = `INSERT INTO replicas (id, url, version, seen) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET url = excluded.url, version = excluded.version, seen = excluded.seen`
	liveReplicas = "SELECT id, url, version, seen FROM replicas WHERE seen > $1 ORDER BY id"
	dropHomes    = "DELETE FROM homes WHERE replica = $1"
	dropReplica  = "DELETE FROM replicas WHERE id = $1"
	trimReplicas = "DELETE FROM replicas WHERE seen <= $1"

	// The row is returned in any case, so that of many who claim at once all learn the same owner.
	claimHome = `INSERT INTO homes (kind, key, replica) VALUES ($1, $2, $3)
		ON CONFLICT (kind, key) DO UPDATE SET replica = CASE
			WHEN homes.replica <> $4 AND EXISTS (SELECT 1 FROM replicas WHERE id = homes.replica AND seen > $5) THEN homes.replica
			ELSE excluded.replica END
		RETURNING replica`
	readHome = "SELECT replica FROM homes WHERE kind = $1 AND key = $2"
	dropHome = "DELETE FROM homes WHERE kind = $1 AND key = $2 AND replica = $3"
)

// BeatReplica stores that the replica is alive.
func (s *Store) BeatReplica(ctx context.Context, r Replica) error {
	if err := checkName("the replica's id", r.ID); err != nil {
		return err
	}
	_, err := s.exec(ctx, beatReplica, r.ID, r.URL, r.Version, micros(s.opts.Now()))
	return s.explain("store heartbeat", err)
}

// Replicas returns those that were alive within the last so long, by id.
func (s *Store) Replicas(ctx context.Context, within time.Duration) ([]Replica, error) {
	read := func(scan scanner, r *Replica) error {
		var seen int64
		err := scan(&r.ID, &r.URL, &r.Version, &seen)
		r.Seen = fromMicros(seen)
		return err
	}
	return list(ctx, s, "read replicas", read, liveReplicas, micros(s.opts.Now().Add(-within)))
}

// DropReplica removes a replica that goes down, with all its homes.
func (s *Store) DropReplica(ctx context.Context, id string) error {
	_, err := s.exec(ctx, dropReplica, id)
	return s.explain("remove replica", err)
}

// DropHomes ends all that the replica holds. It stays known to the others.
func (s *Store) DropHomes(ctx context.Context, replica string) error {
	_, err := s.exec(ctx, dropHomes, replica)
	return s.explain("drop homes", err)
}

// TrimReplicas deletes those that were not alive within the last so long, with their homes.
func (s *Store) TrimReplicas(ctx context.Context, within time.Duration) (deleted int64, err error) {
	deleted, err = s.exec(ctx, trimReplicas, micros(s.opts.Now().Add(-within)))
	return deleted, s.explain("trim replicas", err)
}

// ClaimHome makes the replica the owner if there is none, if the owner is gone, or if it was not alive
// within the last so long. It returns the owner, who is the same for all that claim at once. Gone may
// be "". The replica must have a heartbeat in the store.
func (s *Store) ClaimHome(ctx context.Context, h Home, replica, gone string, within time.Duration) (owner string, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	row := s.write.QueryRowContext(ctx, claimHome, h.Kind, h.Key, replica, gone, micros(s.opts.Now().Add(-within)))
	err = row.Scan(&owner)
	if err == nil {
		err = s.intact()
	}
	return owner, s.explain("claim "+h.Kind, err)
}

// Home returns the owner, alive or not; "" if there is none.
func (s *Store) Home(ctx context.Context, h Home) (owner string, err error) {
	err = s.readOne(ctx, "read the owner of "+h.Kind, nil, readHome, []any{h.Kind, h.Key}, []any{&owner})
	return owner, err
}

// DropHome ends what the replica holds; another's stays.
func (s *Store) DropHome(ctx context.Context, h Home, replica string) error {
	_, err := s.exec(ctx, dropHome, h.Kind, h.Key, replica)
	return s.explain("drop "+h.Kind, err)
}
