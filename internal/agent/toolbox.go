package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// toolbox is the tools of one agent. What is not in it may not be called, whatever the
// profile has.
type toolbox struct {
	view *catalog.View
	list []*catalog.Entry            // that the model is told of, in order
	may  map[*catalog.Entry]struct{} // that may be called
	rest *catalog.Entry              // fetches the rest of a result; nil: there is none, or the model is told of it already

	language string          // in which tools are described; "": in their servers' words
	speech   locale.Language // in which ours are

	missing []string // of the agent's available_tools: the profile has none of the name
}

// newToolbox chooses an agent's tools among those of its profile.
func newToolbox(v *catalog.View, a *config.Agent) *toolbox {
	b := &toolbox{view: v, may: map[*catalog.Entry]struct{}{}, missing: v.UnknownTools(a), language: a.Language, speech: speechOf(a)}
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

// offerRest tells the model of the tool that fetches the rest of a result, once it has been
// given one with a handle to its rest. It reports whether the model is told from now on.
func (b *toolbox) offerRest(said []Message) bool {
	if b.rest == nil || !slices.ContainsFunc(said, handsOver) {
		return false
	}
	b.list, b.rest = append(b.list, b.rest), nil
	return true
}

// handsOver tells whether the message is a result that says where its rest is.
func handsOver(m Message) bool {
	return m.Note != nil && m.Note.Ref != "" && strings.Contains(m.Text(), m.Note.Ref)
}

// fetches tells whether it is our tool that fetches the rest of a result.
func fetches(e *catalog.Entry) bool { return e.Own && e.Shown == call.FetchResult }

// mayFetch tells whether it is that tool, and the agent has it: whoever has others has it too,
// unless it is denied.
func mayFetch(a *config.Agent, e *catalog.Entry) bool {
	return fetches(e) && !slices.ContainsFunc(a.Denied, e.MeantBy)
}

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
		return found{}, b.view.Unknown(name, b.allows)
	}
	return found{}, fault.New(fault.UnknownTool, "%.100s can mean several tools", name).WithHint("call one of %s", strings.Join(alike, ", "))
}

func (b *toolbox) allows(e *catalog.Entry) bool {
	_, ok := b.may[e]
	return ok
}

// shown are the names of the tools that the model is told of.
func (b *toolbox) shown() []string {
	list := make([]string, len(b.list))
	for i, e := range b.list {
		list[i] = e.Shown
	}
	return list
}

// told is what the model is told of a tool, in the agent's language.
func (b *toolbox) told(e *catalog.Entry) prompt.Tool {
	t := e.PromptTool()
	t.Description = t.DescriptionIn(b.language)
	if e.Own {
		t.Description, t.Schema = b.speech.Say(t.Description), said(t.Schema, b.speech)
	}
	return t
}

// said is a schema of ours with its descriptions in the language.
func said(schema json.RawMessage, in locale.Language) json.RawMessage {
	if in == locale.English {
		return schema
	}
	var edits []rawjson.Edit
	var walk func(from int, value []byte)
	walk = func(from int, value []byte) {
		for w := rawjson.Object(value); w.Next(); {
			if text, ok := rawjson.String(w.Value); ok && string(w.Key) == "description" {
				edits = append(edits, rawjson.Edit{Start: from + w.Start, End: from + w.End, New: rawjson.AppendString(nil, sayBeginning(text, in))})
			}
			walk(from+w.Start, w.Value)
		}
	}
	walk(0, schema)
	return rawjson.AppendSplice(nil, schema, edits...)
}

// sayBeginning says as many sentences from the first on as there is a translation for: a
// dialect may have put what its schemas cannot express behind a description.
func sayBeginning(text string, in locale.Language) string {
	for end := len(text); end > 0; end = strings.LastIndex(text[:end-1], ". ") + 1 {
		if said := in.Say(text[:end]); said != text[:end] {
			return said + text[end:]
		}
	}
	return text
}

// section is the tools as text for a prompt.
func (b *toolbox) section(heading string) (string, error) {
	tools := make([]prompt.Tool, len(b.list))
	for i, e := range b.list {
		tools[i] = b.told(e)
	}
	heading = cmp.Or(heading, b.speech.Say(prompt.Heading))
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
		parameters := f.Plan.Parameters
		if e.Own {
			parameters = said(parameters, b.speech)
		}
		t := b.told(e)
		out = rawjson.AppendString(append(out, `{"type":"function","function":{"name":`...), e.Shown)
		out = rawjson.AppendString(append(out, `,"description":`...), t.Description)
		out = append(append(out, `,"parameters":`...), parameters...)
		if f.Strict {
			out = append(out, `,"strict":true`...)
		}
		out = append(out, "}}"...)
	}
	return append(out, ']'), n, nil
}
