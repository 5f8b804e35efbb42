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

// speechOf is the language of an agent's prompts.
func speechOf(a *config.Agent) locale.Language { return locale.Choose(locale.English, a.Language) }

// basePrompt is the default prompt.
func basePrompt(a *config.Agent, tools []string) string {
	speech := speechOf(a)
	say := speech.Translate
	parts := []string{fmt.Sprintf(speech.Text("agent.you"), a.Name)}
	if a.Description != "" {
		parts[0] += " " + a.Description
	}
	if a.Personality != "" {
		parts = append(parts, a.Personality)
	}
	if len(tools) > 0 {
		parts = append(parts, say(fmt.Sprintf("Use the tools where they help. At most %d calls are made for one answer.",
			a.Capabilities.MaxToolCalls)))
		if a.Capabilities.Planning {
			parts = append(parts, say(planning))
		}
		parts = append(parts, say("Available tools: "+strings.Join(tools, ", ")))
	}
	return strings.Join(parts, "\n\n")
}

const planning = "Before the first call, write a short numbered plan of the steps you will take. Change it when a result calls for that."

// systemPrompt returns the caller's prompt, the agent's, or the default one. The section with the
// tools replaces the list of their names; it is empty when the provider offers the tools.
func systemPrompt(a *config.Agent, custom, section string, tools []string) string {
	text := cmp.Or(custom, a.Prompt)
	switch {
	case text == "":
		text = basePrompt(a, tools)
	case a.Capabilities.Planning && len(tools) > 0: // whoever wrote it, an agent that plans does
		text += "\n\n" + speechOf(a).Translate(planning)
	}
	if section == "" {
		return text
	}
	return strings.TrimRight(withSection(text, section), "\n") + "\n\n" + speechOf(a).Translate(protocol)
}

// toolNames matches a list of tool names in a prompt.
var toolNames = regexp.MustCompile(`(?m)` +
	`[ \t]*[(（]?(?:Available tools:|可用工具[:：])[ \t]*` + aName +
	`(?:(?:[ \t]*[,，、][ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+)` + aName + `)*` +
	`(?:[)）][.。]?|[.;][ \t]+|[.;]?[ \t\r]*$|[。；][ \t]*)` +
	`|^Available tools:.*$`)

// aName matches the name of a tool, quoted or not.
const aName = "[`\"']?[\\w*](?:[\\w./:*-]*[\\w*])?[`\"']?"

// withSection replaces the lists of tool names in a prompt by one section, or appends it.
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

// joinPrompts joins the system messages in a list, without duplicates: some clients send theirs
// with every request.
func joinPrompts(list []conversation.Message) string {
	var texts []string
	for i := range list {
		text := strings.TrimSpace(list[i].Text())
		if list[i].IsSystem() && text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}
