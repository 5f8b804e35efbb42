package restapi

import (
	"context"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Key is a key as the API shows it, without its secret.
type Key struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Profile string    `json:"profile"`
	Created time.Time `json:"created_at"`
}

// NewKey is a new key. No other answer has its text.
type NewKey struct {
	Key
	Text    string `json:"key"`
	Warning string `json:"warning,omitempty"`
}

func showKey(k store.Key) Key {
	return Key{ID: k.ID, Name: k.Name, Role: k.Role, Profile: k.Profile, Created: k.CreatedAt}
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
		keys = append(keys, showKey(k))
	}
	return keys, nil
}

// KeyConfig describes a new key.
type KeyConfig struct {
	Name    string      `json:"name"`
	Profile string      `json:"profile"` // "": default, or all for an admin
	Role    access.Role `json:"role"`
}

// CreateKey creates a key. Only its answer has the text.
func (a *API) CreateKey(ctx context.Context, who access.Principal, in KeyConfig) (NewKey, error) {
	if err := needAdmin(who); err != nil {
		return NewKey{}, err
	}
	text, row, err := access.NewKey(in.Name, in.Profile, in.Role, nil)
	if err == nil {
		err = a.mayCreate(who, row)
	}
	if err == nil {
		row.CreatedAt = time.Now().UTC().Truncate(time.Microsecond) // as the store keeps it
		err = a.Store.CreateKey(ctx, row)
	}
	if err == nil {
		err = a.Keys.Reload(ctx)
	}
	if err != nil {
		return NewKey{}, err
	}
	out := NewKey{Key: showKey(row), Text: text}
	if rows, err := a.Store.Keys(ctx); err == nil && !slices.ContainsFunc(rows, isAdmin) {
		out.Warning = "everybody needs a key now, and no key is an admin's; " +
			"make one with: toolfit keys create NAME --role admin --profile '*'"
	}
	return out, nil
}

func (a *API) mayCreate(who access.Principal, k store.Key) error {
	known := slices.ContainsFunc(a.Config().Profiles, func(p config.Profile) bool { return p.Name == k.Profile })
	if !known && k.Profile != access.AnyProfile {
		return fault.New(fault.BadRequest, "there is no profile %q", k.Profile).WithHint("add it to profiles in the configuration")
	}
	return mayHandOut(who, k)
}

// mayHandOut rejects keys with more rights than the caller's own.
func mayHandOut(who access.Principal, k store.Key) error {
	if !who.Has(k.Profile) {
		return fault.New(fault.Forbidden, "%s has profile %q and may not give out or take away keys of profile %q", who.Name, who.Profile,
			k.Profile)
	}
	return nil
}

func isAdmin(k store.Key) bool { return access.Role(k.Role) == access.Admin }

// DeleteKey deletes a key, but never the last admin key.
func (a *API) DeleteKey(ctx context.Context, who access.Principal, id string) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	a.keys.Lock()
	defer a.keys.Unlock()
	rows, err := a.Store.Keys(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(rows, func(k store.Key) bool { return k.ID == id })
	if at < 0 {
		return fault.New(fault.NotFound, "no key has the id %q", id)
	}
	if err := mayHandOut(who, rows[at]); err != nil {
		return err
	}
	others := slices.Delete(slices.Clone(rows), at, at+1)
	if isAdmin(rows[at]) && !slices.ContainsFunc(others, isAdmin) {
		return fault.New(fault.Conflict, "%s is the last admin key", rows[at].Name).
			WithHint("make another admin key first, or use: toolfit keys delete %s", id)
	}
	if err := a.Store.DeleteKey(ctx, id); err != nil {
		return err
	}
	return a.Keys.Reload(ctx) // it opens nothing from now on
}
