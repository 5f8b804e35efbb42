package console

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// field is one argument of a tool in a form.
type field struct {
	Name     string // of the argument
	Input    string // of the input
	Help     string
	Kind     fieldKind
	Required bool
	Choices  []string // JSON texts
	Default  string   // a JSON text, as a hint
	Value    string   // as the person left it
}

type fieldKind string

const (
	fieldText   fieldKind = "text"   // a string
	fieldNumber fieldKind = "number" // a number, kept as it was typed
	fieldChoice fieldKind = "choice" // one of some values
	fieldJSON   fieldKind = "json"   // anything else, as JSON
)

const (
	// maxFields is how many inputs a form has; a tool with more arguments takes JSON.
	maxFields = 60
	// maxChoices is how many values a list to choose from has.
	maxChoices = 200
)

// fieldsOf makes a form from the schema of a tool's arguments, in the schema's order. What a
// form cannot ask for is asked for as JSON. Nil: the whole is asked for as JSON.
func fieldsOf(schema json.RawMessage) []field {
	var required []string
	json.Unmarshal(rawjson.Get(schema, "required"), &required) // what is no list requires nothing
	fields := []field{}
	w := rawjson.Object(rawjson.Get(schema, "properties"))
	for w.Next() {
		if len(fields) == maxFields {
			return nil
		}
		name := string(w.Key)
		f := fieldOf(name, w.Value)
		f.Required = slices.Contains(required, name)
		fields = append(fields, f)
	}
	if w.Err() != nil && len(fields) > 0 {
		return nil
	}
	return fields
}

func fieldOf(name string, schema []byte) field {
	f := field{Name: name, Input: "a:" + name, Kind: fieldJSON}
	f.Help, _ = rawjson.String(rawjson.Get(schema, "description"))
	f.Default = string(rawjson.Get(schema, "default"))
	if c := rawjson.Get(schema, "const"); c != nil {
		f.Kind, f.Choices = fieldChoice, []string{string(c)}
		return f
	}
	if f.Choices = values(rawjson.Get(schema, "enum")); len(f.Choices) > 0 {
		f.Kind = fieldChoice
		return f
	}
	switch kindOf(rawjson.Get(schema, "type")) {
	case "string":
		f.Kind = fieldText
	case "number", "integer":
		f.Kind = fieldNumber
	case "boolean":
		f.Kind, f.Choices = fieldChoice, []string{"true", "false"}
	}
	return f
}

// values are the members of a list as JSON texts; none when there are too many to choose from.
func values(list []byte) (texts []string) {
	w := rawjson.Array(list)
	for w.Next() {
		if len(texts) == maxChoices {
			return nil
		}
		texts = append(texts, string(rawjson.OneLine(w.Value)))
	}
	return texts
}

// kindOf is the one type that a schema allows beside null; "" when there are more.
func kindOf(raw []byte) string {
	if one, ok := rawjson.String(raw); ok {
		return one
	}
	var kinds []string
	if json.Unmarshal(raw, &kinds) != nil {
		return ""
	}
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "null" })
	if len(kinds) != 1 {
		return ""
	}
	return kinds[0]
}

// argumentsOf makes the arguments from what a person put into the form. An empty input is no
// argument. What is no JSON goes as text: whether it fits is for the call to say.
func argumentsOf(fields []field, form url.Values) json.RawMessage {
	out := []byte{'{'}
	for i := range fields {
		f := &fields[i]
		f.Value = form.Get(f.Input)
		if f.Value == "" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendString(out, f.Name), ':')
		if f.Kind != fieldText && rawjson.Check([]byte(f.Value)) == nil {
			out = append(out, f.Value...)
		} else {
			out = rawjson.AppendString(out, f.Value)
		}
	}
	return append(out, '}')
}
