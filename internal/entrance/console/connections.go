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

func (c *Console) connectionsSection() section {
	return section{name: "connections", path: "/connections", key: "n", linked: true, routes: map[string]handler{
		"GET /connections":           page("connections", whole, c.listConnections),
		"POST /connections/{id}/end": c.endConnection,
		"GET /connect/{id}":          c.showConnect,
		"GET /connect/{id}/begin":    c.beginConnect,
		"GET /connect/{id}/callback": c.finishConnect,
		"POST /connect/{id}/token":   c.keepToken,
	}}
}

type connectionsPage struct {
	Connections []connectionRow
	All         bool // those of everybody
	Admin       bool
}

type connectionRow struct {
	restapi.Connection
	Own bool // the person, or the gateway by its administrator, signs in
	May bool // sign out
}

func (c *Console) listConnections(v *visit) (connectionsPage, error) {
	p := connectionsPage{All: v.URL.Query().Has("all"), Admin: v.who.MayAdmin()}
	found, err := c.Connections.ListConnections(v.Context(), v.who, p.All)
	for _, one := range found {
		own := maySignIn(v.who, one)
		p.Connections = append(p.Connections, connectionRow{one, own, own || p.Admin})
	}
	return p, err
}

// maySignIn tells whether somebody signs in for a connection: for their own, or as an administrator for the gateway's.
func maySignIn(who access.Principal, one restapi.Connection) bool {
	if one.As == config.AsGateway {
		return who.MayAdmin()
	}
	return one.Owner == who.ID && who.MayCall()
}

// connectionTo is the visitor's connection to a server; nil if they sign in to none there.
func (c *Console) connectionTo(v *visit, id tool.ServerID) (*connectionRow, error) {
	p, err := c.listConnections(v)
	for i, one := range p.Connections {
		if one.Server == id && one.Own {
			return &p.Connections[i], nil
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
