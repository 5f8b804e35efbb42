package app

import (
	"net/http"

	"github.com/toolfit/toolfit/internal/entrance/console"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// console is the pages for people, over what the REST API does.
func (a *App) console(api *restapi.API) http.Handler {
	return console.New(console.Parts{
		Activity: api, Servers: api, ServerChanges: api, Approvals: api, Tools: api, ToolCaller: api, Calls: api, CallFeed: api,
		Results: api, Rules: api, Suggestions: api, Prompts: api, Sessions: api, SessionChanges: api, Runs: api, RunReports: api, Keys: api,
		Recall: a.recalls.Load, API: api,
		Chat: a.book.runner, Environment: a.Env,
		Admit: a.admitPerson, Check: a.check, Keyed: a.Keys.Any, Link: a.links.use, Limit: a.limited, Address: a.askedFor, BasePath: a.started.BasePath,
		Version: a.opts.Version, Seal: a.sealKey, Profiles: a.profiles, Models: a.modelsFor, Logger: a.log,
	})
}

// askedFor is what the client of a request asked for, through all proxies.
func (a *App) askedFor(r *http.Request) (scheme, host string) {
	_, scheme, host = a.edge.Load().proxies.Client(r)
	return scheme, host
}

// profiles are the names of the profiles in force.
func (a *App) profiles() []string {
	var names []string
	for _, p := range a.Config().Profiles {
		names = append(names, p.Name)
	}
	return names
}
