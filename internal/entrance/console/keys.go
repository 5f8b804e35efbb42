package console

import (
	"context"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Keys are the keys that let callers in.
type Keys interface {
	ListKeys(ctx context.Context, who access.Principal) ([]restapi.Key, error)
	CreateKey(ctx context.Context, who access.Principal, in restapi.KeyConfig) (restapi.NewKey, error)
	DeleteKey(ctx context.Context, who access.Principal, id string) error
}

func (c *Console) keysSection() section {
	return section{name: "keys", path: "/keys", key: "k", may: access.Principal.MayAdmin, routes: map[string]handler{
		"GET /keys":              func(v *visit) (answer, error) { return c.showKeys(v, keysPage{}) },
		"POST /keys":             c.createKey,
		"POST /keys/{id}/delete": c.deleteKey,
	}}
}

// keysPage is what the page of keys shows.
type keysPage struct {
	Keys     []restapi.Key
	Profiles []string
	New      *restapi.NewKey // just made; its text is shown this once
	Refused  refused         // why none was made
}

// showKeys shows the page with the keys that there are.
func (c *Console) showKeys(v *visit, p keysPage) (answer, error) {
	var err error
	if p.Keys, err = c.Gateway.ListKeys(v.Context(), v.who); err != nil {
		return answer{}, err
	}
	p.Profiles = c.Profiles()
	return show("keys", p)
}

func (c *Console) createKey(v *visit) (answer, error) {
	made, err := c.Gateway.CreateKey(v.Context(), v.who, restapi.KeyConfig{
		Name: v.PostForm.Get("name"), Profile: v.PostForm.Get("profile"), Role: access.Role(v.PostForm.Get("role")),
	})
	if why, fixable := refusal(v, err); err != nil && fixable {
		return c.showKeys(v, keysPage{Refused: why})
	}
	if err != nil {
		return answer{}, err
	}
	return c.showKeys(v, keysPage{New: &made})
}

func (c *Console) deleteKey(v *visit) (answer, error) {
	if err := c.Gateway.DeleteKey(v.Context(), v.who, v.PathValue("id")); err != nil {
		return answer{}, err
	}
	return done("/keys", "keyDeleted")
}
