package console

import (
	"context"
	"slices"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Keys are the API keys.
type Keys interface {
	ListKeys(ctx context.Context, who access.Principal) ([]restapi.Key, error)
}

// KeyChanges changes keys; only administrators may.
type KeyChanges interface {
	CreateKey(ctx context.Context, who access.Principal, in restapi.KeyConfig) (restapi.NewKey, error)
	RotateKey(ctx context.Context, who access.Principal, id string, how restapi.KeyRotation) (restapi.NewKey, error)
	DeleteKey(ctx context.Context, who access.Principal, id string) (warning string, err error)
}

func (c *Console) keysSection() section {
	return section{name: "keys", path: "/keys", key: "k", may: access.Principal.MayAdmin, routes: map[string]handler{
		"GET /keys":                 page("keys", whole, c.listKeys),
		"POST /keys":                c.createKey,
		"POST /keys/{id}/rotate":    c.rotateKey,
		"POST /keys/{id}/delete":    c.deleteKey,
		"GET /people":               page("people", whole, c.listPeople),
		"POST /people/{id}/disable": c.disablePerson,
		"POST /people/{id}/enable":  c.enablePerson,
		"GET /audit":                page("audit", whole, c.listAudit),
	}}
}

type keysPage struct {
	Keys     []restapi.Key
	Profiles []string
	New      *restapi.NewKey // just created or rotated; its text is shown only once
	Rotated  bool            // New has a new secret
	Out      bool            // New is the first key, and ends the visitor's sign-in, which needed none
	Rotate   *restapi.Key    // gets a new secret if the person wants it
	Input    input
}

// Spans are the times for which forms offer keys.
func (keysPage) Spans() []string { return []string{"30d", "90d", "365d"} }

// Overlaps are the times for which an old secret may work on.
func (keysPage) Overlaps() []string { return []string{access.DefaultOverlap, "0", "1h", "7d"} }

func (c *Console) listKeys(v *visit) (keysPage, error) {
	keys, err := c.Keys.ListKeys(v.Context(), v.who)
	p := keysPage{Keys: keys, Profiles: c.Profiles()}
	p.choose(v.URL.Query().Get("rotate"))
	return p, err
}

// choose asks how the key gets a new secret; an unknown one may have been deleted meanwhile.
func (p *keysPage) choose(id string) {
	if at := slices.IndexFunc(p.Keys, func(k restapi.Key) bool { return k.ID == id }); at >= 0 {
		p.Rotate = &p.Keys[at]
	}
}

func (c *Console) createKey(v *visit) (answer, error) {
	in := restapi.KeyConfig{
		Name: v.PostForm.Get("name"), Profile: v.PostForm.Get("profile"), Role: access.Role(v.PostForm.Get("role")),
		Expires: v.PostForm.Get("expires"),
	}
	if more := v.PostForm["more"]; len(more) > 0 {
		in.Profiles = severalProfiles(in.Profile, in.Role, more)
		in.Profile = ""
	}
	made, err := c.KeyChanges.CreateKey(v.Context(), v.who, in)
	return c.showKey(v, keysPage{New: &made}, err)
}

// severalProfiles are the first profile, "" for the one that the role usually has, and the others.
func severalProfiles(first string, role access.Role, more []string) []string {
	switch {
	case first == "" && role == access.Admin:
		first = access.AnyProfile
	case first == "":
		first = config.DefaultProfile
	}
	all := []string{first}
	for _, p := range more {
		if p != first {
			all = append(all, p)
		}
	}
	return all
}

func (c *Console) rotateKey(v *visit) (answer, error) {
	made, err := c.KeyChanges.RotateKey(v.Context(), v.who, v.PathValue("id"), restapi.KeyRotation{
		Overlap: v.PostForm.Get("overlap"), Expires: v.PostForm.Get("expires"),
	})
	return c.showKey(v, keysPage{New: &made, Rotated: true}, err)
}

// showKey shows the page with a key's new text, or with the form that was not accepted.
func (c *Console) showKey(v *visit, done keysPage, err error) (answer, error) {
	in, ok := rejected(v, err)
	if err != nil && !ok {
		return answer{}, err
	}
	p, listErr := c.listKeys(v)
	p.Input = in
	if err == nil {
		p.New = done.New
		p.Rotated = done.Rotated
		p.Out = v.who == access.Owner()
	} else if done.Rotated {
		p.choose(v.PathValue("id"))
	}
	return answer{page: "keys", data: p}, listErr
}

func (c *Console) deleteKey(v *visit) (answer, error) {
	warning, err := c.KeyChanges.DeleteKey(v.Context(), v.who, v.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if warning != "" {
		return done("/keys", "keyComesBack")
	}
	return done("/keys", "keyDeleted")
}
