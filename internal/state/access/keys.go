package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	freshFor      = 5 * time.Second  // a snapshot is used without a reload
	staleAfter    = 10 * time.Second // callers wait for a new snapshot: a deleted key must stop working
	retryAfter    = time.Second      // between reloads for unknown keys, or while the store is down
	openFor       = time.Second / 2  // a snapshot without keys is used: the first key ends open access
	reloadTimeout = 2 * time.Second  // of a reload that callers may wait for
)

// Source is where the keys are kept, and the people with tokens of identity providers.
type Source interface {
	Keys(ctx context.Context) ([]store.Key, error)
	DisabledPeople(ctx context.Context) (ids []string, err error)
}

// Options configure Keys. Nil means all zero.
type Options struct {
	Now func() time.Time // nil means time.Now
}

// Keys knows all keys, and who is disabled. Reading takes no lock: it uses an immutable snapshot.
type Keys struct {
	src       Source
	now       func() time.Time
	snap      atomic.Pointer[snapshot] // nil until the first reload
	refreshed atomic.Int64             // when a reload in the background last began, in nanoseconds

	reloading sync.Mutex // held while reading for callers; guards what follows
	searched  time.Time  // when an unknown id or secret last caused a reload
	retried   time.Time  // when a stale snapshot last did

	uses uses
}

type snapshot struct {
	byID     map[string]*entry
	rows     int // more than byID when a row is invalid
	disabled map[string]bool
	at       time.Time
}

type entry struct {
	hash      [sha256.Size]byte
	old       [sha256.Size]byte // of the secret before
	oldUntil  time.Time         // when that one ends
	expires   time.Time         // zero: never
	principal Principal
	use       *use
}

// New makes Keys over src. Nothing is read before the first use, or Reload.
func New(src Source, opts *Options) *Keys {
	k := &Keys{src: src, now: time.Now}
	if opts != nil && opts.Now != nil {
		k.now = opts.Now
	}
	return k
}

// Authenticate returns whose key the text is. A malformed key, an unknown key and a wrong secret
// are the same fault.Unauthorized; only who has the right secret learns that the key has expired. An
// unknown id or secret causes a reload at most once a second, so that a key made or rotated by another
// process works at once; a deleted key works for at most ten seconds, if nobody calls Follow.
func (k *Keys) Authenticate(ctx context.Context, text string) (Principal, error) {
	id, secret, ok := splitKey(text)
	if !ok {
		return Principal{}, refuse()
	}
	now := k.now()
	snap, err := k.current(ctx, now)
	if err != nil {
		return Principal{}, err
	}
	hash := hashOf(secret)
	e := snap.byID[id]
	if !e.opens(&hash, now) {
		if err := k.reloadSince(ctx, &k.searched, now, retryAfter); err != nil {
			return Principal{}, err
		}
		e = k.snap.Load().byID[id]
		if !e.opens(&hash, now) {
			return Principal{}, refuse()
		}
	}
	if e.hasExpired(now) {
		e.use.late.Store(true)
		return Principal{}, fault.New(fault.Unauthorized, "the key %s has expired", e.principal.Name).
			WithHint("an administrator makes a new secret for it with: toolfit keys rotate %s --expires 90d", e.principal.Name)
	}
	e.use.mark(now)
	return e.principal, nil
}

// hashOf copies the secret to the stack, so that hashing it does not allocate.
func hashOf(secret string) [sha256.Size]byte {
	var buf [maxSecret]byte
	n := copy(buf[:], secret)
	return sha256.Sum256(buf[:n])
}

// opens reports whether the secret with this hash is the key's, or the one before while that works.
func (e *entry) opens(hash *[sha256.Size]byte, now time.Time) bool {
	return e != nil && (subtle.ConstantTimeCompare(hash[:], e.hash[:]) == 1 ||
		now.Before(e.oldUntil) && subtle.ConstantTimeCompare(hash[:], e.old[:]) == 1)
}

func (e *entry) hasExpired(now time.Time) bool { return !e.expires.IsZero() && !now.Before(e.expires) }

func refuse() error {
	return fault.New(fault.Unauthorized, "the key is missing, wrong or deleted").
		WithHint("send Authorization: Bearer tf_…; make a key with: toolfit keys create NAME")
}

// Any reports whether there are keys, expired or not: true while that is not known, so that nobody is let in.
func (k *Keys) Any() bool {
	now := k.now()
	snap, err := k.current(context.Background(), now)
	if err == nil && snap.rows == 0 && now.Sub(snap.at) >= openFor {
		_ = k.reloadSince(context.Background(), &k.retried, now, openFor)
		snap = k.snap.Load()
	}
	return err != nil || snap.rows > 0
}

// Has reports whether there is a key with this id that has not expired; true while that is not known.
func (k *Keys) Has(id string) bool {
	now := k.now()
	snap, err := k.current(context.Background(), now)
	if err != nil {
		return true
	}
	e := snap.byID[id]
	return e != nil && !e.hasExpired(now)
}

// CheckPerson refuses a disabled person, by id, after at most ten seconds; and everybody until that is known.
func (k *Keys) CheckPerson(ctx context.Context, id, name string) error {
	snap, err := k.current(ctx, k.now())
	if err != nil {
		return err
	}
	if snap.disabled[id] {
		return fault.New(fault.Forbidden, "%s is disabled here", name).WithHint("ask an administrator to enable this account")
	}
	return nil
}

// Reload reads the keys now. After an error the old ones stay valid.
func (k *Keys) Reload(ctx context.Context) error {
	k.reloading.Lock()
	defer k.reloading.Unlock()
	return k.reload(ctx)
}

// Follow reads the keys now, because somebody has changed them. Unlike Reload it delays nobody.
func (k *Keys) Follow(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	return k.reload(ctx)
}

// reloadSince reloads unless the last reload for the same reason is less than a pause ago.
// Concurrent callers wait for the first one's reload.
func (k *Keys) reloadSince(ctx context.Context, last *time.Time, now time.Time, pause time.Duration) error {
	k.reloading.Lock()
	defer k.reloading.Unlock()
	if !last.IsZero() && now.Sub(*last) < pause {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	*last = now
	began := time.Now()
	err := k.reload(ctx)
	if err != nil { // nobody waits for a while for a store that answers slowly or not at all
		*last = now.Add(3 * time.Since(began))
	}
	return err
}

func (k *Keys) reload(ctx context.Context) error {
	at := k.now() // before reading: the next reload sees what changes meanwhile
	rows, err := k.src.Keys(ctx)
	if err != nil {
		return fmt.Errorf("reload keys: %w", err)
	}
	disabled, err := k.src.DisabledPeople(ctx)
	if err != nil {
		return fmt.Errorf("reload people: %w", err)
	}
	snap := &snapshot{byID: make(map[string]*entry, len(rows)), rows: len(rows), disabled: make(map[string]bool, len(disabled)), at: at}
	for _, id := range disabled {
		snap.disabled[id] = true
	}
	for _, row := range rows {
		role, err := ParseRole(row.Role)
		if err != nil || len(row.Hash) != sha256.Size {
			continue // not written by us
		}
		e := &entry{
			principal: Principal{ID: row.ID, Name: row.Name, Kind: KindKey, Role: role, Profile: row.Profile},
			expires:   row.ExpiresAt, use: k.uses.of(row.ID),
		}
		copy(e.hash[:], row.Hash)
		if len(row.OldHash) == sha256.Size {
			copy(e.old[:], row.OldHash)
			e.oldUntil = row.OldUntil
		}
		snap.byID[row.ID] = e
	}
	for {
		old := k.snap.Load()
		if old != nil && old.at.After(at) || k.snap.CompareAndSwap(old, snap) {
			return nil
		}
	}
}

// current returns the snapshot to use. It is renewed in the background, or, when it is stale,
// before it is used. While the store does not answer, the old keys stay valid.
func (k *Keys) current(ctx context.Context, now time.Time) (*snapshot, error) {
	snap := k.snap.Load()
	if snap == nil {
		err := k.Reload(ctx)
		return k.snap.Load(), err
	}
	age := now.Sub(snap.at)
	switch {
	case age >= staleAfter:
		_ = k.reloadSince(ctx, &k.retried, now, retryAfter)
		return k.snap.Load(), nil
	case age >= freshFor && begin(&k.refreshed, now):
		go k.reloadBehind(context.WithoutCancel(ctx))
	}
	return snap, nil
}

func (k *Keys) reloadBehind(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	_ = k.Reload(ctx) // after an error the next caller retries
}

// begin reports true to one caller per retryAfter.
func begin(last *atomic.Int64, now time.Time) bool {
	was := last.Load()
	is := now.UnixNano()
	if is >= was && is-was < int64(retryAfter) {
		return false
	}
	return last.CompareAndSwap(was, is)
}
