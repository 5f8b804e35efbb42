package console

import (
	"context"
	"net/http"
	"net/url"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// SignIns sign people in to servers.
type SignIns interface {
	// SignInAt is the authorization server of a server.
	SignInAt(ctx context.Context, who access.Principal, id tool.ServerID) (issuer string, err error)
	BeginConnection(ctx context.Context, who access.Principal, id tool.ServerID) (address string, err error)
	FinishConnection(ctx context.Context, who access.Principal, id tool.ServerID, answer url.Values) error
	KeepToken(ctx context.Context, who access.Principal, id tool.ServerID, token string) error
}

// connectPage is the page on which a person signs in to a server.
type connectPage struct {
	restapi.Connection
	Who   string
	Host  string       // of the authorization server; "": not known
	Fault *fault.Error // why nobody can sign in, or why the last sign-in came to nothing; nil: nothing is wrong
	Begin string       // the path that begins a sign-in; "": it cannot be begun
}

// Ready tells whether the person is connected.
func (p connectPage) Ready() bool { return p.State == store.Ready }

func connectPath(id tool.ServerID) string { return "/connect/" + url.PathEscape(string(id)) }

func (c *Console) showConnect(v *visit) (answer, error) { return c.showConnectAfter(v, nil) }

// showConnectAfter shows the page after something that came to nothing.
func (c *Console) showConnectAfter(v *visit, failed error) (answer, error) {
	id := tool.ServerID(v.PathValue("id"))
	one, err := c.Connections.ReadConnection(v.Context(), v.who, id)
	if err != nil {
		return answer{}, err
	}
	p := connectPage{Connection: one, Who: v.who.Name, Begin: c.at(connectPath(id) + "/begin")}
	issuer := one.Issuer
	if !p.Ready() {
		issuer, err = c.SignIns.SignInAt(v.Context(), v.who, id)
	}
	if err != nil {
		p.Begin = ""
	}
	if failed != nil {
		err = failed
	}
	if err != nil {
		p.Fault = fault.As(err)
		if p.Fault.Hides() {
			return answer{}, err
		}
	}
	if u, err := url.Parse(issuer); err == nil {
		p.Host = u.Host
	}
	return show("connect", p)
}

// beginConnect sends the browser to the authorization server. It is a link and no form: our policy lets no form end
// elsewhere. Who comes by a link of another site sees the page first.
func (c *Console) beginConnect(v *visit) (answer, error) {
	id := tool.ServerID(v.PathValue("id"))
	if v.URL.Query().Has(againKey) {
		return answer{location: connectPath(id)}, nil
	}
	address, err := c.SignIns.BeginConnection(v.Context(), v.who, id)
	if err != nil {
		return c.showConnectAfter(v, err)
	}
	return serve(func(w http.ResponseWriter) {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, v.Request, address, http.StatusFound)
	})
}

// finishConnect connects who comes back from the authorization server, if they are the one who went there.
func (c *Console) finishConnect(v *visit) (answer, error) {
	id := tool.ServerID(v.PathValue("id"))
	said := v.URL.Query()
	said.Del(againKey)
	if err := c.SignIns.FinishConnection(v.Context(), v.who, id, said); err != nil {
		return c.showConnectAfter(v, err)
	}
	return done(connectPath(id), "connected")
}

func (c *Console) keepToken(v *visit) (answer, error) {
	id := tool.ServerID(v.PathValue("id"))
	if err := c.SignIns.KeepToken(v.Context(), v.who, id, v.PostForm.Get("token")); err != nil {
		return c.showConnectAfter(v, err)
	}
	return done(connectPath(id), "connected")
}

// againKey is the parameter of a page that a page of ours has asked for.
const againKey = "again"

// arrive goes on to the same page. Whoever follows a link of another site, or is sent back by an authorization server,
// comes without our cookie: it is sent once a page of ours asks.
func (c *Console) arrive(w http.ResponseWriter, v *visit) {
	q := v.URL.Query()
	q.Set(againKey, "1")
	to := c.at(v.URL.EscapedPath() + "?" + q.Encode())
	w.Header().Set("Refresh", "0; url="+to)
	c.write(w, v, http.StatusOK, "arrived", "frame", c.frameOf(v, "arrived", to))
}
