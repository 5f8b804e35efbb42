package catalog

import (
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// addForAgents adds fetch_result, unlisted, to a profile with agents: their results are limited even if no rule cuts them.
func (v *View) addForAgents(cfg *config.Config, p config.Profile, fetch json.RawMessage) {
	uses := func(a config.Agent) bool { return a.Profile == p.Name && a.Capabilities.ToolCalling }
	if v.own[textOf(fetch, "name")] != nil || v.Results.Keep == "none" || !slices.ContainsFunc(cfg.Agents, uses) {
		return
	}
	if e := v.addOwn(p, fetch); e != nil {
		e.unlisted = true
	}
}

// Listed tells whether the profile's list shows the tool. The others can be called too.
func (e *Entry) Listed() bool { return !e.unlisted }

// MeantBy tells whether an entry of an agent's lists matches the tool: its shown name, its server's name, or a glob on its canonical name.
func (e *Entry) MeantBy(word string) bool {
	return word == e.Shown || word == e.Definition.Name || tool.Match(word, string(e.Name))
}

// UsedBy tells whether an agent of the profile has the tool. Lists of available tools name only those of servers.
func (e *Entry) UsedBy(a *config.Agent) bool {
	if !a.Capabilities.ToolCalling || e.AppOnly() || slices.ContainsFunc(a.Denied, e.MeantBy) {
		return false
	}
	return len(a.Available) == 0 || !e.Own && slices.ContainsFunc(a.Available, e.MeantBy)
}

// UnknownTools are the entries of an agent's available_tools that match no tool of the profile.
func (v *View) UnknownTools(a *config.Agent) (words []string) {
	for _, word := range a.Available {
		if a.Capabilities.ToolCalling && !slices.ContainsFunc(v.Entries, func(e *Entry) bool { return e.MeantBy(word) }) {
			words = append(words, word)
		}
	}
	return words
}

// ReadOnly tells whether the tool declares itself read-only.
func (e *Entry) ReadOnly() bool {
	return string(rawjson.Get(e.Definition.Raw, "annotations", "readOnlyHint")) == "true"
}

// Acts tells whether the tool declares that it changes something, so that the order of its calls matters.
func (e *Entry) Acts() bool {
	hint := func(name string) string { return string(rawjson.Get(e.Definition.Raw, "annotations", name)) }
	return hint("readOnlyHint") == "false" || hint("readOnlyHint") != "true" && hint("destructiveHint") == "true"
}

// Idempotent tells whether the tool declares that a second call with the same arguments changes nothing more.
func (e *Entry) Idempotent() bool {
	return string(rawjson.Get(e.Definition.Raw, "annotations", "idempotentHint")) == "true"
}
