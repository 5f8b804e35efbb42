package console

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
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
	Value    string   // as entered
}

type fieldKind string

const (
	fieldText   fieldKind = "text"   // a string
	fieldNumber fieldKind = "number" // a number, kept as typed
	fieldChoice fieldKind = "choice" // one of some values
	fieldJSON   fieldKind = "json"   // anything else, as JSON
)

const (
	// maxFields is how many fields a form has; more arguments are entered as JSON.
	maxFields = 60
	// maxChoices is how many values a list offers.
	maxChoices = 200
)

// fieldsOf makes a form from the schema of a tool's arguments, in the schema's order; complex
// arguments are entered as JSON. Nil: all arguments are entered as JSON.
func fieldsOf(schema json.RawMessage) []field {
	fields := []field{}
	if len(schema) == 0 {
		return fields
	}
	root, err := jsonschema.Parse(schema)
	properties := root.Get("properties").Members()
	if err != nil || len(properties) > maxFields {
		return nil
	}
	required := root.Strings("required")
	for _, p := range properties {
		f := fieldOf(p)
		f.Required = slices.Contains(required, p.Key)
		fields = append(fields, f)
	}
	return fields
}

func fieldOf(schema *jsonschema.Node) field {
	f := field{Name: schema.Key, Input: "a:" + schema.Key, Kind: fieldJSON, Help: schema.Str("description")}
	if d := schema.Get("default"); d != nil {
		f.Default = string(d.Raw())
	}
	if c := schema.Get("const"); c != nil {
		f.Kind = fieldChoice
		f.Choices = []string{string(c.Raw())}
		return f
	}
	if enum := schema.Get("enum").Elements(); len(enum) > 0 && len(enum) <= maxChoices {
		f.Kind = fieldChoice
		for _, value := range enum {
			f.Choices = append(f.Choices, string(rawjson.OneLine(value.Raw())))
		}
		return f
	}
	kinds := slices.DeleteFunc(schema.Strings("type"), func(k string) bool { return k == "null" })
	if len(kinds) != 1 {
		return f
	}
	switch kinds[0] {
	case "string":
		f.Kind = fieldText
	case "number", "integer":
		f.Kind = fieldNumber
	case "boolean":
		f.Kind = fieldChoice
		f.Choices = []string{"true", "false"}
	}
	return f
}

// argumentsOf reads the arguments from the form. Empty fields are left out, and invalid JSON is
// sent as text: the call reports whether it fits.
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
