package restapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Value is something that each person gives for themselves, and servers get in headers. It is never shown.
type Value struct {
	Name    string          `json:"name"`
	Servers []tool.ServerID `json:"servers"` // that need it
	Given   bool            `json:"given"`
	Updated time.Time       `json:"updated_at,omitzero"`
}

// ListValues lists what the servers that the caller may use need from each person, and whether the caller has given it.
func (a *API) ListValues(ctx context.Context, who access.Principal) ([]Value, error) {
	rows, err := a.Store.Personals(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	all := []Value{}
	for _, s := range a.Config().Servers {
		if !a.mayUse(who, s.ID) {
			continue
		}
		for _, name := range neededBy(&s) {
			i := slices.IndexFunc(all, func(v Value) bool { return v.Name == name })
			if i < 0 {
				i = len(all)
				v := Value{Name: name}
				at := slices.IndexFunc(rows, func(p store.Personal) bool { return p.Name == oauth.ValueName(name) })
				if at >= 0 {
					v.Given = true
					v.Updated = rows[at].UpdatedAt
				}
				all = append(all, v)
			}
			all[i].Servers = append(all[i].Servers, s.ID)
		}
	}
	slices.SortFunc(all, func(a, b Value) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// neededBy are the names of the values that a server needs from each person.
func neededBy(s *config.Server) (names []string) {
	for _, value := range s.Headers {
		for _, name := range config.UserValues(value) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// maxValue limits a value: it is sent in a header.
const maxValue = 8 << 10

// SetValue keeps a value of the caller's for the headers of their own calls.
func (a *API) SetValue(ctx context.Context, who access.Principal, name, value string) error {
	servers, err := a.needing(ctx, who, name)
	if err != nil {
		return err
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return fault.New(fault.BadRequest, "the value is empty").WithHint("to remove it, run: toolfit connections unset %s", name)
	case len(value) > maxValue:
		return fault.New(fault.TooLarge, "the value is longer than %d bytes", maxValue)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fault.New(fault.BadRequest, "the value has a line break or control character, which a header cannot contain")
	}
	if err := a.Store.SavePersonal(ctx, store.Personal{Owner: who.ID, Name: oauth.ValueName(name), Data: []byte(value)}); err != nil {
		return err
	}
	a.valueChanged(who, servers)
	return nil
}

// RemoveValue forgets a value of the caller's.
func (a *API) RemoveValue(ctx context.Context, who access.Principal, name string) error {
	err := a.Store.DeletePersonal(ctx, who.ID, oauth.ValueName(name))
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, "you have given no value of %s", name)
	}
	if err != nil {
		return err
	}
	var servers []tool.ServerID
	for _, s := range a.Config().Servers {
		if slices.Contains(neededBy(&s), name) {
			servers = append(servers, s.ID)
		}
	}
	a.valueChanged(who, servers)
	return nil
}

// needing are the servers that need a value of the caller's.
func (a *API) needing(ctx context.Context, who access.Principal, name string) ([]tool.ServerID, error) {
	switch {
	case who == access.Local():
		return nil, who.Forbidden("%s may not give values: any program on this machine could use them")
	case !who.MayCall():
		return nil, who.Forbidden("%s may not call tools")
	}
	all, err := a.ListValues(ctx, who)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, v := range all {
		if v.Name == name {
			return v.Servers, nil
		}
		names = append(names, v.Name)
	}
	err = fault.New(fault.NotFound, "no server that you may use needs a value %q", name)
	if len(names) > 0 {
		err = fault.New(fault.NotFound, "no server that you may use needs a value %q", name).WithHint("there are: %s", strings.Join(names, ", "))
	}
	return nil, err
}

// valueChanged makes servers see a person's value from now on: sessions may have been opened with the one before.
func (a *API) valueChanged(who access.Principal, servers []tool.ServerID) {
	a.Connections.PersonChanged()
	for _, id := range servers {
		a.Pool.EndOwner(id, who.ID)
		a.Pool.Retry(id)
	}
}

func (a *API) listValues(q *request) (any, error) {
	found, err := a.ListValues(q.Context(), q.who)
	return map[string]any{"values": found}, err
}

func (a *API) setValue(q *request) (any, error) {
	var in struct {
		Value string `json:"value"`
	}
	if err := q.decode(&in, `{"value"}`); err != nil {
		return nil, err
	}
	err := a.SetValue(q.Context(), q.who, q.id(), in.Value)
	return map[string]string{"given": q.id()}, err
}
