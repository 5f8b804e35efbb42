package cli

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// list is where names come from: the REST API of the gateway that is running, else the file and the store.
type list struct {
	path         string // of the list in the REST API; "": only the file has it
	value, about string // members of its items
	file         func(*config.Config) []string
	store        func(context.Context, *store.Store) []string
}

var (
	agentNames = list{path: "/agents", value: "id", about: "description",
		file: func(cfg *config.Config) []string {
			return each(cfg.Agents, nil, func(a config.Agent) string { return a.ID })
		},
		store: func(ctx context.Context, st *store.Store) []string { return ids(st.Agents(ctx)) }}.add
	approvalIDs = list{path: "/approvals?open=true", value: "id", about: "tool",
		store: func(ctx context.Context, st *store.Store) []string {
			all, err := st.Approvals(ctx, true, "", 100)
			return each(all, err, func(a store.Approval) string { return a.ID })
		}}.add
	keyNames = list{path: "/keys", value: "name", about: "role",
		store: func(ctx context.Context, st *store.Store) []string {
			all, err := st.Keys(ctx)
			return each(all, err, func(k store.Key) string { return k.Name })
		}}.add
	modelNames = list{file: func(cfg *config.Config) []string {
		return each(cfg.Models, nil, func(m config.Model) string { return m.Name })
	}}.add
	peopleNames = list{path: "/people", value: "name", about: "subject",
		store: func(ctx context.Context, st *store.Store) []string {
			all, err := st.People(ctx, "", 100)
			return each(all, err, func(p store.Person) string { return p.Name })
		}}.add
	profileNames = list{file: func(cfg *config.Config) []string {
		return each(cfg.Profiles, nil, func(p config.Profile) string { return p.Name })
	}}.add
	recipeNames = list{path: "/recipes", value: "name", about: "description",
		store: func(ctx context.Context, st *store.Store) []string { return ids(st.Recipes(ctx)) }}.add
	ruleIDs = list{path: "/rules", value: "id", about: "tool",
		store: func(ctx context.Context, st *store.Store) []string { return ids(st.Rules(ctx)) }}.add
	serverNames = list{path: "/servers", value: "id", about: "state",
		file: func(cfg *config.Config) []string {
			return each(cfg.Servers, nil, func(s config.Server) string { return string(s.ID) })
		},
		store: func(ctx context.Context, st *store.Store) []string {
			all, err := st.ServerConfigs(ctx)
			return each(all, err, func(s store.ServerConfig) string { return string(s.ID) })
		}}.add
	sessionIDs = list{path: "/sessions", value: "id", about: "title",
		store: func(ctx context.Context, st *store.Store) []string {
			all, err := st.Sessions(ctx, store.SessionFilter{})
			return each(all, err, func(s store.Session) string { return s.ID })
		}}.add
	signInServers = list{path: "/connections", value: "server", about: "state",
		file: func(cfg *config.Config) []string {
			signs := slices.DeleteFunc(slices.Clone(cfg.Servers), func(s config.Server) bool { return s.OAuth == nil })
			return each(signs, nil, func(s config.Server) string { return string(s.ID) })
		}}.add
	toolNames = list{path: "/tools", value: "name", about: "description",
		store: func(ctx context.Context, st *store.Store) (names []string) {
			all, _ := st.Servers(ctx)
			for _, s := range all {
				for _, t := range s.Tools {
					names = append(names, string(tool.Canonical(s.ID, t.Name)))
				}
			}
			return names
		}}.add
	waitingCalls = list{path: "/calls?waiting=true", value: "id", about: "tool",
		store: func(ctx context.Context, st *store.Store) []string {
			all, err := st.WaitingCalls(ctx, store.WaitingFilter{Open: true})
			return each(all, err, func(w store.Waiting) string { return w.ID })
		}}.add
)

func each[T any](all []T, _ error, name func(T) string) (names []string) {
	for _, one := range all {
		names = append(names, name(one))
	}
	return names
}

func ids(all []store.Document, err error) []string {
	return each(all, err, func(d store.Document) string { return d.ID })
}

// add asks the gateway, or else looks into the file and the store. No server is started, and no store is created.
func (l list) add(w *wanted) {
	w.directive |= cobra.ShellCompDirectiveNoFileComp
	g, err := w.gateway()
	if err != nil { // what the flags say is wrong
		return
	}
	if g != nil && l.path != "" {
		l.ask(w, g)
		return
	}
	cfg, err := w.load()
	if err != nil {
		return
	}
	var names []string
	if l.file != nil {
		names = l.file(cfg)
	}
	if l.store != nil && (strings.Contains(cfg.Store, "://") || exists(cfg.Store)) {
		w.withStore(w.ctx, func(_ *config.Config, st *store.Store) error { // a store that is down has no names
			names = append(names, l.store(w.ctx, st)...)
			return nil
		})
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		w.add(name, "")
	}
}

// ask adds the items of the list that the gateway has.
func (l list) ask(w *wanted, g *gateway) {
	path, query, _ := strings.Cut(l.path, "?")
	asked, _ := url.ParseQuery(query)
	if path == "/tools" { // of which there may be thousands
		asked = w.flags().query()
		asked.Set("q", w.begun)
		asked.Set("limit", "300")
	}
	var answer map[string]json.RawMessage
	if g.do(w.ctx, request{path: path, query: asked}, &answer) != nil {
		return
	}
	var items []map[string]any
	json.Unmarshal(answer[strings.TrimPrefix(path, "/")], &items)
	for _, item := range items {
		value, _ := item[l.value].(string)
		about, _ := item[l.about].(string)
		w.add(value, about)
	}
}
