package app

import (
	"net/http"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/console"
	"github.com/toolfit/toolfit/internal/store"
)

// page tells the console what to show.
type page struct{ app *App }

// Page is what there is to see now. People see every tool of the default profile.
func (p page) Page(r *http.Request) (console.Page, error) {
	a := p.app
	view, err := a.Catalog.View(config.DefaultProfile)
	if err != nil {
		return console.Page{}, err
	}
	_, scheme, host := a.edge.Load().proxies.Client(r)
	out := console.Page{Version: a.opts.Version, MCPURL: scheme + "://" + host + a.started.BasePath + "/mcp"}
	for _, s := range a.sources().ListServers() {
		row := console.Server{Name: string(s.ID), Kind: s.Kind, State: string(s.State), Tools: s.Tools, Held: len(s.Held), Reason: s.Reason}
		if s.CheckedAt != nil {
			row.LastCheck = *s.CheckedAt
		}
		out.Servers = append(out.Servers, row)
	}
	for _, e := range view.Entries {
		out.Tools = append(out.Tools, console.Tool{
			Name: e.Shown, Server: string(e.Server), Description: e.Definition.Description(), InputSchema: string(e.Definition.InputSchema()),
		})
	}
	calls, err := a.Store.Calls(r.Context(), store.CallFilter{Limit: 50})
	if err != nil {
		return console.Page{}, err
	}
	for _, c := range calls {
		out.Calls = append(out.Calls, console.Call{
			Time: c.At, Tool: string(c.Tool), Principal: c.Principal, Outcome: c.Outcome, Code: c.Code, Duration: c.Duration, Bytes: c.BytesSent,
		})
	}
	return out, nil
}
