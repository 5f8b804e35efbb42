package restapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Key is a key as the API shows it, without its secret.
type Key struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Role     string    `json:"role"`
	Profile  string    `json:"profile"`  // the first, which /mcp serves
	Profiles []string  `json:"profiles"` // all
	Created  time.Time `json:"created_at"`
	Expires  time.Time `json:"expires_at,omitzero"`       // zero: never
	Used     time.Time `json:"used_at,omitzero"`          // to the minute
	OldUntil time.Time `json:"old_secret_until,omitzero"` // zero: only the newest secret works
	Variable string    `json:"variable,omitempty"`        // the one that has its text
}

// HasExpired reports whether the key opens nothing any more.
func (k Key) HasExpired() bool { return !k.Expires.IsZero() && !time.Now().Before(k.Expires) }

// NewKey is a key with its text: it is new, or has a new secret. No other answer has the text.
type NewKey struct {
	Key
	Text    string `json:"key"`
	Warning string `json:"warning,omitempty"`
}

// ShowKey is a key of the store.
func ShowKey(k store.Key) Key {
	profiles := strings.Split(k.Profile, ",")
	shown := Key{
		ID: k.ID, Name: k.Name, Role: k.Role, Profile: profiles[0], Profiles: profiles, Created: k.CreatedAt, Expires: k.ExpiresAt,
		Used: k.UsedAt, Variable: k.Origin,
	}
	if time.Now().Before(k.OldUntil) {
		shown.OldUntil = k.OldUntil
	}
	return shown
}

func (a *API) ListKeys(ctx context.Context, who access.Principal) ([]Key, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	rows, err := a.Store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	keys := []Key{}
	for _, k := range rows {
		keys = append(keys, ShowKey(k))
	}
	return keys, nil
}

// KeyConfig describes a new key.
type KeyConfig struct {
	Name     string      `json:"name"`
	Profile  string      `json:"profile"`  // "": default, or all for an admin
	Profiles []string    `json:"profiles"` // in place of Profile: several, the first of which /mcp serves
	Role     access.Role `json:"role"`
	Expires  string      `json:"expires"` // as access.ParseExpiry reads it
}

// CreateKey creates a key. Only its answer has the text.
func (a *API) CreateKey(ctx context.Context, who access.Principal, in KeyConfig) (NewKey, error) {
	if err := needAdmin(who); err != nil {
		return NewKey{}, err
	}
	if len(in.Profiles) > 0 && in.Profile != "" {
		return NewKey{}, fault.New(fault.BadRequest, "profile and profiles are both given").WithHint("leave profile out")
	}
	if len(in.Profiles) > 0 {
		in.Profile = strings.Join(in.Profiles, ",")
	}
	now := time.Now()
	text, row, err := access.NewKey(in.Name, in.Profile, in.Role, nil)
	if err == nil {
		row.ExpiresAt, err = access.ParseExpiry(in.Expires, now)
	}
	if err == nil {
		err = a.mayCreate(who, row)
	}
	if err == nil {
		row.CreatedAt = now.UTC().Truncate(time.Microsecond) // as the store keeps it
		err = a.Store.CreateKey(ctx, row)
	}
	if err == nil {
		err = a.Keys.Reload(ctx)
	}
	if err != nil {
		return NewKey{}, err
	}
	out := NewKey{Key: ShowKey(row), Text: text}
	if rows, err := a.Store.Keys(ctx); err == nil && !slices.ContainsFunc(rows, isAdmin) {
		out.Warning = "everybody needs a key now, and no key is an admin's; " +
			"make one with: toolfit keys create NAME --role admin --profile '*'"
	}
	return out, nil
}

func (a *API) mayCreate(who access.Principal, k store.Key) error {
	for name := range strings.SplitSeq(k.Profile, ",") {
		known := slices.ContainsFunc(a.Config().Profiles, func(p config.Profile) bool { return p.Name == name })
		if !known && name != access.AnyProfile {
			return fault.New(fault.BadRequest, "there is no profile %q", name).WithHint("add it to profiles in the configuration")
		}
	}
	return mayHandOut(who, k)
}

// mayHandOut rejects keys with more rights than the caller's own.
func mayHandOut(who access.Principal, k store.Key) error {
	if !who.HasAll(k.Profile) {
		return fault.New(fault.Forbidden, "%s has profile %q and may not give out or take away keys of profile %q", who.Name, who.Profile,
			k.Profile)
	}
	return nil
}

// isAdmin reports whether the key opens everything to an administrator.
func isAdmin(k store.Key) bool {
	return access.Role(k.Role) == access.Admin && !ShowKey(k).HasExpired()
}

// findKey finds a key that the caller may give out or take away, for a change: the caller holds a.keys.
func (a *API) findKey(ctx context.Context, who access.Principal, id string) (k store.Key, others []store.Key, err error) {
	rows, err := a.Store.Keys(ctx)
	if err != nil {
		return store.Key{}, nil, err
	}
	at := slices.IndexFunc(rows, func(k store.Key) bool { return k.ID == id })
	if at < 0 {
		return store.Key{}, nil, fault.New(fault.NotFound, "no key has the id %q", id)
	}
	return rows[at], slices.Delete(slices.Clone(rows), at, at+1), mayHandOut(who, rows[at])
}

// KeyRotation says how the secret of a key is replaced, as access.Rotation does.
type KeyRotation struct {
	Overlap string `json:"overlap"`
	Expires string `json:"expires"`
}

// RotateKey replaces the secret of a key. Only its answer has the text.
func (a *API) RotateKey(ctx context.Context, who access.Principal, id string, how KeyRotation) (NewKey, error) {
	if err := needAdmin(who); err != nil {
		return NewKey{}, err
	}
	a.keys.Lock()
	defer a.keys.Unlock()
	k, _, err := a.findKey(ctx, who, id)
	if err != nil {
		return NewKey{}, err
	}
	text, row, err := access.Rotate(k, access.Rotation(how), time.Now(), nil)
	if err == nil {
		err = a.Store.RotateKey(ctx, row, k.Hash)
	}
	if err == nil {
		err = a.Keys.Reload(ctx)
	}
	if err != nil {
		return NewKey{}, err
	}
	return NewKey{Key: ShowKey(row), Text: text}, nil
}

// DeleteKey deletes a key, but never the last admin key. It warns if the key comes back.
func (a *API) DeleteKey(ctx context.Context, who access.Principal, id string) (warning string, err error) {
	if err := needAdmin(who); err != nil {
		return "", err
	}
	a.keys.Lock()
	defer a.keys.Unlock()
	k, others, err := a.findKey(ctx, who, id)
	if err != nil {
		return "", err
	}
	if isAdmin(k) && !slices.ContainsFunc(others, isAdmin) {
		return "", fault.New(fault.Conflict, "%s is the last admin key", k.Name).
			WithHint("make another admin key first, or use: toolfit keys delete %s", id)
	}
	ended, err := a.Store.DeleteKey(ctx, id)
	if err != nil {
		return "", err
	}
	a.Connections.Deleted(ended)
	return ComesBack(k), a.Keys.Reload(ctx) // it opens nothing from now on
}

// ComesBack warns of a deleted key that a variable has; "" if none does.
func ComesBack(k store.Key) string {
	if k.Origin == "" {
		return ""
	}
	return "remove " + k.Origin + ", too: a gateway that starts with it stores the key again"
}
