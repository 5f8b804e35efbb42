package app

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/recipes"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/integration/cloudbase"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/program/demo"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// builtins are the servers inside this program.
func (a *App) builtins() map[string]upstream.Builtin {
	caller := func(r *mcp.Request) string { return r.Caller }
	return map[string]upstream.Builtin{
		"cloudbase": func(s config.Server) (mcp.Handler, error) {
			lookup := func(name string) (string, bool) {
				if v, ok := s.Env[name]; ok {
					return v, true
				}
				return a.env(name)
			}
			return cloudbase.New(lookup, a.picker, &cloudbase.Options{Caller: caller})
		},
		"demo-cloud": func(config.Server) (mcp.Handler, error) { return demo.Cloud(a.picker), nil },
		string(tool.Recipes): func(s config.Server) (mcp.Handler, error) {
			if s.ID != tool.Recipes {
				return nil, fault.New(fault.BadConfig, "server %s cannot be the one that lists recipes", s.ID).
					WithHint("it is there by itself; remove this one")
			}
			return recipes.Handler(a.usableRecipes), nil
		},
		"demo-shop": func(config.Server) (mcp.Handler, error) { return demo.Shop(), nil },
	}
}

// withPatience gives the tools that wait for a person a longer timeout, unless the file sets one.
func withPatience(servers []config.Server) {
	for i, s := range servers {
		if s.Builtin != "cloudbase" && s.Builtin != "demo-cloud" {
			continue
		}
		if !slices.ContainsFunc(s.Timeouts, func(t config.ToolTimeout) bool { return tool.Match(t.Glob, "envPick") }) {
			servers[i].Timeouts = append(slices.Clone(s.Timeouts), config.ToolTimeout{Glob: "envPick", Timeout: cloudbase.MaxWait + time.Minute})
		}
	}
}

// builtinRules come with built-in servers. Rules of the file and the store take precedence.
func builtinRules(servers []config.Server) (rules []project.Rule) {
	for _, s := range servers {
		if s.Builtin == "cloudbase" || s.Builtin == "demo-cloud" {
			rules = append(rules, cloudbase.Rules(s.ID)...)
		}
	}
	for i := range rules {
		rules[i].Source = project.Builtin
	}
	return rules
}

// pickPath is where the pages are on which people choose.
const pickPath = "/pick"

// pickBase is the address of these pages; "" while nobody can reach them.
func (a *App) pickBase() string {
	if public := a.Config().PublicURL; public != "" {
		return strings.TrimRight(public, "/") + pickPath
	}
	if address := a.served(); address != "" {
		return "http://" + address + a.started.BasePath + pickPath
	}
	return ""
}

// mayPick admits the caller whose call waits, and administrators.
func (a *App) mayPick(r *http.Request, caller string) error {
	who, err := a.edge.Load().door.AdmitPassword(r)
	if err != nil {
		return err
	}
	if who.ID != caller && !who.MayAdmin() {
		return fault.New(fault.Forbidden, "this page belongs to another caller")
	}
	return nil
}

// pickReplicas are the other gateways, for the pages on which people choose.
type pickReplicas struct{ app *App }

func (p pickReplicas) ID() string { return p.app.replicaID() }

// Pass passes the request of a page on. The gateway that has the page decides whether this sender may see
// it; a WebSocket says by a secret of the page that it belongs to it, and browsers send no password with it.
func (p pickReplicas) Pass(w http.ResponseWriter, r *http.Request, replica string) (bool, error) {
	if p.app.replicas == nil || access.IsPassedOn(r) {
		return false, nil
	}
	who, err := p.app.edge.Load().door.AdmitPassword(r)
	if err != nil && r.Header.Get("Upgrade") == "" {
		return false, err
	}
	return p.app.replicas.ForwardAs(w, r, who, replica), nil
}

func (p pickReplicas) Ask(ctx context.Context, caller, replica, path string) (status int, answer []byte, err error) {
	if p.app.replicas == nil {
		return http.StatusNotFound, nil, nil
	}
	return p.app.replicas.Send(ctx, access.Principal{ID: caller}, replica, http.MethodGet, p.app.started.BasePath+pickPath+path)
}

func (p pickReplicas) Asked(r *http.Request) (caller string, ok bool) {
	if !access.IsPassedOn(r) {
		return "", false
	}
	who, err := p.app.admit(r)
	return who.ID, err == nil
}
