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
	// freshFor is how long a snapshot is used without looking again.
	freshFor = 5 * time.Second
	// staleAfter is when a caller waits for the new snapshot: a key that was deleted
	// while nobody called must not work once more.
	staleAfter = 10 * time.Second
	// retryAfter is how often unknown keys, or a store that does not answer, may
	// cause a reload.
	retryAfter = time.Second
	// openFor is how old a snapshot without keys may grow: the first key closes the door for
	// everybody, whichever process made it.
	openFor = time.Second / 2
	// reloadTimeout ends a reload in the background.
	reloadTimeout = 10 * time.Second
)

// Source is where the keys are kept.
type Source interface {
	Keys(ctx context.Context) ([]store.Key, error)
}

// Options are the ways to make Keys. Nil means all zero.
type Options struct {
	Now func() time.Time // nil means time.Now
}

// Keys knows all keys. Asking it takes no lock: it looks into an immutable snapshot
// that is replaced whole.
type Keys struct {
	src       Source
	now       func() time.Time
	snap      atomic.Pointer[snapshot] // nil until the first reload
	refreshed atomic.Int64             // when a reload was last begun behind a caller's back, in nanoseconds

	reloading sync.Mutex // held while reading; guards what follows
	searched  time.Time  // when an unknown id last caused a reload
	retried   time.Time  // when a stale snapshot last did
}

// snapshot is never changed once it is published.
type snapshot struct {
	byID map[string]entry
	rows int // more than byID when a row was not understood
	at   time.Time
}

type entry struct {
	hash      [sha256.Size]byte
	principal Principal
}

// New makes Keys over src. It reads nothing yet: the first question does, or Reload.
func New(src Source, opts *Options) *Keys {
	k := &Keys{src: src, now: time.Now}
	if opts != nil && opts.Now != nil {
		k.now = opts.Now
	}
	return k
}

// Authenticate returns whose key the text is. A text that is no key, an unknown key
// and a wrong secret are the same fault.Unauthorized. An unknown id looks into the
// store at most once a second, so that a key made by another process works at once;
// a deleted key works for at most ten seconds more.
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
	e, ok := snap.byID[id]
	if !ok {
		if err := k.reloadSince(ctx, &k.searched, now, retryAfter); err != nil {
			return Principal{}, err
		}
		e, ok = k.snap.Load().byID[id]
	}
	if !ok || !matches(&e.hash, secret) {
		return Principal{}, refuse()
	}
	return e.principal, nil
}

// matches copies the secret to the stack: hashing it then allocates nothing.
func matches(want *[sha256.Size]byte, secret string) bool {
	var buf [maxSecret]byte
	n := copy(buf[:], secret)
	got := sha256.Sum256(buf[:n])
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func refuse() error {
	return fault.New(fault.Unauthorized, "the key is missing, wrong or deleted").
		WithHint("send Authorization: Bearer tf_…; make a key with: toolfit keys create NAME")
}

// Any tells whether there are keys. While that cannot be known it says yes, so that
// nobody is let in without one.
func (k *Keys) Any() bool {
	snap, err := k.current(context.Background(), k.now())
	return err != nil || snap.rows > 0
}

// Has tells whether there is a key of this id. While that cannot be known it says yes.
func (k *Keys) Has(id string) bool {
	snap, err := k.current(context.Background(), k.now())
	if err != nil {
		return true
	}
	_, ok := snap.byID[id]
	return ok
}

// Reload reads the keys now. After an error the old ones stay in force.
func (k *Keys) Reload(ctx context.Context) error {
	k.reloading.Lock()
	defer k.reloading.Unlock()
	return k.reload(ctx)
}

// reloadSince reloads unless that was done for the same cause within the last pause.
// Callers that come meanwhile wait, and find what the first one read.
func (k *Keys) reloadSince(ctx context.Context, last *time.Time, now time.Time, pause time.Duration) error {
	k.reloading.Lock()
	defer k.reloading.Unlock()
	if !last.IsZero() && now.Sub(*last) < pause {
		return nil
	}
	*last = now
	return k.reload(ctx)
}

func (k *Keys) reload(ctx context.Context) error {
	at := k.now() // before reading: what changes meanwhile is seen by the next reload
	rows, err := k.src.Keys(ctx)
	if err != nil {
		return fmt.Errorf("reload keys: %w", err)
	}
	snap := &snapshot{byID: make(map[string]entry, len(rows)), rows: len(rows), at: at}
	for _, row := range rows {
		role, err := ParseRole(row.Role)
		if err != nil || len(row.Hash) != sha256.Size {
			continue // a row that we did not write opens nothing
		}
		e := entry{principal: Principal{ID: row.ID, Name: row.Name, Role: role, Profile: row.Profile}}
		copy(e.hash[:], row.Hash)
		snap.byID[row.ID] = e
	}
	k.snap.Store(snap)
	return nil
}

// current returns the snapshot to use, and sees to its renewal: behind the caller's
// back while it is young, in front of it when it is stale. A store that does not
// answer leaves the old keys in force.
func (k *Keys) current(ctx context.Context, now time.Time) (*snapshot, error) {
	snap := k.snap.Load()
	if snap == nil {
		err := k.Reload(ctx)
		return k.snap.Load(), err
	}
	age := now.Sub(snap.at)
	switch {
	case snap.rows == 0 && age >= openFor:
		_ = k.reloadSince(ctx, &k.retried, now, openFor)
		return k.snap.Load(), nil
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
	_ = k.Reload(ctx) // after an error the snapshot grows stale, and the next caller tries
}

// begin lets one caller pass in each retryAfter.
func begin(last *atomic.Int64, now time.Time) bool {
	was, is := last.Load(), now.UnixNano()
	if is >= was && is-was < int64(retryAfter) {
		return false
	}
	return last.CompareAndSwap(was, is)
}
