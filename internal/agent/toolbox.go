package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// toolbox is the tools of an agent. Others may not be called.
type toolbox struct {
	view *catalog.View
	list []*catalog.Entry            // shown to the model, in order
	may  map[*catalog.Entry]struct{} // that may be called
	rest *catalog.Entry              // fetches the rest of a result; nil: there is none, or it is in list already

	language string          // in which tools are described; "": in their servers' words
	speech   locale.Language // in which ours are

	missing []string // entries of available_tools that match no tool of the profile
}

func newToolbox(v *catalog.View, a *config.Agent) *toolbox {
	b := &toolbox{view: v, may: map[*catalog.Entry]struct{}{}, language: a.Language, speech: speechOf(a)}
	add := func(e *catalog.Entry, shown bool) {
		if b.allows(e) || fetches(e) || !e.UsedBy(a) {
			return
		}
		b.may[e] = struct{}{}
		if shown {
			b.list = append(b.list, e)
		}
	}
	for _, wanted := range a.Available {
		for _, e := range v.Entries {
			if e.MeantBy(wanted) {
				add(e, true)
			}
		}
	}
	if len(a.Available) == 0 {
		for _, e := range v.Entries {
			add(e, e.Listed())
		}
	}
	if fetch, err := v.Find(call.FetchResult); err == nil && len(b.list) > 0 && mayFetch(a, fetch) {
		b.may[fetch] = struct{}{}
		b.rest = fetch
	}
	return b
}

// offerRest offers fetch_result once a truncated result was given. It tells whether the list has
// changed.
func (b *toolbox) offerRest(said []conversation.Message) bool {
	if b.rest == nil || !slices.ContainsFunc(said, handsOver) {
		return false
	}
	b.list = append(b.list, b.rest)
	b.rest = nil
	return true
}

// handsOver tells whether a message is a result with a ref to its rest.
func handsOver(m conversation.Message) bool {
	return m.Note != nil && m.Note.Ref != "" && strings.Contains(m.Text(), m.Note.Ref)
}

func fetches(e *catalog.Entry) bool { return e.Own && e.Shown == call.FetchResult }

// mayFetch tells whether a tool is fetch_result and not denied: every agent with tools has it.
func mayFetch(a *config.Agent, e *catalog.Entry) bool {
	return fetches(e) && !slices.ContainsFunc(a.Denied, e.MeantBy)
}

// found is the tool that a model means, and the name to call it by.
type found struct {
	*catalog.Entry
	name string
}

// find returns the tool that a model means. The server's name may be missing where that is
// unambiguous.
func (b *toolbox) find(name, source string, args json.RawMessage) (found, error) {
	fits := func(e *catalog.Entry) bool { return b.allows(e) && (source == "" || string(e.Server) == source) }
	e, err := b.view.Find(name)
	if err == nil && fits(e) {
		return found{e, e.Shown}, nil
	}
	var alike []string
	for _, other := range b.view.Entries {
		if fits(other) && (name == other.Definition.Name || name == string(other.Name)) {
			e = other
			alike = append(alike, other.Shown)
		}
	}
	switch len(alike) {
	case 1:
		return found{e, e.Shown}, nil
	case 0:
		if e, _, ok := b.view.Route(name, args); ok && fits(e) {
			return found{e, name}, nil // another version of its server has it under this name
		}
		return found{}, b.view.Unknown(name, b.allows)
	}
	return found{}, fault.New(fault.UnknownTool, "%.100s can mean several tools", name).
		WithHint("call one of %s", strings.Join(alike, ", "))
}

func (b *toolbox) allows(e *catalog.Entry) bool {
	_, ok := b.may[e]
	return ok
}

// shown returns the names of the offered tools.
func (b *toolbox) shown() []string {
	list := make([]string, len(b.list))
	for i, e := range b.list {
		list[i] = e.Shown
	}
	return list
}

// promptTool returns a tool's prompt text in the agent's language.
func (b *toolbox) promptTool(e *catalog.Entry) prompt.Tool {
	t := e.PromptTool()
	t.Description = t.DescriptionIn(b.language)
	if e.Own {
		t.Description = b.speech.Translate(t.Description)
		t.Schema = said(t.Schema, b.speech)
	}
	return t
}

// said translates the descriptions in one of our schemas.
func said(schema json.RawMessage, in locale.Language) json.RawMessage {
	if in == locale.English {
		return schema
	}
	var edits []rawjson.Edit
	var walk func(from int, value []byte)
	walk = func(from int, value []byte) {
		for w := rawjson.Object(value); w.Next(); {
			if text, ok := rawjson.String(w.Value); ok && string(w.Key) == "description" {
				edits = append(edits, rawjson.Edit{Start: from + w.Start, End: from + w.End,
					New: rawjson.AppendString(nil, sayBeginning(text, in))})
			}
			walk(from+w.Start, w.Value)
		}
	}
	walk(0, schema)
	return rawjson.AppendSplice(nil, schema, edits...)
}

// sayBeginning translates as many sentences from the first on as it can: a dialect may append to a
// description.
func sayBeginning(text string, in locale.Language) string {
	for end := len(text); end > 0; end = strings.LastIndex(text[:end-1], ". ") + 1 {
		if said := in.Translate(text[:end]); said != text[:end] {
			return said + text[end:]
		}
	}
	return text
}

func (b *toolbox) section(heading string) (string, error) {
	tools := make([]prompt.Tool, len(b.list))
	for i, e := range b.list {
		tools[i] = b.promptTool(e)
	}
	heading = cmp.Or(heading, b.speech.Translate(prompt.Heading))
	page, err := prompt.Render(tools, &prompt.Options{Format: prompt.Markdown, AsGiven: true, Heading: heading})
	if err != nil {
		return "", err
	}
	return page.Text, nil
}

// functions returns the tools for function calling; those that the dialect cannot express are left
// out.
func (b *toolbox) functions(d schema.Dialect) ([]conversation.Tool, error) {
	fitting, err := b.view.For(d)
	if err != nil {
		return nil, err
	}
	var list []conversation.Tool
	for _, e := range b.list {
		f := fitting.Tool(e.Shown)
		if f == nil || f.Plan == nil {
			continue
		}
		t := conversation.Tool{Name: e.Shown, Description: b.promptTool(e).Description, Parameters: f.Plan.Parameters, Strict: f.Strict}
		if e.Own {
			t.Parameters = said(t.Parameters, b.speech)
		}
		list = append(list, t)
	}
	return list, nil
}
