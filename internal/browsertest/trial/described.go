package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
)

// slots are the arguments of a browser's tools that name an element, and that of its description.
var slots = []struct {
	names []string
	words string
}{
	{[]string{"target", "ref", "selector", "locator"}, "element"},
	{[]string{"startTarget", "startRef", "startSelector"}, "startElement"},
	{[]string{"endTarget", "endRef", "endSelector"}, "endElement"},
}

// uses say what a tool does with its element, or a field of a form by its type.
var uses = map[string]find.Action{
	"browser_click": find.Click, "browser_hover": find.Click, "browser_drag": find.Click,
	"browser_type": find.Fill, "browser_select_option": find.Select,
	"textbox": find.Fill, "slider": find.Fill, "checkbox": find.Check, "radio": find.Check, "combobox": find.Select,
}

// Describes finds the elements that a call of a browser's tool describes, by words or by an
// older selector, as steps do: one element, or an error that lists the nearest.
func (l *Lab) Describes(
	ctx context.Context, req *call.Request, entry *catalog.Entry, args json.RawMessage,
) (found, answer json.RawMessage, err error) {
	view, err := l.parts.Catalog.View(req.Profile)
	if err != nil {
		return nil, nil, err
	}
	var given map[string]json.RawMessage
	if server, err := browserOf(view); err != nil || server != entry.Server || json.Unmarshal(args, &given) != nil || given == nil {
		return args, nil, nil // it is no browser, or one of several; or fitting says what is wrong
	}
	if _, asks := given["condition"]; asks && entry.Definition.Name == "browser_snapshot" {
		return nil, result(run.Misplaced(l.newID(), string(args)), true), nil
	}
	d := describing{ctx: ctx, lab: l, req: req, entry: entry}
	d.element(given, uses[entry.Definition.Name])
	d.fields(given)
	switch {
	case d.err != nil:
		return nil, nil, d.err
	case d.miss != nil:
		return nil, result(d.miss, true), nil
	case !d.changed:
		return args, nil, nil
	}
	found, err = json.Marshal(given)
	return found, nil, err
}

// describing is one call whose elements are looked up.
type describing struct {
	ctx     context.Context
	lab     *Lab
	req     *call.Request
	entry   *catalog.Entry
	runner  *run.Runner
	changed bool
	miss    *run.Miss
	err     error
}

// element puts the ref of what is described in the place of the words, in each slot that has them.
func (d *describing) element(given map[string]json.RawMessage, action find.Action) {
	for _, slot := range slots {
		words := ""
		for _, name := range slot.names {
			words = cmp.Or(words, textOf(given[name]))
		}
		if words == "" && takes(d.entry, slot.names) {
			words = textOf(given[slot.words]) // words alone, as older prompts say it
		}
		if words == "" || find.IsRef(words) || d.err != nil || d.miss != nil {
			continue
		}
		address := d.address(words, action)
		if d.err != nil || d.miss != nil {
			return
		}
		for _, name := range slot.names {
			delete(given, name)
		}
		given[slot.names[0]] = rawjson.AppendString(nil, address)
		if _, has := given[slot.words]; !has {
			given[slot.words] = rawjson.AppendString(nil, words)
		}
		d.changed = true
	}
}

// fields looks up the elements of a form.
func (d *describing) fields(given map[string]json.RawMessage) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(given["fields"], &list) != nil {
		return
	}
	before := d.changed
	d.changed = false
	for _, field := range list {
		d.element(field, uses[textOf(field["type"])])
		delete(field, "element") // it is called name there
	}
	if d.changed {
		given["fields"], d.err = json.Marshal(list)
	}
	d.changed = d.changed || before
}

// address is what the server takes for the element that is described.
func (d *describing) address(words string, action find.Action) (address string) {
	if d.runner == nil {
		d.runner = d.lab.runner(d.lab.sessionOf(d.req, d.entry.Server), d.lab.newID(), run.Options{}, nil)
	}
	address, d.miss = d.runner.Address(d.ctx, &steps.Target{Text: words}, action)
	return address
}

// takes tells whether a tool has one of the arguments.
func takes(entry *catalog.Entry, names []string) bool {
	properties := rawjson.Get(entry.InputSchema(), "properties")
	return slices.ContainsFunc(names, func(name string) bool { return rawjson.Get(properties, name) != nil })
}

// textOf is a JSON string; "" for anything else.
func textOf(raw json.RawMessage) string {
	text, _ := rawjson.String(raw)
	return text
}
