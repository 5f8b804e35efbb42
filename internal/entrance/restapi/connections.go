package restapi

import (
	"context"
	"net/url"
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

// Connection is a sign-in to a server, without its tokens.
type Connection struct {
	Server  tool.ServerID `json:"server"`
	As      string        `json:"as"`              // gateway or user
	Owner   string        `json:"owner,omitempty"` // the principal; left out: the gateway itself
	Name    string        `json:"owner_name,omitempty"`
	Issuer  string        `json:"issuer,omitempty"`
	State   string        `json:"state"` // ready, needs_login or none
	Reason  string        `json:"reason,omitempty"`
	Expires time.Time     `json:"expires_at,omitzero"` // of the token, which is renewed
	Created time.Time     `json:"created_at,omitzero"`
	Updated time.Time     `json:"updated_at,omitzero"`
	Page    string        `json:"page,omitempty"` // where people sign in; "": nowhere any more
	Removed bool          `json:"removed,omitempty"`
}

// notConnected is the state of a server that nobody has signed in to.
const notConnected = "none"

// ListConnections lists the caller's own connections, and with all, for administrators, everybody's, with their names. A
// server that the caller may use and has not signed in to is listed, too.
func (a *API) ListConnections(ctx context.Context, who access.Principal, all bool) ([]Connection, error) {
	owners := []string{who.ID, ""}
	if all {
		if err := needAdmin(who); err != nil {
			return nil, err
		}
		owners = nil
	}
	rows, err := a.Store.Connections(ctx, owners...)
	if err != nil {
		return nil, err
	}
	out := a.listOwn(who, rows, all)
	if !all {
		return out, nil
	}
	for _, row := range rows {
		if a.isLeft(who, row.Server) {
			out = append(out, showLeft(row))
		}
	}
	names, err := a.Store.OwnerNames(ctx)
	for i := range out {
		out[i].Name = names[out[i].Owner]
	}
	return out, err
}

// listOwn lists the connections to servers that the caller may use.
func (a *API) listOwn(who access.Principal, rows []store.Connection, all bool) []Connection {
	out := []Connection{}
	for _, s := range a.Config().Servers {
		if !isSignedInTo(&s) || !a.mayUse(who, s.ID) {
			continue
		}
		own := false
		for _, row := range rows {
			isOwn := row.Owner == ownerFor(&s, who)
			if row.Server == s.ID && (all || isOwn) {
				out = append(out, a.showConnection(&s, row))
				own = own || isOwn
			}
		}
		if !own {
			out = append(out, a.showConnection(&s, store.Connection{Server: s.ID, Owner: ownerFor(&s, who), State: notConnected}))
		}
	}
	return out
}

// isLeft tells whether what is stored of a server is left over: it was removed, or nobody signs in to it any more. Those
// administrators manage it who see all servers.
func (a *API) isLeft(who access.Principal, id tool.ServerID) bool {
	return who.MayAdmin() && who.Profile == access.AnyProfile && !a.peopleSignIn(id)
}

// showLeft is a connection that is left over.
func showLeft(row store.Connection) Connection {
	c := showConnected(row, config.AsUser)
	if row.Owner == "" {
		c.As = config.AsGateway
	}
	c.Removed = true
	return c
}

func showConnected(row store.Connection, as string) Connection {
	return Connection{
		Server: row.Server, As: as, Owner: row.Owner, Issuer: row.Issuer, State: row.State, Reason: row.Reason,
		Expires: row.Expires, Created: row.CreatedAt, Updated: row.UpdatedAt,
	}
}

func isSignedInTo(s *config.Server) bool {
	return s.OAuth != nil && (s.OAuth.As == config.AsUser || s.OAuth.As == config.AsGateway)
}

func (a *API) peopleSignIn(id tool.ServerID) bool {
	return slices.ContainsFunc(a.Config().Servers, func(s config.Server) bool { return s.ID == id && isSignedInTo(&s) })
}

func ownerFor(s *config.Server, who access.Principal) string {
	if s.OAuth.As == config.AsUser {
		return who.ID
	}
	return ""
}

func (a *API) mayUse(who access.Principal, id tool.ServerID) bool {
	_, err := a.SeenServer(who, id)
	return err == nil
}

func (a *API) showConnection(s *config.Server, row store.Connection) Connection {
	c := showConnected(row, s.OAuth.As)
	c.Page = a.Connections.Page(row.Server)
	return c
}

// signsIn returns who gets tokens for a server, and for whom the caller signs in: each for themselves, or an
// administrator for the gateway.
func (a *API) signsIn(who access.Principal, id tool.ServerID) (client *oauth.Client, owner string, err error) {
	if _, err := a.SeenServer(who, id); err != nil {
		return nil, "", err
	}
	if client, err = a.Connections.Client(id); err != nil {
		return nil, "", err
	}
	if !a.peopleSignIn(id) {
		return nil, "", fault.New(fault.NotFound, "nobody signs in to %s: the gateway gets its tokens by itself", id)
	}
	owner = client.Owner(who.ID)
	switch {
	case owner == "":
		err = needAdmin(who)
	case who == access.Local():
		err = who.Forbidden("%s may not sign in: any program on this machine could use that")
	case !who.MayCall():
		err = who.Forbidden("%s may not call tools")
	}
	return client, owner, err
}

// ReadConnection returns the connection that the caller has, or would have, to a server.
func (a *API) ReadConnection(ctx context.Context, who access.Principal, id tool.ServerID) (Connection, error) {
	if _, _, err := a.signsIn(who, id); err != nil {
		return Connection{}, err
	}
	own, err := a.ListConnections(ctx, who, false)
	if err != nil {
		return Connection{}, err
	}
	at := slices.IndexFunc(own, func(c Connection) bool { return c.Server == id })
	if at < 0 {
		return Connection{}, fault.New(fault.NotFound, "there is no server %q", id)
	}
	return own[at], nil
}

// SignInAt asks a server for the authorization server at which people sign in to it.
func (a *API) SignInAt(ctx context.Context, who access.Principal, id tool.ServerID) (issuer string, err error) {
	client, _, err := a.signsIn(who, id)
	if err != nil {
		return "", err
	}
	return a.Connections.Issuer(ctx, client)
}

// BeginConnection begins a sign-in, and returns where the browser goes.
func (a *API) BeginConnection(ctx context.Context, who access.Principal, id tool.ServerID) (address string, err error) {
	client, owner, err := a.signsIn(who, id)
	if err != nil {
		return "", err
	}
	return a.Connections.Begin(ctx, client, owner)
}

// FinishConnection finishes a sign-in with the address to which the browser was sent back.
func (a *API) FinishConnection(ctx context.Context, who access.Principal, id tool.ServerID, answer url.Values) error {
	client, owner, err := a.signsIn(who, id)
	if err != nil {
		return err
	}
	if err := a.Connections.Finish(ctx, client, owner, answer); err != nil {
		return err
	}
	a.Registry.SignedIn(id)
	return nil
}

// KeepToken connects with a token that the person has from elsewhere.
func (a *API) KeepToken(ctx context.Context, who access.Principal, id tool.ServerID, token string) error {
	client, owner, err := a.signsIn(who, id)
	if err != nil {
		return err
	}
	if err := a.Connections.KeepToken(ctx, client, owner, token); err != nil {
		return err
	}
	a.Registry.SignedIn(id)
	return nil
}

// EndConnection signs out. Administrators can sign out others, also of servers that were removed.
func (a *API) EndConnection(ctx context.Context, who access.Principal, id tool.ServerID, owner string) error {
	if a.isLeft(who, id) {
		return a.Connections.SignOut(ctx, id, owner)
	}
	_, own, err := a.signsIn(who, id)
	if err != nil {
		return err
	}
	if owner != "" && owner != own {
		if err := needAdmin(who); err != nil {
			return err
		}
		own = owner
	}
	if err := a.Connections.SignOut(ctx, id, own); err != nil {
		return err
	}
	a.Pool.EndOwner(id, own)
	return nil
}

func (a *API) listConnections(q *request) (any, error) {
	found, err := a.ListConnections(q.Context(), q.who, q.URL.Query().Get("all") == "true")
	return map[string]any{"connections": found}, err
}

func (a *API) beginConnection(q *request) (any, error) {
	address, err := a.BeginConnection(q.Context(), q.who, tool.ServerID(q.id()))
	return map[string]string{"url": address}, err
}

func (a *API) finishConnection(q *request) (any, error) {
	var in struct {
		URL string `json:"url"`
	}
	if err := q.decode(&in, `{"url"}`); err != nil {
		return nil, err
	}
	u, err := url.Parse(strings.TrimSpace(in.URL))
	if err != nil || u.RawQuery == "" {
		return nil, fault.New(fault.BadRequest, "this is not the address to which the browser was sent back").
			WithHint("copy all of it from the address bar: it has code= and state= in it")
	}
	err = a.FinishConnection(q.Context(), q.who, tool.ServerID(q.id()), u.Query())
	return map[string]string{"connected": q.id()}, err
}

func (a *API) keepToken(q *request) (any, error) {
	var in struct {
		Token string `json:"token"`
	}
	if err := q.decode(&in, `{"token"}`); err != nil {
		return nil, err
	}
	err := a.KeepToken(q.Context(), q.who, tool.ServerID(q.id()), in.Token)
	return map[string]string{"connected": q.id()}, err
}

func (a *API) endConnection(q *request) (any, error) {
	err := a.EndConnection(q.Context(), q.who, tool.ServerID(q.id()), q.URL.Query().Get("owner"))
	return deleted{ID: q.id()}, err
}
