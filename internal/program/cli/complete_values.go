package cli

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	pages "github.com/toolfit/toolfit/docs/errors"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// wanted is one completion: what is known of the command line, and what was found.
type wanted struct {
	*command
	ctx   context.Context
	cmd   *cobra.Command
	args  []string // before the one that is completed
	begun string   // of that one

	found     []cobra.Completion
	directive cobra.ShellCompDirective
	files     bool
}

// values adds the values of an argument or flag to what was found. What cannot be found out is left out.
type values func(*wanted)

// add adds a value with what a person should know about it. Values and texts may be a server's.
func (w *wanted) add(value, about string) {
	w.directive |= cobra.ShellCompDirectiveNoFileComp
	if value == "" || strings.ContainsAny(value, " \t\r\n$`\\\"'();&|<>!") || visible.Text(value) != value {
		return // a shell would take it for something else, and maybe run it
	}
	w.found = append(w.found, cobra.CompletionWithDesc(value, visible.Beginning(line(about), 80)))
}

func nothing(w *wanted) { w.directive |= cobra.ShellCompDirectiveNoFileComp }

func aFile(w *wanted) { w.files = true }

func aFolder(w *wanted) { w.directive |= cobra.ShellCompDirectiveFilterDirs }

func words(all ...string) values {
	return func(w *wanted) {
		for _, word := range all {
			w.add(word, "")
		}
	}
}

func either(all ...values) values {
	return func(w *wanted) {
		for _, one := range all {
			one(w)
		}
	}
}

func prefixed(prefix string, of values) values {
	return func(w *wanted) {
		before := len(w.found)
		of(w)
		for i := range w.found[before:] {
			w.found[before+i] = prefix + w.found[before+i]
		}
	}
}

// unfinished are values after which the person goes on typing.
func unfinished(of values) values {
	return func(w *wanted) {
		of(w)
		w.directive |= cobra.ShellCompDirectiveNoSpace
	}
}

func dialects(w *wanted) { words(dialectNames()...)(w) }

func clientList(w *wanted) {
	for _, one := range clients.WithFiles() {
		w.add(one.Name, "")
	}
}

func errorCodes(w *wanted) {
	for _, page := range pages.All(w.lang) {
		w.add(string(page.Code), page.Summary)
	}
}

// gateway is the one that the command would use; nil if there is none.
func (w *wanted) gateway() (*gateway, error) { return w.running(w.ctx, w.flags(), runFlags{}) }

// flags are those of the command that say which gateway is meant.
func (w *wanted) flags() askFlags {
	text := func(name string) string {
		if f := w.cmd.Flag(name); f != nil && f.Value.Type() == "string" {
			return f.Value.String()
		}
		return ""
	}
	standalone, _ := w.cmd.Flags().GetBool("standalone")
	return askFlags{url: text("url"), key: text("key"), profile: text("profile"), standalone: standalone}
}

// heldNames are what waits for approval of a server, as the gateway names it.
func heldNames(w *wanted) {
	nothing(w)
	var s restapi.Server
	if g, _ := w.gateway(); g != nil {
		g.do(w.ctx, request{path: "/servers/" + url.PathEscape(w.args[0])}, &s) // without an answer, nothing is known
	}
	for _, name := range s.Held {
		w.add(name, "")
	}
}

// toolArguments are the arguments that the tool takes and that are not given yet, in the form of the command.
func toolArguments(w *wanted) {
	unfinished(nothing)(w)
	properties := rawjson.Get(rawjson.Get(w.definition(w.args[0]), "inputSchema"), "properties")
	var schemas map[string]struct {
		Type        any    `json:"type"`
		Description string `json:"description"`
	}
	json.Unmarshal(properties, &schemas)
	for name, s := range schemas {
		given := slices.ContainsFunc(w.args, func(arg string) bool {
			return strings.HasPrefix(arg, name+"=") || strings.HasPrefix(arg, name+":=")
		})
		switch {
		case given:
		case s.Type == "string":
			w.add(name+"=", s.Description)
		default:
			w.add(name+":=", s.Description)
		}
	}
	slices.Sort(w.found)
}

// definition is that of a tool, as it was listed last; nil if it is not known.
func (w *wanted) definition(name string) (definition json.RawMessage) {
	g, err := w.gateway()
	if g != nil {
		var t restapi.Tool
		g.do(w.ctx, request{path: "/tools/" + url.PathEscape(name), query: w.flags().query()}, &t) // without an answer, nothing is known
		return t.Definition
	}
	if err != nil {
		return nil
	}
	cfg, err := w.load()
	if err != nil || !strings.Contains(cfg.Store, "://") && !exists(cfg.Store) {
		return nil
	}
	w.withStore(w.ctx, func(_ *config.Config, st *store.Store) error {
		all, err := st.Servers(w.ctx)
		for _, s := range all {
			for _, t := range s.Tools {
				if string(tool.Canonical(s.ID, t.Name)) == name {
					definition = t.Definition
				}
			}
		}
		return err
	})
	return definition
}
