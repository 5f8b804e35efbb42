package agent

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/state/config"
)

// speechOf is the language in which an agent's model is spoken to.
func speechOf(a *config.Agent) locale.Language { return locale.Choose(locale.English, a.Language) }

// basePrompt is the prompt of an agent that has none of its own.
func basePrompt(a *config.Agent, tools []string) string {
	speech := speechOf(a)
	say := speech.Say
	parts := []string{fmt.Sprintf(speech.Text("agent.you"), a.Name)}
	if a.Description != "" {
		parts[0] += " " + a.Description
	}
	if a.Personality != "" {
		parts = append(parts, a.Personality)
	}
	if len(tools) > 0 {
		parts = append(parts, say(fmt.Sprintf("Use the tools where they help. At most %d calls are made for one answer.", a.Capabilities.MaxToolCalls)))
		if a.Capabilities.Planning {
			parts = append(parts, say(planning))
		}
		parts = append(parts, say("Available tools: "+strings.Join(tools, ", ")))
	}
	return strings.Join(parts, "\n\n")
}

// planning is what an agent that plans is told.
const planning = "Before the first call, write a short numbered plan of the steps you will take. Change it when a result calls for that."

// systemPrompt is what the model is told first. A caller's own prompt comes before the
// agent's, and the agent's before the one that is written from its fields. The section with
// the tools takes the place of the list of their names; it is empty where the endpoint gets
// the tools itself.
func systemPrompt(a *config.Agent, custom, section string, tools []string) string {
	text := cmp.Or(custom, a.Prompt)
	switch {
	case text == "":
		text = basePrompt(a, tools)
	case a.Capabilities.Planning && len(tools) > 0: // whoever wrote it, an agent that plans does
		text += "\n\n" + speechOf(a).Say(planning)
	}
	if section == "" {
		return text
	}
	return strings.TrimRight(withSection(text, section), "\n") + "\n\n" + speechOf(a).Say(protocol)
}

// toolNames is a list of tools' names in a prompt: names alone, also between other sentences,
// or whatever follows the words on a line of its own.
var toolNames = regexp.MustCompile(`(?m)` +
	`[ \t]*[(（]?(?:Available tools:|可用工具[:：])[ \t]*` + aName + `(?:(?:[ \t]*[,，、][ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+)` + aName + `)*` +
	`(?:[)）][.。]?|[.;][ \t]+|[.;]?[ \t\r]*$|[。；][ \t]*)` +
	`|^Available tools:.*$`)

// aName is the name of a tool, in quotes or not.
const aName = "[`\"']?[\\w*](?:[\\w./:*-]*[\\w*])?[`\"']?"

// withSection is a prompt with the section in the place of its list of tools' names, or at its
// end. Further such lists go: they name what the section describes.
func withSection(text, section string) string {
	if !toolNames.MatchString(text) {
		return text + section
	}
	placed := false
	return toolNames.ReplaceAllStringFunc(text, func(string) string {
		if placed {
			return ""
		}
		placed = true
		return section
	})
}

// customPrompt is made of system messages: each has its say, and none twice, for some clients
// send theirs with every question.
type customPrompt []string

func (p *customPrompt) add(m *conversation.Message) {
	if text := strings.TrimSpace(m.Text()); text != "" && !slices.Contains(*p, text) {
		*p = append(*p, text)
	}
}

func (p customPrompt) text() string { return strings.Join(p, "\n\n") }
