package restapi

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Person is somebody who comes with tokens of an identity provider, or signs in there.
type Person struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind"` // user or service
	Issuer   string    `json:"issuer"`
	Subject  string    `json:"subject"`
	Role     string    `json:"role"` // as last seen, like the profile
	Profile  string    `json:"profile"`
	Created  time.Time `json:"created_at"`
	Seen     time.Time `json:"seen_at"`
	Disabled time.Time `json:"disabled_at,omitzero"`
}

// ShowPerson is a person as the API shows them.
func ShowPerson(p store.Person) Person {
	return Person{p.ID, p.Name, p.Kind, p.Issuer, p.Subject, p.Role, p.Profile, p.CreatedAt, p.SeenAt, p.DisabledAt}
}

// MaxPeople is how many people one answer lists.
const MaxPeople = 500

// ListPeople lists those whose id, subject or name begins with the text, those seen last first.
func (a *API) ListPeople(ctx context.Context, who access.Principal, text string) ([]Person, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	if !isText(text) {
		return nil, fault.New(fault.BadRequest, "the filter must be UTF-8 text without NUL")
	}
	rows, err := a.Store.People(ctx, text, MaxPeople)
	people := []Person{}
	for _, p := range rows {
		people = append(people, ShowPerson(p))
	}
	return people, err
}

// DisablePerson keeps somebody out: here at once, on other gateways within seconds.
func (a *API) DisablePerson(ctx context.Context, who access.Principal, id string) (Person, error) {
	return a.switchPerson(ctx, who, id, time.Now())
}

// EnablePerson lets somebody in again.
func (a *API) EnablePerson(ctx context.Context, who access.Principal, id string) (Person, error) {
	return a.switchPerson(ctx, who, id, time.Time{})
}

func (a *API) switchPerson(ctx context.Context, who access.Principal, id string, disabled time.Time) (Person, error) {
	if err := needAdmin(who); err != nil {
		return Person{}, err
	}
	p, err := a.Store.Person(ctx, id)
	switch {
	case err != nil:
		return Person{}, err
	case p.ID == who.ID:
		return Person{}, fault.New(fault.Conflict, "this is your own account").WithHint("ask another administrator")
	case !who.HasAll(p.Profile):
		return Person{}, fault.New(fault.Forbidden, "%s has profile %q and may not disable or enable people of profile %q",
			who.Name, who.Profile, p.Profile)
	}
	if p, err = a.Store.DisablePerson(ctx, id, disabled); err != nil {
		return Person{}, err
	}
	return ShowPerson(p), a.Keys.Reload(ctx)
}
