package catalog

import (
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/state/config"
)

// OwnTools are the definitions of our own tools, given by the packages that carry them out. The catalog decides which profiles list them.
type OwnTools struct {
	Fetch  json.RawMessage                         // fetches what was left out of a result
	Search func(overview string) []json.RawMessage // find tools among those in the overview, and call them
	Script func(overview string) json.RawMessage   // runs scripts that call tools of the servers in the overview
	Tests  []json.RawMessage                       // for browser tests
	Env    []json.RawMessage                       // the environment protocol, named with an underscore
}

// names are the names of all own tools. A server's tool of such a name is prefixed.
func (o *OwnTools) names() map[string]bool {
	names := map[string]bool{}
	all := slices.Concat([]json.RawMessage{o.Fetch}, o.Tests, o.Env)
	if o.Search != nil {
		all = append(all, o.Search("")...)
	}
	if o.Script != nil {
		all = append(all, o.Script(""))
	}
	for _, def := range all {
		names[textOf(def, "name")] = true
	}
	return names
}

// addOwn adds one of our own tools; nil if the profile denies it. The profile's allow list is about servers only.
func (v *View) addOwn(p config.Profile, raw json.RawMessage) *Entry {
	def, err := tool.ParseDefinition(raw)
	if err != nil || matches(p.Deny, def.Name) {
		return nil // tests parse every definition
	}
	e := &Entry{Shown: def.Name, Name: tool.Name(def.Name), Definition: def, Own: true}
	e.fits, err = fit.Compile(def.InputSchema(), nil)
	if err != nil {
		return nil
	}
	v.Entries = append(v.Entries, e)
	v.own[e.Shown] = e
	v.ownNamed[e.Name] = e
	return e
}
