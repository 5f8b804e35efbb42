package console

import (
	"context"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Keys manages API keys.
type Keys interface {
	ListKeys(ctx context.Context, who access.Principal) ([]restapi.Key, error)
	CreateKey(ctx context.Context, who access.Principal, in restapi.KeyConfig) (restapi.NewKey, error)
	DeleteKey(ctx context.Context, who access.Principal, id string) error
}

func (c *Console) keysSection() section {
	return section{name: "keys", path: "/keys", key: "k", may: access.Principal.MayAdmin, routes: map[string]handler{
		"GET /keys":                 page("keys", whole, c.listKeys),
		"POST /keys":                c.createKey,
		"POST /keys/{id}/delete":    c.deleteKey,
		"GET /people":               page("people", whole, c.listPeople),
		"POST /people/{id}/disable": c.disablePerson,
		"POST /people/{id}/enable":  c.enablePerson,
	}}
}

type keysPage struct {
	Keys     []restapi.Key
	Profiles []string
	New      *restapi.NewKey // just created; its text is shown only once
	Input    input
}

func (c *Console) listKeys(v *visit) (keysPage, error) {
	keys, err := c.Keys.ListKeys(v.Context(), v.who)
	return keysPage{Keys: keys, Profiles: c.Profiles()}, err
}

func (c *Console) createKey(v *visit) (answer, error) {
	made, err := c.Keys.CreateKey(v.Context(), v.who, restapi.KeyConfig{
		Name: v.PostForm.Get("name"), Profile: v.PostForm.Get("profile"), Role: access.Role(v.PostForm.Get("role")),
	})
	in, ok := rejected(v, err)
	if err != nil && !ok {
		return answer{}, err
	}
	p, listErr := c.listKeys(v)
	p.Input = in
	if err == nil {
		p.New = &made
	}
	return answer{page: "keys", data: p}, listErr
}

func (c *Console) deleteKey(v *visit) (answer, error) {
	if err := c.Keys.DeleteKey(v.Context(), v.who, v.PathValue("id")); err != nil {
		return answer{}, err
	}
	return done("/keys", "keyDeleted")
}
