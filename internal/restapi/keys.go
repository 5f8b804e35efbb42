package restapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/store"
)

// Key is a key as the API shows it: without what could open anything.
type Key struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Profile string    `json:"profile"`
	Created time.Time `json:"created_at"`
}

// NewKey is the answer to the making of a key, the only one that has its text.
type NewKey struct {
	Key
	Text    string `json:"key"`
	Warning string `json:"warning,omitempty"`
}

func showKey(k store.Key) Key {
	return Key{ID: k.ID, Name: k.Name, Role: k.Role, Profile: k.Profile, Created: k.CreatedAt}
}

func (a *API) listKeys(r *http.Request, who access.Principal) (any, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	rows, err := a.Store.Keys(r.Context())
	if err != nil {
		return nil, err
	}
	keys := []Key{}
	for _, k := range rows {
		keys = append(keys, showKey(k))
	}
	return map[string]any{"keys": keys}, nil
}

func (a *API) createKey(r *http.Request, who access.Principal) (any, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	text, row, err := a.newKey(r)
	if err != nil {
		return nil, err
	}
	if err := a.Store.CreateKey(r.Context(), row); err != nil {
		return nil, err
	}
	out := NewKey{Key: showKey(row), Text: text}
	if err := a.Keys.Reload(r.Context()); err != nil {
		return nil, err
	}
	if rows, err := a.Store.Keys(r.Context()); err == nil && !slices.ContainsFunc(rows, isAdmin) {
		out.Warning = "everybody needs a key now, and no key is an admin's; make one with: toolfit keys create NAME --role admin --profile '*'"
	}
	return created{"/keys/" + row.ID, out}, nil
}

// newKey makes the key that the request asks for.
func (a *API) newKey(r *http.Request) (text string, row store.Key, err error) {
	data, err := a.body(r)
	if err != nil {
		return "", store.Key{}, err
	}
	in := struct {
		Name    string      `json:"name"`
		Profile string      `json:"profile"` // "": default, or all for an admin
		Role    access.Role `json:"role"`
	}{Role: access.Caller}
	if err := decode(data, &in); err != nil {
		return "", store.Key{}, fault.New(fault.BadRequest, "the body must be {\"name\", \"profile\", \"role\"}: %w", err)
	}
	text, row, err = access.NewKey(in.Name, in.Profile, in.Role, nil)
	if err != nil {
		return "", store.Key{}, err
	}
	known := slices.ContainsFunc(a.Config().Profiles, func(p config.Profile) bool { return p.Name == row.Profile })
	if !known && row.Profile != access.AnyProfile {
		return "", store.Key{}, fault.New(fault.BadRequest, "there is no profile %q", row.Profile).WithHint("add it to profiles in the configuration")
	}
	row.CreatedAt = time.Now().UTC().Truncate(time.Microsecond) // as the store keeps it
	return text, row, nil
}

func isAdmin(k store.Key) bool { return access.Role(k.Role) == access.Admin }

// deleteKey deletes a key, but never the last admin's: then nobody could make another.
func (a *API) deleteKey(r *http.Request, who access.Principal) (any, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	a.keys.Lock()
	defer a.keys.Unlock()
	rows, err := a.Store.Keys(r.Context())
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	at := slices.IndexFunc(rows, func(k store.Key) bool { return k.ID == id })
	if at < 0 {
		return nil, fault.New(fault.NotFound, "no key has the id %q", id)
	}
	others := slices.Delete(slices.Clone(rows), at, at+1)
	if isAdmin(rows[at]) && !slices.ContainsFunc(others, isAdmin) {
		return nil, fault.New(fault.Conflict, "%s is the last admin key", rows[at].Name).
			WithHint("make another admin key first, or use: toolfit keys delete %s", id)
	}
	if err := a.Store.DeleteKey(r.Context(), id); err != nil {
		return nil, err
	}
	if err := a.Keys.Reload(r.Context()); err != nil { // it opens nothing from now on
		return nil, err
	}
	return deleted{ID: id}, nil
}

// decode reads one JSON value and refuses members that nobody would look at.
func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}
