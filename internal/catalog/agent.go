package catalog

import (
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// addForAgents puts fetch_result beside the list of a profile that has agents: what they get
// of results is bounded, also where no rule cuts anything.
func (v *View) addForAgents(cfg *config.Config, p config.Profile, fetch json.RawMessage) {
	uses := func(a config.Agent) bool { return a.Profile == p.Name && a.Capabilities.ToolCalling }
	if v.byShown[FetchResult] != nil || v.Results.Keep == "none" || !slices.ContainsFunc(cfg.Agents, uses) {
		return
	}
	if e := v.addOwn(p, fetch); e != nil {
		e.unlisted = true
	}
}

// Listed tells whether the profile's list shows the tool. The others can be called too.
func (e *Entry) Listed() bool { return !e.unlisted }

// Acts tells whether the tool says of itself that it changes something, so that the order of
// its calls counts.
func (e *Entry) Acts() bool {
	hint := func(name string) string { return string(rawjson.Get(e.Definition.Raw, "annotations", name)) }
	return hint("readOnlyHint") == "false" || hint("readOnlyHint") != "true" && hint("destructiveHint") == "true"
}
