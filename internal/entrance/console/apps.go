package console

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Apps finds and reads the pages of servers that show the results of their tools.
type Apps interface {
	AppOf(who access.Principal, profile string, name tool.Name) string
	ReadApp(ctx context.Context, who access.Principal, profile, name string) (restapi.AppPage, error)
}

// AppRequests carries out what such a page asks for.
type AppRequests interface {
	ReadForApp(ctx context.Context, who access.Principal, profile, name, uri string) (json.RawMessage, error)
	CallForApp(ctx context.Context, who access.Principal, c restapi.AppCall) (result json.RawMessage, ask bool, err error)
}

// app is what a page needs to show the result of a call in the tool's app; static/apps.js does it.
type app struct {
	Src       string // path of the app's page; "": there is no app
	Server    string
	Arguments string // of the call, as JSON; "": not known
	Result    string // in full, as JSON; "": not there, or too long
}

// maxShownInApp is how long a result may be that is put into the page for an app.
const maxShownInApp = 5 << 20

func (c *Console) appOf(v *visit, profile string, name tool.Name) app {
	shown := c.Apps.AppOf(v.who, profile, name)
	if shown == "" {
		return app{}
	}
	src := c.at("/tools/" + url.PathEscape(shown) + "/app?" + url.Values{"profile": {profile}}.Encode())
	server, _, _ := name.Split()
	return app{Src: src, Server: string(server)}
}

// shows gives the app, if there is one, what it is to show. Arguments may be as a person or a model wrote them, and then no JSON.
func (a *app) shows(arguments, result json.RawMessage) {
	if a.Src == "" || len(arguments)+len(result) > maxShownInApp {
		return
	}
	a.Result = string(result)
	if json.Valid(arguments) {
		a.Arguments = string(arguments)
	}
}

// The pages of tools that have an app may have a frame of our own origin.
func (p *toolPage) frames() bool { return p.App.Src != "" }
func (p callPage) frames() bool  { return p.App.Src != "" }

// showApp serves the page of an app, for a frame in which it can reach nothing of the console: its origin is opaque.
func (c *Console) showApp(v *visit) (answer, error) {
	page, err := c.Apps.ReadApp(v.Context(), v.who, v.URL.Query().Get("profile"), v.PathValue("name"))
	return serve(func(w http.ResponseWriter) {
		h := w.Header()
		h.Set("Content-Security-Policy", appPolicy(page.Origins))
		h.Set("Permissions-Policy", noPermissions)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if err != nil {
			f := c.seen(v, err)
			h.Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(f.Code.Status())
			_, _ = w.Write([]byte(say(v.lang, f.Message))) // the reader may have left
			return
		}
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page.HTML) // the reader may have left
	})
}

// noPermissions takes from an app what frames of other origins do not have anyway.
const noPermissions = "camera=(), microphone=(), geolocation=(), display-capture=(), clipboard-read=(), clipboard-write=(), fullscreen=(), payment=(), usb=()"

// appPolicy is the policy of an app's page: what is in the page itself, and what it loads from the origins that it names.
func appPolicy(o restapi.AppOrigins) string {
	resources := origins(o.Resources)
	return "sandbox allow-scripts allow-forms; default-src 'none'" +
		"; script-src 'unsafe-inline'" + resources + "; style-src 'unsafe-inline'" + resources +
		"; img-src data: blob:" + resources + "; media-src data: blob:" + resources + "; font-src data: blob:" + resources +
		"; connect-src" + cmp.Or(origins(o.Connect), " 'none'") + "; frame-src" + cmp.Or(origins(o.Frames), " 'none'") +
		"; base-uri" + cmp.Or(origins(o.Base), " 'none'") + "; form-action 'none'; frame-ancestors 'self'"
}

// origin is all that a server may put into a policy: a scheme and a host, or all hosts below one.
var origin = regexp.MustCompile(`^(?:https|wss)://(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::[0-9]{1,5})?$`)

const maxOrigins = 50 // of one kind

// origins are those of a list that are ones, each after a space.
func origins(list []string) string {
	var b strings.Builder
	for _, one := range list[:min(len(list), maxOrigins)] {
		if one = strings.ToLower(one); origin.MatchString(one) {
			b.WriteString(" " + one)
		}
	}
	return b.String()
}

// appAnswer is what the console answers to the request of an app.
type appAnswer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Ask    string          `json:"ask,omitempty"`   // what to ask the person before it is asked for again
	Error  string          `json:"error,omitempty"` // why there is nothing
}

func (c *Console) answerApp(v *visit, a appAnswer, err error) (answer, error) {
	if err != nil {
		a = appAnswer{Error: c.seen(v, err).Message}
	}
	return serve(func(w http.ResponseWriter) {
		w.Header().Set("Cache-Control", "no-store")
		inbound.WriteJSON(w, http.StatusOK, a)
	})
}

func (c *Console) readForApp(v *visit) (answer, error) {
	result, err := c.AppRequests.ReadForApp(v.Context(), v.who, v.URL.Query().Get("profile"), v.PathValue("name"), v.PostForm.Get("uri"))
	return c.answerApp(v, appAnswer{Result: result}, err)
}

func (c *Console) callForApp(v *visit) (answer, error) {
	f := v.PostForm
	wanted := restapi.AppCall{
		Profile: v.URL.Query().Get("profile"), App: v.PathValue("name"), Tool: f.Get("tool"), Args: json.RawMessage(f.Get("arguments")),
		Agreed: f.Get("agreed") != "",
	}
	result, ask, err := c.AppRequests.CallForApp(v.Context(), v.who, wanted)
	out := appAnswer{Result: result}
	if ask {
		const most = 1000 // a longer question would not be read
		out.Ask = text(v.lang, "app.ask", plain(wanted.Tool), visible.Beginning(plain(f.Get("arguments")), most))
	}
	return c.answerApp(v, out, err)
}
