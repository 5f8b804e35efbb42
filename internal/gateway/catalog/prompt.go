package catalog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/state/config"
)

// ToolsPrompt is our own prompt that lists the view's tools as text.
const ToolsPrompt = "tools"

var promptDefinition = json.RawMessage(`{"name":"tools","title":"The tools as text",` +
	`"description":"What tools there are and how they are called, for a system prompt.",` +
	`"arguments":[{"name":"format","description":"ts (TypeScript, the default), md, sig (one line each) or json"},` +
	`{"name":"budget","description":"tokens at most; without it everything is written out"}]}`)

// reservedPrompts are the names of our own prompts.
var reservedPrompts = map[string]bool{ToolsPrompt: true}

// addPrompt offers the view's tools as a prompt if the profile has a search or asks for it.
func (v *View) addPrompt(p config.Profile) {
	if v.offer.mode != prompt.Search && !p.Search.Prompt || matches(p.Deny, ToolsPrompt) {
		return
	}
	def, err := tool.ParseDefinition(promptDefinition)
	if err != nil {
		return // a test reads every definition
	}
	v.ownPrompt = &Entry{Shown: def.Name, Name: tool.Name(def.Name), Definition: def, Own: true}
	v.Prompts = append(v.Prompts, v.ownPrompt)
}

// maxWritten limits how many texts a view keeps.
const maxWritten = 4

// written are the texts of a view's tools that were written last, by how they were.
type written struct {
	mu    sync.Mutex
	pages map[string]*prompt.Page
}

// Written is the text of the tools that was written under the key before, or that write writes now.
func (v *View) Written(key string, write func() (*prompt.Page, error)) (*prompt.Page, error) {
	v.written.mu.Lock()
	page := v.written.pages[key]
	v.written.mu.Unlock()
	if page != nil {
		return page, nil
	}
	page, err := write()
	if err != nil {
		return nil, err
	}
	v.written.mu.Lock()
	defer v.written.mu.Unlock()
	if v.written.pages == nil || len(v.written.pages) >= maxWritten {
		v.written.pages = map[string]*prompt.Page{}
	}
	v.written.pages[key] = page
	return page, nil
}

// PromptTools are the view's tools for a prompt, in list order: all that can be called by name.
func (v *View) PromptTools() []prompt.Tool {
	list := make([]prompt.Tool, 0, len(v.Entries))
	for _, e := range v.Entries {
		if (!e.Own || !e.unlisted) && !e.AppOnly() {
			list = append(list, e.PromptTool())
		}
	}
	return list
}

// PromptTool is the tool as a prompt writes it.
func (e *Entry) PromptTool() prompt.Tool {
	t := prompt.Tool{
		Name: e.Shown, Server: string(e.Server), Tags: tags(e), Description: e.Description(), Schema: e.InputSchema(),
		Result: e.Definition.OutputSchema(),
	}
	if e.Override != nil {
		t.Descriptions = e.Override.Descriptions
		t.Example = e.Override.Example
	}
	return t
}

// InScripts is where a script finds the tool: as a method of its server, shop.list_orders, or of tools under the name that is shown, if
// a script cannot name the server.
func (e *Entry) InScripts() (object, method string) {
	switch {
	case e.Own || !identifier.MatchString(string(e.Server)) || slices.Contains(takenNames, string(e.Server)):
		return "tools", e.Shown
	case e.Override != nil && e.Override.Name != "":
		return string(e.Server), e.Override.Name
	}
	return string(e.Server), e.Definition.Name
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// takenNames are names that mean something else in a script: words of the language, and what every script has.
var takenNames = strings.Fields(`arguments async await break case catch class const continue debugger default delete do else enum
	eval export extends false finally for function if implements import in instanceof interface let new null of package private
	protected public return static super switch this throw true try typeof var void while with yield undefined NaN Infinity globalThis
	Array BigInt Boolean Date Error Function Intl JSON Map Math Number Object Promise Proxy Reflect RegExp Set String Symbol
	console crypto describe input search sleep tools`)

// Pinned are the names of the tools that the profile always shows in full.
func (v *View) Pinned() []string {
	var names []string
	for _, e := range v.Entries {
		if e.pinned {
			names = append(names, e.Shown)
		}
	}
	return names
}
