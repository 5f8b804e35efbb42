// Package identity checks the tokens of identity providers and says who they are about and what these may
// do. Which check a token fails is for the log of the gateway; its sender learns only that it is not valid.
//
//	v := identity.New(cfg.Identity, nil)
//	who, err := v.Admit(ctx, token, "https://tools.example.com/mcp")
package identity

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	skew          = time.Minute // by which the clocks of others may differ
	rememberFor   = time.Minute // a token that was checked
	opaqueFor     = 30 * time.Second
	refusedFor    = 5 * time.Second // an opaque token that its provider does not know
	maxRemembered = 10_000          // tokens
	maxToken      = 8 << 10
	maxClaims     = 24 << 10 // of an opaque token; they must fit into a header between replicas
)

// Options change a Verifier. Nil means all zero.
type Options struct {
	Base   string           // the address whose tokens are good for every resource; "": there is none
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: discard
	People People           // nil: nobody is known, and all may come in
	// Keep is told the ID token of everybody who has signed in on a page, and when it expires; nil: nobody is.
	Keep func(ctx context.Context, person, issuer, token string, expires time.Time)
}

// People knows everybody who was here before.
type People interface {
	CheckPerson(ctx context.Context, id, name string) error // refuses the disabled
	Person(ctx context.Context, id string) (store.Person, error)
	SavePerson(ctx context.Context, p store.Person) error
	Seen(p store.Person) // it is saved soon
}

// Verifier checks tokens. It may be used concurrently.
type Verifier struct {
	issuers []*issuer
	base    string // the address of all resources
	now     func() time.Time
	log     *slog.Logger
	people  People
	keep    func(ctx context.Context, person, issuer, token string, expires time.Time)

	known, refused memory // refused: opaque tokens alone, for which their provider was asked

	logging sync.Mutex // guards what follows
	minute  time.Time  // since when refusals are counted
	logged  int        // refusals
}

// memory remembers tokens by their hash.
type memory struct {
	mu   sync.RWMutex
	byID map[[sha256.Size]byte]remembered
}

type remembered struct {
	id    *Identity // nil: refused
	until time.Time
}

func (m *memory) find(sum [sha256.Size]byte, now time.Time) (*Identity, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok := m.byID[sum]
	return r.id, ok && now.Before(r.until)
}

func (m *memory) add(sum [sha256.Size]byte, r remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil || len(m.byID) >= maxRemembered {
		m.byID = map[[sha256.Size]byte]remembered{} // each is checked again, once
	}
	m.byID[sum] = r
}

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.byID)
}

// New makes a Verifier. Nothing is fetched before the first token comes.
func New(providers []config.Identity, opts *Options) *Verifier {
	if opts == nil {
		opts = &Options{}
	}
	v := &Verifier{base: opts.Base, now: opts.Now, log: opts.Logger, people: opts.People, keep: opts.Keep}
	if v.now == nil {
		v.now = time.Now
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	for i := range providers {
		v.issuers = append(v.issuers, newIssuer(&providers[i], v))
	}
	return v
}

// Forget makes every token be checked anew.
func (v *Verifier) Forget() {
	v.known.clear()
	v.refused.clear()
}

// Admit returns who sends the token, if it was issued for the resource, the address of what is asked for.
func (v *Verifier) Admit(ctx context.Context, token, resource string) (access.Principal, error) {
	id, err := v.Identify(ctx, token)
	if err != nil {
		return access.Principal{}, err
	}
	if err := id.checkAudience(resource); err != nil {
		v.complain(err)
		return access.Principal{}, errInvalid()
	}
	if err := id.checkScope(); err != nil {
		return access.Principal{}, err
	}
	if id.denied == nil && v.people != nil {
		if err := v.people.CheckPerson(ctx, id.principal.ID, id.principal.Name); err != nil {
			return access.Principal{}, err
		}
	}
	return id.principal, id.denied
}

// maxLogged is how many refusals are logged in a minute: strangers must not fill the log.
const maxLogged = 20

// complain logs why a token is refused.
func (v *Verifier) complain(err error) {
	v.logging.Lock()
	defer v.logging.Unlock()
	now := v.now()
	if now.Sub(v.minute) >= time.Minute {
		if left := v.logged - maxLogged; left > 0 {
			v.log.Warn("more tokens were refused", "count", left)
		}
		v.minute = now
		v.logged = 0
	}
	v.logged++
	if v.logged <= maxLogged {
		v.log.Warn("token refused", "error", err)
	}
}

// errInvalid is all that the sender of a wrong token learns.
func errInvalid() error {
	return fault.New(fault.Unauthorized, "the token is not valid here").
		WithHint("sign in again; an administrator can see why with: toolfit auth explain -")
}

// Identify returns who a token is about, wherever it is for.
func (v *Verifier) Identify(ctx context.Context, token string) (*Identity, error) {
	sum := hashed(token)
	now := v.now()
	if id, ok := v.known.find(sum, now); ok {
		return id, nil
	}
	if _, ok := v.refused.find(sum, now); ok {
		return nil, errInvalid()
	}
	id, err := v.check(ctx, token, nil)
	if fault.Is(err, fault.UpstreamDown) {
		return nil, err
	}
	if err != nil {
		v.complain(err)
		if isOpaque(token) {
			v.refused.add(sum, remembered{until: now.Add(refusedFor)})
		}
		return nil, errInvalid()
	}
	until := now.Add(rememberFor)
	if id.opaque {
		until = now.Add(opaqueFor)
	}
	if id.Expires.Before(until) {
		until = id.Expires
	}
	v.known.add(sum, remembered{id, until})
	if id.denied == nil && v.people != nil {
		v.people.Seen(person(&id.principal, now))
	}
	return id, nil
}

// hashed copies tokens of the usual length to the stack, so that hashing them does not allocate.
func hashed(token string) [sha256.Size]byte {
	var buf [2048]byte
	if len(token) > len(buf) {
		return sha256.Sum256([]byte(token))
	}
	n := copy(buf[:], token)
	return sha256.Sum256(buf[:n])
}

// issuer returns the provider whose tokens name it so; nil if there is none.
func (v *Verifier) issuer(name string) *issuer {
	i := slices.IndexFunc(v.issuers, func(i *issuer) bool { return i.cfg.Issuer == name })
	if i < 0 {
		return nil
	}
	return v.issuers[i]
}
