package broker

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	knownFor   = 10 * time.Second // a token is used without a look into the store; news make that shorter
	lookTime   = 2 * time.Second  // that a look may take
	retryAfter = time.Second      // while the store does not answer
	maxKnown   = 10_000           // tokens
	maxAccess  = 128              // bytes of a token
)

// memory remembers access tokens by their hash.
type memory struct {
	mu   sync.RWMutex
	byID map[[sha256.Size]byte]remembered
}

func (m *memory) find(sum [sha256.Size]byte) remembered {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.byID[sum]
}

// set remembers a token, or, if there is nothing to remember, forgets it.
func (m *memory) set(sum [sha256.Size]byte, r remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil || len(m.byID) >= maxKnown {
		m.byID = map[[sha256.Size]byte]remembered{}
	}
	if r.until.IsZero() {
		delete(m.byID, sum)
		return
	}
	m.byID[sum] = r
}

type remembered struct {
	who      access.Principal
	resource string
	expires  time.Time // the token itself
	until    time.Time // it is looked up again
	changes  int64     // that were known when it was looked up
}

// Forget makes every token be looked up anew: a grant has ended, or something may have changed.
func (b *Broker) Forget() { b.changes.Add(1) }

func errInvalid() error {
	return fault.New(fault.Unauthorized, "the token is not valid here").WithHint("sign in again")
}

// Admit returns who sends an access token, if it is for the resource, the address of what is asked for.
func (b *Broker) Admit(ctx context.Context, token, resource string) (access.Principal, error) {
	if len(token) > maxAccess || !IsToken(token) {
		return access.Principal{}, errInvalid()
	}
	var buf [maxAccess]byte // on the stack, so that hashing does not allocate
	sum := sha256.Sum256(buf[:copy(buf[:], token)])
	now := b.Now()
	r := b.known.find(sum)
	if !now.Before(r.until) || r.changes != b.changes.Load() {
		var err error
		if r, err = b.look(ctx, sum, r, now); err != nil {
			return access.Principal{}, err
		}
	}
	if r.resource != resource && r.resource != b.all {
		return access.Principal{}, errInvalid()
	}
	if err := b.CheckPerson(ctx, r.who.ID, r.who.Name); err != nil {
		return access.Principal{}, err
	}
	return r.who, nil
}

// look finds a token in the store. While that does not answer, what was known of it before holds, as for keys.
func (b *Broker) look(ctx context.Context, sum [sha256.Size]byte, before remembered, now time.Time) (remembered, error) {
	r := remembered{changes: b.changes.Load(), until: now.Add(knownFor)} // before the look
	limited, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	g, expires, err := b.Store.GrantOf(limited, sum[:])
	if err == nil {
		r.who, err = b.principal(limited, &g)
		r.resource = g.Resource
		r.expires = expires
	}
	code := fault.As(err).Code
	switch {
	case err == nil:
		r.who.Token.Expires = expires
		if expires.Before(r.until) {
			r.until = expires
		}
	case code == fault.NotFound || code == fault.Unauthorized:
		b.known.set(sum, remembered{}) // nothing of it holds any more
		return r, errInvalid()
	case code == fault.Forbidden:
		b.known.set(sum, remembered{})
		return r, err
	case ctx.Err() == nil && now.Before(before.expires):
		before.changes = r.changes
		before.until = b.Now().Add(retryAfter + 3*b.Now().Sub(now)) // nobody waits for a while for one that is slow
		r = before
	default:
		return r, err
	}
	b.known.set(sum, r)
	return r, nil
}

// principal is who a grant lets in now. The configuration of today decides, not that of the sign-in.
func (b *Broker) principal(ctx context.Context, g *store.Grant) (access.Principal, error) {
	lacks := func(scope string) bool { return !slices.Contains(g.Scopes, scope) }
	if !b.allows(g.Client) || slices.ContainsFunc(b.Scopes, lacks) {
		return access.Principal{}, errInvalid()
	}
	return b.People.Principal(ctx, g.Person, g.Client, g.Scopes)
}

// IsToken tells whether a text can be one of our access tokens.
func IsToken(text string) bool { return strings.HasPrefix(text, accessPrefix) }
