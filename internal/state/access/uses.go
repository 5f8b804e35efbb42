package access

import (
	"context"
	"crypto/sha256"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// use is when a key was used, to the minute. It outlives the snapshots of keys.
type use struct {
	minute  atomic.Int64 // since 1970; 0: not yet
	late    atomic.Bool  // it was tried after it had expired
	written int64        // the minute that is stored; guarded by uses.writing

	known [2][sha256.Size]byte // the hashes of the secrets that worked when that was last asked; guarded by uses.mu
}

// mark costs one read of memory, and once a minute a write.
func (u *use) mark(now time.Time) {
	if minute := now.Unix() / 60; u.minute.Load() != minute {
		u.minute.Store(minute)
	}
}

// uses are those of all keys.
type uses struct {
	mu   sync.Mutex
	byID map[string]*use

	writing sync.Mutex
}

func (u *uses) of(id string) *use {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byID == nil {
		u.byID = map[string]*use{}
	}
	if u.byID[id] == nil {
		u.byID[id] = &use{}
	}
	return u.byID[id]
}

// keep forgets those of deleted keys.
func (u *uses) keep(snap *snapshot) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.byID, func(id string, _ *use) bool { return snap.byID[id] == nil })
}

// UseWriter stores when keys were used.
type UseWriter interface {
	UseKeys(ctx context.Context, ids []string, at time.Time) error
}

// WriteUses stores when keys were used, as far as that has changed: at most once for each key and minute.
// It returns the names of the keys that were tried after they had expired.
func (k *Keys) WriteUses(ctx context.Context, to UseWriter) (late []string, err error) {
	snap := k.snap.Load()
	if snap == nil {
		return nil, nil
	}
	k.uses.writing.Lock()
	defer k.uses.writing.Unlock()
	k.uses.keep(snap)
	changed := map[int64][]string{}
	for id, e := range snap.byID {
		if e.use.late.Swap(false) {
			late = append(late, e.principal.Name)
		}
		if minute := e.use.minute.Load(); minute != e.use.written {
			changed[minute] = append(changed[minute], id)
		}
	}
	for minute, ids := range changed {
		if err := to.UseKeys(ctx, ids, time.Unix(minute*60, 0)); err != nil {
			return late, err
		}
		for _, id := range ids {
			snap.byID[id].use.written = minute
		}
	}
	return late, nil
}

// Ended returns the ids of the keys of which a secret has stopped working since that was last asked: what was
// opened with it must end, too.
func (k *Keys) Ended() (ids []string) {
	snap := k.snap.Load()
	if snap == nil {
		return nil
	}
	now := k.now()
	k.uses.mu.Lock()
	defer k.uses.mu.Unlock()
	for id, e := range snap.byID {
		works := [2][sha256.Size]byte{e.hash}
		if now.Before(e.oldUntil) {
			works[1] = e.old
		}
		for _, hash := range e.use.known {
			if hash != ([sha256.Size]byte{}) && hash != works[0] && hash != works[1] {
				ids = append(ids, id)
				break
			}
		}
		e.use.known = works
	}
	return ids
}
