package project

import (
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/fields"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// Wanted is what a fetch asks for: masks, or names from a note. In JSON it is a string or a list of
// strings.
type Wanted []string

// UnmarshalJSON reads both forms.
func (w *Wanted) UnmarshalJSON(raw []byte) error {
	if text, ok := rawjson.String(raw); ok {
		*w = nil
		if text != "" {
			*w = Wanted{text}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(w))
}

// Found is what a fetch gives.
type Found struct {
	Value   []byte
	Mask    string   // the mask that was applied
	Unknown []string // requested names that do not occur
	Known   []string // with Unknown: the existing fields, as masks
}

// Fetch selects from a stored result. A name needs no path if it is unambiguous.
func Fetch(result []byte, w Wanted) (Found, error) {
	tree := treeOf(result)
	m, err := w.in(tree)
	if err != nil {
		return Found{}, err
	}
	var seen mask.Tally
	f := Found{Mask: m.String()}
	f.Value, err = selectFrom(result, m, &seen)
	if err != nil {
		return Found{}, err
	}
	if len(tree.Children) > 0 { // a text has no fields to miss
		f.Unknown = m.Unseen(&seen)
	}
	if len(f.Unknown) > 0 {
		f.Known = known(tree)
	}
	return f, nil
}

// treeOf shows the fields of which notes about the result speak.
func treeOf(result []byte) *fields.Node {
	if values := Values(result); len(values) > 0 {
		return fields.Of(values...)
	}
	return fields.Of(Body(result))
}

// maxKnown limits the fields listed beside an unknown one.
const maxKnown = 40

func known(tree *fields.Node) []string {
	paths := tree.Paths("")
	return paths[:min(len(paths), maxKnown)]
}

// in returns the mask for a value with these fields.
func (w Wanted) in(tree *fields.Node) (*mask.Mask, error) {
	var items []string
	for _, text := range w {
		m, err := mask.Parse(text)
		if fits := err == nil && len(m.Items()) == 1 && tree.Paths(m.Items()[0].Name) != nil; !fits && tree.Paths(text) != nil {
			m, err = mask.Parse(keyOf(text)) // an odd name, as a note gives it
		}
		if err != nil {
			return nil, fault.New(fault.BadArguments, "/fields: %w", err)
		}
		placed, err := place(m, tree)
		if err != nil {
			return nil, err
		}
		items = append(items, placed)
	}
	m, err := mask.Parse(strings.Join(items, ","))
	if err != nil {
		return nil, fault.New(fault.BadArguments, "/fields: %w", err)
	}
	return m, nil
}

// keyOf writes a name as in a mask.
func keyOf(name string) string {
	return string(mask.AppendKey(nil, rawjson.AppendString(nil, name)))
}

// place adds the path to each item of the mask that is not at the root.
func place(m *mask.Mask, tree *fields.Node) (string, error) {
	items := m.Items()
	if len(items) == 0 {
		return m.String(), nil
	}
	placed := make([]string, len(items))
	for i, item := range items {
		placed[i] = item.Source
		if item.Name == "" {
			continue
		}
		own := keyOf(item.Name)
		switch paths := tree.Paths(item.Name); {
		case len(paths) == 0 || paths[0] == own: // nowhere, or at the root
		case len(paths) == 1:
			placed[i] = strings.TrimSuffix(paths[0], own) + item.Source
		default:
			return "", fault.New(fault.BadRequest, "there is more than one %.100s", own).
				WithHint("name one: %s", strings.Join(paths[:min(len(paths), maxKnown)], ", "))
		}
	}
	return strings.Join(placed, ","), nil
}
