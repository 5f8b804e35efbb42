package console

import (
	"context"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Connections are sign-ins to servers. Nobody sees their tokens.
type Connections interface {
	ListConnections(ctx context.Context, who access.Principal, all bool) ([]restapi.Connection, error)
	ReadConnection(ctx context.Context, who access.Principal, id tool.ServerID) (restapi.Connection, error)
	EndConnection(ctx context.Context, who access.Principal, id tool.ServerID, owner string) error
}

// Values are what people give for the headers of their own calls. Nobody sees them.
type Values interface {
	ListValues(ctx context.Context, who access.Principal) ([]restapi.Value, error)
	SetValue(ctx context.Context, who access.Principal, name, value string) error
	RemoveValue(ctx context.Context, who access.Principal, name string) error
}

func (c *Console) connectionsSection() section {
	return section{name: "connections", path: "/connections", key: "n", linked: true, routes: map[string]handler{
		"GET /connections":           page("connections", whole, c.listConnections),
		"POST /connections/{id}/end": c.endConnection,
		"POST /values/{name}":        c.setValue,
		"POST /values/{name}/remove": c.removeValue,
		"GET /connect/{id}":          c.showConnect,
		"GET /connect/{id}/begin":    c.beginConnect,
		"GET /connect/{id}/callback": c.finishConnect,
		"POST /connect/{id}/token":   c.keepToken,
	}}
}

type connectionsPage struct {
	Connections []connectionRow
	Values      []restapi.Value
	All         bool // those of everybody
	Admin       bool
}

type connectionRow struct {
	restapi.Connection
	Own bool // the person, or the gateway by its administrator, signs in
	May bool // sign out
}

func (c *Console) listConnections(v *visit) (p connectionsPage, err error) {
	p = connectionsPage{All: v.URL.Query().Has("all"), Admin: v.who.MayAdmin()}
	if p.Connections, err = c.connectionRows(v, p.All); err != nil {
		return p, err
	}
	if !p.All && v.who.MayCall() && v.who != access.Local() {
		p.Values, err = c.Values.ListValues(v.Context(), v.who)
	}
	return p, err
}

func (c *Console) connectionRows(v *visit, all bool) (rows []connectionRow, err error) {
	found, err := c.Connections.ListConnections(v.Context(), v.who, all)
	for _, one := range found {
		own := maySignIn(v.who, one)
		rows = append(rows, connectionRow{one, own, own || v.who.MayAdmin()})
	}
	return rows, err
}

// maySignIn tells whether somebody signs in for a connection: for their own, or as an administrator for the gateway's.
func maySignIn(who access.Principal, one restapi.Connection) bool {
	switch {
	case one.Removed:
		return false
	case one.As == config.AsGateway:
		return who.MayAdmin()
	}
	return one.Owner == who.ID && who.MayCall()
}

// connectionTo is the visitor's connection to a server; nil if they sign in to none there.
func (c *Console) connectionTo(v *visit, id tool.ServerID) (*connectionRow, error) {
	rows, err := c.connectionRows(v, false)
	for i, one := range rows {
		if one.Server == id && one.Own {
			return &rows[i], nil
		}
	}
	return nil, err
}

func (c *Console) endConnection(v *visit) (answer, error) {
	err := c.Connections.EndConnection(v.Context(), v.who, tool.ServerID(v.PathValue("id")), v.PostForm.Get("owner"))
	if err != nil {
		return answer{}, err
	}
	return done("/connections", "connectionEnded")
}

func (c *Console) setValue(v *visit) (answer, error) {
	if err := c.Values.SetValue(v.Context(), v.who, v.PathValue("name"), v.PostForm.Get("value")); err != nil {
		return answer{}, err
	}
	return done("/connections", "valueSaved")
}

func (c *Console) removeValue(v *visit) (answer, error) {
	if err := c.Values.RemoveValue(v.Context(), v.who, v.PathValue("name")); err != nil {
		return answer{}, err
	}
	return done("/connections", "valueRemoved")
}
