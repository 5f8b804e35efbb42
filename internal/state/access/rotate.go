package access

import (
	"fmt"
	"io"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// DefaultOverlap is how long a secret works on after it was replaced.
const DefaultOverlap = "24h"

const (
	never    = "never" // as an expiry: none
	maxYears = 100     // that a key lasts, if it ends
)

// ParseExpiry reads when a key ends: 90d or 12h from now, a day (2027-01-31), which is the last one, a time, or
// never, which is zero and the same as "".
func ParseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" || text == never {
		return time.Time{}, nil
	}
	at, ok := config.ParseTime(text)
	if span, isSpan := config.ParseDuration(text); isSpan {
		at = now.Add(span)
	} else if !ok {
		return time.Time{}, fault.New(fault.BadRequest, "%.100q is no time at which a key can end", text).
			WithHint("use 90d or 12h, a day such as 2027-01-31, or never")
	} else if len(text) == len(time.DateOnly) {
		at = at.AddDate(0, 0, 1)
	}
	switch {
	case !at.After(now):
		return time.Time{}, fault.New(fault.BadRequest, "the key would have ended already: %.100q is in the past", text)
	case at.After(now.AddDate(maxYears, 0, 1)):
		return time.Time{}, fault.New(fault.BadRequest, "%.100q is more than %d years away", text, maxYears).WithHint("use never")
	}
	return at.UTC().Truncate(time.Microsecond), nil // as the store has it
}

// Rotation says how the secret of a key is replaced.
type Rotation struct {
	Overlap string // how long the old one works on, such as 24h or 0; "": DefaultOverlap
	Expires string // when the key ends, as ParseExpiry reads it; "": as before
}

// Rotate makes another secret for a key, whose id stays, and with it everything that it owns. The text is shown
// to its user once; the row goes to the store. A nil random means crypto/rand.
func Rotate(k store.Key, how Rotation, now time.Time, random io.Reader) (text string, row store.Key, err error) {
	if k.Origin != "" {
		return "", store.Key{}, fault.New(fault.Conflict, "the secret of key %s is in the variable %s", k.Name, k.Origin).
			WithHint("change it there, and restart the gateways")
	}
	if how.Overlap == "" {
		how.Overlap = DefaultOverlap
	}
	overlap, ok := config.ParseDuration(how.Overlap)
	if !ok {
		return "", store.Key{}, fault.New(fault.BadRequest, "%.100q is not how long the old secret works on", how.Overlap).
			WithHint("use 24h, 7d, or 0 to end it at once")
	}
	expired := !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt)
	switch {
	case how.Expires != "":
		if k.ExpiresAt, err = ParseExpiry(how.Expires, now); err != nil {
			return "", store.Key{}, err
		}
	case expired:
		return "", store.Key{}, fault.New(fault.BadRequest, "the key %s has expired", k.Name).
			WithHint("say how long the new secret works, such as 90d or never")
	}
	secret, err := randomText(random, secretBytes)
	if err != nil {
		return "", store.Key{}, fmt.Errorf("rotate key %s: %w", k.Name, err)
	}
	k.OldHash, k.OldUntil = nil, time.Time{}
	if overlap > 0 && !expired { // what has expired does not come back
		k.OldHash, k.OldUntil = k.Hash, now.Add(overlap).UTC().Truncate(time.Microsecond)
	}
	hash := hashOf(secret)
	k.Hash = hash[:]
	return keyText(k.ID, secret), k, nil
}
