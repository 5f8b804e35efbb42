package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Prefixes of the two names of an environment protocol tool.
const (
	envPrefix = "env_"
	envSlash  = "env/"
)

// environment is a view's part of the environment protocol.
type environment struct {
	tools  []json.RawMessage // definitions, under the names with an underscore
	of     config.Profile
	failed map[string]string // servers that did not answer, and why
}

// Environment is the view with the tools of the environment protocol, made on first use. Callers
// who may only read get just the read-only ones.
func (v *View) Environment(mayCall bool) *View {
	switch {
	case !mayCall:
		v.reading.Do(func() { v.readingView = v.withoutServers() })
		return v.readingView
	case v.environment.of.Environment.Listed:
		return v
	}
	v.whole.Do(func() { v.wholeView = v.withEnvironment() })
	return v.wholeView
}

// withEnvironment is a copy of v with the environment tools added.
func (v *View) withEnvironment() *View {
	all := &View{content: v.content}
	all.Entries = slices.Clone(v.Entries)
	all.own = maps.Clone(v.own)
	all.ownNamed = maps.Clone(v.ownNamed)
	all.environment = environment{}
	all.addEnvironment(v.environment.of, v.environment.tools)
	return all
}

// withoutServers is the view for callers who may read but not call.
func (v *View) withoutServers() *View {
	none := &View{content: content{
		Profile: v.Profile, Dialect: v.Dialect, Output: "off", Results: v.Results, plans: v.plans, fit: v.fit,
		frame: v.frame, own: map[string]*Entry{}, ownNamed: map[tool.Name]*Entry{}, beside: &group{},
	}}
	none.eras.ttl, none.eras.self = keepFor, v.eras.self
	var reads []json.RawMessage
	for _, def := range v.environment.tools {
		if string(rawjson.Get(def, "annotations", "readOnlyHint")) == "true" {
			reads = append(reads, def)
		}
	}
	none.addEnvironment(v.environment.of, reads)
	return none
}

// addEnvironment adds the tools of the environment protocol. Each has two names; the profile says which are listed.
func (v *View) addEnvironment(p config.Profile, tools []json.RawMessage) {
	for _, raw := range tools {
		def, err := tool.ParseDefinition(raw)
		if err != nil || matches(p.Deny, def.Name) {
			continue // a test reads every definition
		}
		fits, err := fit.Compile(def.InputSchema(), nil)
		if err != nil {
			continue
		}
		v.addNamed(def, fits, def.Name, p.Environment.Names != "slash")
		v.addNamed(def, fits, envSlash+strings.TrimPrefix(def.Name, envPrefix), p.Environment.Names == "slash" || p.Environment.Names == "both")
	}
}

func (v *View) addNamed(def tool.Definition, fits *fit.Tool, shown string, listed bool) {
	e := &Entry{Shown: shown, Name: tool.Name(def.Name), Definition: def, Own: true, Environment: true}
	e.fits = fits
	v.own[shown] = e
	if listed {
		v.Entries = append(v.Entries, e)
		v.ownNamed[e.Name] = e
	}
}

// protocol are the tools of the environment protocol, named with an underscore, that a server may list under two names.
type protocol map[string]bool

// protocol detects whether the server is an environment: only those have the describe tool. Nil: it is not.
func (k *known) protocol(names map[string]bool) protocol {
	const describes = "get_description"
	for _, def := range k.offer.Tools {
		if def.Name == envPrefix+describes || def.Name == envSlash+describes {
			return names
		}
	}
	return nil
}

// twin is the name with a slash of a tool of the protocol; "" for any other tool.
func (p protocol) twin(raw string) string {
	rest, ok := strings.CutPrefix(strings.Replace(raw, envSlash, envPrefix, 1), envPrefix)
	if !ok || !p[envPrefix+rest] {
		return ""
	}
	return envSlash + rest
}
