package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	minFresh   = 5 * time.Minute  // how long keys are used without a look, at least
	maxFresh   = time.Hour        // and at most, whatever the provider says
	lateBy     = 5 * time.Minute  // after which a token waits for the look
	lastGood   = 24 * time.Hour   // how long keys are used while the provider is away
	unknownFor = 30 * time.Second // between looks for keys that are not known
	retryAfter = 5 * time.Second  // between looks at a provider that is away
	maxKeys    = 64
)

// keySet is the keys of a provider. Reading takes no lock: it uses an immutable snapshot.
type keySet struct {
	fetch func(ctx context.Context) ([]jose.JSONWebKey, time.Duration, error)
	now   func() time.Time
	// changed is called when a key has been withdrawn.
	changed func()

	snap atomic.Pointer[keys]

	fetching sync.Mutex // held while fetching; guards what follows
	searched time.Time  // when a key was looked for that is not known
	tried    time.Time  // when the last fetch ended
	failure  error      // its error
	behind   atomic.Bool
	away     atomic.Bool // the last fetch failed
}

type keys struct {
	list  []jose.JSONWebKey
	at    time.Time // when they were fetched
	fresh time.Duration
}

// find returns the key for a signature. Without an id there must be one that fits, and no more.
func (k *keySet) find(ctx context.Context, id string, alg jose.SignatureAlgorithm) (*jose.JSONWebKey, error) {
	snap, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	key := snap.find(id, alg)
	if key == nil && k.search(ctx) {
		key = k.snap.Load().find(id, alg)
	}
	if key == nil {
		return nil, failed("key", "the provider has no key %.100q for %s", id, alg)
	}
	return key, nil
}

func (s *keys) find(id string, alg jose.SignatureAlgorithm) *jose.JSONWebKey {
	var found *jose.JSONWebKey
	for i := range s.list {
		key := &s.list[i]
		if id != "" && key.KeyID != id || !suits(key, alg) {
			continue
		}
		if found != nil {
			return nil
		}
		found = key
	}
	return found
}

// suits tells whether a key is meant for signatures of this kind.
func suits(key *jose.JSONWebKey, alg jose.SignatureAlgorithm) bool {
	if key.Use != "" && key.Use != "sig" || key.Algorithm != "" && key.Algorithm != string(alg) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return (strings.HasPrefix(string(alg), "RS") || strings.HasPrefix(string(alg), "PS")) && public.N.BitLen() >= 2048
	case *ecdsa.PublicKey:
		bits := map[jose.SignatureAlgorithm]int{jose.ES256: 256, jose.ES384: 384, jose.ES512: 521}[alg]
		return public.Curve.Params().BitSize == bits
	case ed25519.PublicKey:
		return alg == jose.EdDSA
	}
	return false
}

// current returns the keys to use. They are renewed in the background, or, when that is late, before they
// are used. While the provider is away, the old ones are used for a day, and nobody waits for it.
func (k *keySet) current(ctx context.Context) (*keys, error) {
	snap := k.snap.Load()
	now := k.now()
	switch {
	case snap != nil && now.Sub(snap.at) < snap.fresh:
		return snap, nil
	case snap != nil && (now.Sub(snap.at) < snap.fresh+lateBy || now.Sub(snap.at) < lastGood && k.away.Load()):
		if k.behind.CompareAndSwap(false, true) {
			go func() {
				defer k.behind.Store(false)
				k.renew(context.WithoutCancel(ctx), snap)
			}()
		}
		return snap, nil
	}
	err := k.renew(ctx, snap)
	if snap = k.snap.Load(); snap != nil && now.Sub(snap.at) < lastGood {
		return snap, nil
	}
	return nil, err
}

// renew fetches the keys, unless somebody else did meanwhile, or the provider was away just now.
func (k *keySet) renew(ctx context.Context, old *keys) error {
	k.fetching.Lock()
	defer k.fetching.Unlock()
	if k.snap.Load() != old {
		return nil
	}
	if k.failure != nil && k.now().Sub(k.tried) < retryAfter {
		return k.failure
	}
	return k.load(ctx)
}

// search fetches the keys because one is not known. False: that was done a short time ago.
func (k *keySet) search(ctx context.Context) bool {
	k.fetching.Lock()
	defer k.fetching.Unlock()
	now := k.now()
	if now.Sub(k.searched) < unknownFor || now.Sub(k.snap.Load().at) < unknownFor {
		return false
	}
	k.searched = now
	return k.load(ctx) == nil
}

// load fetches the keys; the caller holds fetching.
func (k *keySet) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	now := k.now()
	list, fresh, err := k.fetch(ctx)
	k.failure = err
	k.tried = k.now() // not before: one that is silent takes as long as we wait for it
	k.away.Store(err != nil)
	if err != nil {
		return err
	}
	old := k.snap.Swap(&keys{list, now, min(max(fresh, minFresh), maxFresh)})
	if old != nil {
		k.changed()
	}
	return nil
}

// parseKeys reads a key set, and leaves out keys that are of no use for us.
func parseKeys(raw []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, errors.New("it is not a key set")
	}
	if len(set.Keys) > maxKeys {
		return nil, errors.New("it has more than " + strconv.Itoa(maxKeys) + " keys")
	}
	var list []jose.JSONWebKey
	for _, one := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) != nil || !key.Valid() || !key.IsPublic() {
			continue // of a kind that is not known, or not public
		}
		list = append(list, key)
	}
	if len(list) == 0 {
		return nil, errors.New("it has no keys")
	}
	return list, nil
}

// maxAge reads how long an answer may be used.
func maxAge(h http.Header) time.Duration {
	for part := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		seconds, err := strconv.Atoi(value)
		if strings.EqualFold(name, "max-age") && err == nil && seconds < int(maxFresh/time.Second) {
			return time.Duration(seconds) * time.Second
		}
	}
	return maxFresh
}
