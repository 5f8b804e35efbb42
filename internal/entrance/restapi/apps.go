package restapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
)

// maxApp is how long the page of an app may be, in bytes.
const maxApp = 5 << 20

// AppPage is the page of an app, which shows the results of a tool.
type AppPage struct {
	HTML    []byte
	Origins AppOrigins
}

// AppOrigins are the origins that an app wants to use. They are the server's words, which nobody has checked.
type AppOrigins struct {
	Connect   []string `json:"connectDomains"`
	Resources []string `json:"resourceDomains"`
	Frames    []string `json:"frameDomains"`
	Base      []string `json:"baseUriDomains"`
}

// AppCall is a call that the app of a tool asks for.
type AppCall struct {
	Profile string // "": the caller's own
	App     string // the tool whose app it is
	Tool    string // which to call, by its server's own name
	Args    json.RawMessage
	Agreed  bool // a person has agreed to the call
}

// AppOf is the name under which the caller may call the tool, if that has an app; "": it has none, or the caller may not.
func (a *API) AppOf(who access.Principal, profile string, name tool.Name) string {
	v, err := a.Catalog.ViewFor(who, profile)
	if err != nil || !who.MayCall() {
		return ""
	}
	e := v.Named(name)
	if e == nil || e.App() == "" {
		return ""
	}
	return e.Shown
}

// ReadApp reads the page of a tool's app from its server.
func (a *API) ReadApp(ctx context.Context, who access.Principal, profile, name string) (AppPage, error) {
	v, e, err := a.withApp(who, profile, name)
	if err != nil {
		return AppPage{}, err
	}
	raw, listed, err := a.readResource(ctx, who, v, e.Server, e.App())
	if err != nil {
		return AppPage{}, err
	}
	var read struct {
		Contents []struct {
			MIMEType string          `json:"mimeType"`
			Text     *string         `json:"text"`
			Blob     string          `json:"blob"`
			Meta     json.RawMessage `json:"_meta"`
		} `json:"contents"`
	}
	if json.Unmarshal(raw, &read) != nil || len(read.Contents) == 0 {
		return AppPage{}, fault.New(fault.UpstreamProtocol, "server %s has answered with no page", e.Server)
	}
	page := read.Contents[0]
	if kind, params, err := mime.ParseMediaType(page.MIMEType); err != nil || kind != "text/html" || params["profile"] != "mcp-app" {
		return AppPage{}, fault.New(fault.UpstreamProtocol, "the page of server %s is no app, but %.60q", e.Server, page.MIMEType)
	}
	out := AppPage{Origins: originsOf(page.Meta, rawjson.Get(listed, "_meta"))}
	if page.Text != nil {
		out.HTML = []byte(*page.Text)
	} else if out.HTML, err = base64.StdEncoding.DecodeString(page.Blob); err != nil {
		return AppPage{}, fault.New(fault.UpstreamProtocol, "the page of server %s is not Base64", e.Server)
	}
	if len(out.HTML) > maxApp {
		return AppPage{}, fault.New(fault.TooLarge, "the page of server %s is larger than %d MB", e.Server, maxApp>>20)
	}
	return out, nil
}

// originsOf reads the origins from the first metadata that has any.
func originsOf(metas ...json.RawMessage) (o AppOrigins) {
	for _, meta := range metas {
		if csp := rawjson.Get(meta, "ui", "csp"); csp != nil {
			if json.Unmarshal(csp, &o) != nil {
				return AppOrigins{}
			}
			return o
		}
	}
	return o
}

// ReadForApp reads a resource that the app of a tool asks for. It must be one of the app's own server.
func (a *API) ReadForApp(ctx context.Context, who access.Principal, profile, name, uri string) (json.RawMessage, error) {
	v, e, err := a.withApp(who, profile, name)
	if err != nil {
		return nil, err
	}
	raw, _, err := a.readResource(ctx, who, v, e.Server, uri)
	return raw, err
}

// CallForApp calls a tool that an app asks for. It must be one of the app's own server, and one that apps may call. A call that may
// change something is not made before a person has agreed: ask says so.
func (a *API) CallForApp(ctx context.Context, who access.Principal, c AppCall) (result json.RawMessage, ask bool, err error) {
	v, e, err := a.withApp(who, c.Profile, c.App)
	if err != nil {
		return nil, false, err
	}
	called := v.ForApp(e.Server, c.Tool)
	if called == nil {
		return nil, false, fault.New(fault.UnknownTool, "server %s has no tool %.100s for its apps", e.Server, c.Tool)
	}
	if !c.Agreed && !called.PolicyTool().ReadOnly {
		return nil, true, nil
	}
	out, err := a.CallTool(ctx, who, called.Shown, c.Args, url.Values{"profile": {v.Profile}}, nil)
	return out.Result, false, err
}

// withApp finds a tool with an app that the caller may call.
func (a *API) withApp(who access.Principal, profile, name string) (*catalog.View, *catalog.Entry, error) {
	if !who.MayCall() {
		return nil, nil, who.Forbidden("%s may not call tools")
	}
	v, err := a.Catalog.ViewFor(who, profile)
	if err != nil {
		return nil, nil, err
	}
	e, err := v.Find(name)
	if err == nil && e.App() == "" {
		err = fault.New(fault.NotFound, "tool %s has no app", name)
	}
	return v, e, err
}

// readResource reads a resource by its server's own URI, and returns what the server's list says of it.
func (a *API) readResource(
	ctx context.Context, who access.Principal, v *catalog.View, server tool.ServerID, uri string,
) (raw, listed json.RawMessage, err error) {
	listed, err = v.ResourceOf(server, uri)
	if err != nil {
		return nil, nil, err
	}
	if err := call.PermitResource(v, who, server, uri, time.Now()); err != nil {
		return nil, nil, err
	}
	out, err := a.Pool.Call(ctx, upstream.Call{
		Server: server, Method: "resources/read", Params: catalog.URIArgs(uri), Session: who.ID, Caller: who.ID,
	})
	if err != nil {
		return nil, nil, asFault(err)
	}
	if out.Kind != upstream.Complete {
		return nil, nil, fault.New(fault.UpstreamProtocol, "server %s asks a question before it gives the resource", server)
	}
	return out.Raw, listed, nil
}
