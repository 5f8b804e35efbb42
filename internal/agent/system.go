package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/config"
)

// toolsLine begins the line of a prompt that names the agent's tools.
const toolsLine = "Available tools: "

// basePrompt is the prompt of an agent that has none of its own.
func basePrompt(a *config.Agent, tools []string) string {
	parts := []string{"You are " + a.Name + "."}
	if a.Description != "" {
		parts[0] += " " + a.Description
	}
	if a.Personality != "" {
		parts = append(parts, a.Personality)
	}
	if len(tools) > 0 {
		parts = append(parts, fmt.Sprintf("Use the tools where they help. At most %d calls are made for one answer.", a.Capabilities.MaxToolCalls))
		if a.Capabilities.Planning {
			parts = append(parts, planning)
		}
		parts = append(parts, toolsLine+strings.Join(tools, ", "))
	}
	return strings.Join(parts, "\n\n")
}

// planning is what an agent that plans is told.
const planning = "Before the first call, write a short numbered plan of the steps you will take. Change it when a result calls for that."

// systemPrompt is what the model is told first. A caller's own prompt comes before the
// agent's, and the agent's before the one that is written from its fields. The section with
// the tools takes the place of the line that names them; it is empty where the endpoint gets
// the tools itself.
func systemPrompt(a *config.Agent, custom, section string, tools []string) string {
	text := cmp.Or(custom, a.Prompt)
	switch {
	case text == "":
		text = basePrompt(a, tools)
	case a.Capabilities.Planning && len(tools) > 0: // whoever wrote it, an agent that plans does
		text += "\n\n" + planning
	}
	if section == "" {
		return text
	}
	if start, end, ok := lineOf(text); ok {
		text = text[:start] + section + text[end:]
	} else {
		text += section
	}
	return strings.TrimRight(text, "\n") + "\n\n" + protocol
}

// customPrompt is made of system messages: each has its say, and none twice, for some clients
// send theirs with every question.
type customPrompt []string

func (p *customPrompt) add(m *Message) {
	if text := strings.TrimSpace(m.Text()); text != "" && !slices.Contains(*p, text) {
		*p = append(*p, text)
	}
}

func (p customPrompt) text() string { return strings.Join(p, "\n\n") }

// lineOf is where the line stands that names the tools.
func lineOf(text string) (start, end int, ok bool) {
	for start < len(text) {
		end = len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		if strings.HasPrefix(text[start:end], strings.TrimSpace(toolsLine)) {
			return start, end, true
		}
		start = end + 1
	}
	return 0, 0, false
}
