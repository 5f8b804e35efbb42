package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/prompt"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/schema"
)

// toolbox is the tools of one agent. What is not in it may not be called, whatever the
// profile has.
type toolbox struct {
	view *catalog.View
	list []*catalog.Entry            // that the model is told of, in order
	may  map[*catalog.Entry]struct{} // that may be called

	missing []string // of the agent's available_tools: the profile has none of the name
}

// newToolbox chooses an agent's tools among those of its profile.
func newToolbox(v *catalog.View, a *config.Agent) *toolbox {
	b := &toolbox{view: v, may: map[*catalog.Entry]struct{}{}}
	add := func(e *catalog.Entry, told bool) {
		if b.allows(e) || fetches(e) || !e.UsedBy(a) {
			return
		}
		b.may[e] = struct{}{}
		if told {
			b.list = append(b.list, e)
		}
	}
	for _, wanted := range a.Available {
		there := false
		for _, e := range v.Entries {
			if e.MeantBy(wanted) {
				there = true
				add(e, true)
			}
		}
		if !there && a.Capabilities.ToolCalling {
			b.missing = append(b.missing, wanted)
		}
	}
	if len(a.Available) == 0 {
		for _, e := range v.Entries {
			add(e, e.Listed())
		}
	}
	if fetch, err := v.Find(catalog.FetchResult); err == nil && fetch.Own && len(b.list) > 0 && !slices.ContainsFunc(a.Denied, fetch.MeantBy) {
		b.may[fetch] = struct{}{}
		b.list = append(b.list, fetch)
	}
	return b
}

// fetches tells whether it is our tool that fetches the rest of a result.
func fetches(e *catalog.Entry) bool { return e.Own && e.Shown == catalog.FetchResult }

// found is the tool that a model means, and the name to call it by.
type found struct {
	*catalog.Entry
	name string
}

// find is the tool that a model means. A model that leaves out the server's name is served
// where that can mean one tool only.
func (b *toolbox) find(name, source string, args json.RawMessage) (found, error) {
	fits := func(e *catalog.Entry) bool { return b.allows(e) && (source == "" || string(e.Server) == source) }
	e, err := b.view.Find(name)
	if err == nil && fits(e) {
		return found{e, e.Shown}, nil
	}
	var alike []string
	for _, other := range b.view.Entries {
		if fits(other) && (name == other.Definition.Name || name == string(other.Name)) {
			e, alike = other, append(alike, other.Shown)
		}
	}
	switch len(alike) {
	case 1:
		return found{e, e.Shown}, nil
	case 0:
		if e, _, ok := b.view.Route(name, args); ok && fits(e) {
			return found{e, name}, nil // another version of its server has it under this name
		}
		return found{}, b.unknown(name)
	}
	return found{}, fault.New(fault.UnknownTool, "%.100s can mean several tools", name).WithHint("call one of %s", strings.Join(alike, ", "))
}

// unknown says that there is no such tool, and never names one that the agent has not.
func (b *toolbox) unknown(name string) error {
	f := fault.New(fault.UnknownTool, "unknown tool: %.100s", name)
	for _, e := range b.list {
		if strings.EqualFold(e.Shown, name) || name != "" && strings.Contains(e.Shown, name) || strings.Contains(name, e.Shown) {
			return f.WithHint("did you mean %s?", e.Shown)
		}
	}
	return f
}

func (b *toolbox) allows(e *catalog.Entry) bool {
	_, ok := b.may[e]
	return ok
}

// inner checks the tool that call_tool would call: it must be the agent's too.
func (b *toolbox) inner(e found, args json.RawMessage) error {
	if !e.Own || e.Shown != catalog.CallTool {
		return nil
	}
	name, _ := rawjson.String(rawjson.Get(args, "name"))
	if name == "" {
		return nil // the call itself says what is wrong
	}
	_, err := b.find(name, "", rawjson.Get(args, "arguments"))
	return err
}

// shown are the names of the tools that the model is told of.
func (b *toolbox) shown() []string {
	list := make([]string, len(b.list))
	for i, e := range b.list {
		list[i] = e.Shown
	}
	return list
}

// section is the tools as text for a prompt.
func (b *toolbox) section(heading string) (string, error) {
	tools := make([]prompt.Tool, len(b.list))
	for i, e := range b.list {
		tools[i] = e.PromptTool()
	}
	page, err := prompt.Render(tools, &prompt.Options{Format: prompt.Markdown, AsGiven: true, Heading: heading})
	if err != nil {
		return "", err
	}
	return page.Text, nil
}

// functions are the tools as an endpoint takes them, in a dialect, and how many they are.
// Those that the dialect cannot carry are left out.
func (b *toolbox) functions(d schema.Dialect) (json.RawMessage, int, error) {
	fitting, err := b.view.For(d)
	if err != nil {
		return nil, 0, err
	}
	out := []byte{'['}
	n := 0
	for _, e := range b.list {
		f := fitting.Tool(e.Shown)
		if f == nil || f.Plan == nil {
			continue
		}
		if n++; n > 1 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(append(out, `{"type":"function","function":{"name":`...), e.Shown)
		out = rawjson.AppendString(append(out, `,"description":`...), e.Description())
		out = append(append(out, `,"parameters":`...), f.Plan.Parameters...)
		if f.Strict {
			out = append(out, `,"strict":true`...)
		}
		out = append(out, "}}"...)
	}
	return append(out, ']'), n, nil
}
