package console

import (
	"context"
	"strings"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// People manages those who sign in with an identity provider.
type People interface {
	ListPeople(ctx context.Context, who access.Principal, text string) ([]restapi.Person, error)
	DisablePerson(ctx context.Context, who access.Principal, id string) (restapi.Person, error)
	EnablePerson(ctx context.Context, who access.Principal, id string) (restapi.Person, error)
}

type peoplePage struct {
	Query  string
	People []restapi.Person
	Most   bool // there may be more
	Self   string
}

func (c *Console) listPeople(v *visit) (peoplePage, error) {
	text := strings.TrimSpace(v.URL.Query().Get("q"))
	people, err := c.People.ListPeople(v.Context(), v.who, text)
	return peoplePage{text, people, len(people) == restapi.MaxPeople, v.who.ID}, err
}

func (c *Console) disablePerson(v *visit) (answer, error) {
	_, err := c.People.DisablePerson(v.Context(), v.who, v.PathValue("id"))
	return answer{location: "/people", said: "personDisabled"}, err
}

func (c *Console) enablePerson(v *visit) (answer, error) {
	_, err := c.People.EnablePerson(v.Context(), v.who, v.PathValue("id"))
	return answer{location: "/people", said: "personEnabled"}, err
}
