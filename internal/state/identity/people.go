package identity

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// person is how a principal is stored: without groups, which a token may leave out.
func person(who *access.Principal, now time.Time) store.Person {
	return store.Person{
		ID: who.ID, Issuer: who.Token.Issuer, Subject: who.Token.Subject, Kind: string(who.Kind), Name: who.Name,
		Role: string(who.Role), Profile: who.Profile, SeenAt: now,
	}
}

// SignedIn notes who has signed in on a page, with the groups that the provider has told. Whoever is disabled or
// would have no rights with this client and these scopes is refused.
func (v *Verifier) SignedIn(ctx context.Context, id *Identity, client string, scopes []string) (store.Person, error) {
	if id.ungrouped {
		return store.Person{}, id.denied
	}
	as := *id
	as.Client = client
	as.Scopes = scopes
	who, err := id.issuer.principal(&as, nil)
	if err != nil {
		return store.Person{}, err
	}
	if err := v.people.CheckPerson(ctx, who.ID, who.Name); err != nil {
		return store.Person{}, err
	}
	p := person(&who, v.now())
	p.Groups = append([]string{}, id.Groups...)
	if err := v.people.SavePerson(ctx, p); err != nil {
		return p, err
	}
	if v.keep != nil && id.idToken != "" {
		v.keep(ctx, p.ID, p.Issuer, id.idToken, id.idUntil)
	}
	return p, nil
}

// Principal returns what somebody who has signed in on a page may do now, by the groups of that time and the
// mappings of today. The client is the one that acts for them, and may be "".
func (v *Verifier) Principal(ctx context.Context, personID, client string, scopes []string) (access.Principal, error) {
	p, err := v.people.Person(ctx, personID)
	switch {
	case fault.Is(err, fault.NotFound):
		return access.Principal{}, errInvalid()
	case err != nil:
		return access.Principal{}, err
	}
	i := v.issuer(p.Issuer)
	if i == nil {
		return access.Principal{}, errInvalid()
	}
	id := &Identity{Name: p.Name, Service: p.Kind == string(access.KindService), issuer: i}
	id.Identity = access.Identity{Issuer: p.Issuer, Subject: p.Subject, Client: client, Groups: p.Groups, Scopes: scopes}
	who, err := i.principal(id, nil)
	if err != nil {
		return access.Principal{}, err
	}
	return who, v.people.CheckPerson(ctx, who.ID, who.Name)
}
