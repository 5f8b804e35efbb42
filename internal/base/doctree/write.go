package doctree

import (
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// blockYAML writes "key: value" as lines. Lists and inner mappings of scalars stay on one
// line, as people write them.
func blockYAML(key string, value *Node, indent, step string) []string {
	if value.Kind != Mapping || len(value.Entries) == 0 {
		return []string{indent + yamlScalar(key) + ": " + value.Format(yamlStyle)}
	}
	lines := []string{indent + yamlScalar(key) + ":"}
	for _, e := range value.Entries {
		lines = append(lines, blockYAML(e.Key, e.Value, indent+step, step)...)
	}
	return lines
}

// Style is how a format writes a value on one line.
type Style struct {
	Key, Text   func(string) string // quotes what needs it
	Separator   string              // between key and value
	Open, Close string              // around mappings
}

var (
	yamlStyle = Style{yamlScalar, yamlScalar, ": ", "{", "}"}
	jsonStyle = Style{QuoteJSON, QuoteJSON, ": ", "{", "}"}
)

// Format writes a value on one line.
func (n *Node) Format(as Style) string {
	var parts []string
	switch n.Kind {
	case Mapping:
		for _, e := range n.Entries {
			parts = append(parts, as.Key(e.Key)+as.Separator+e.Value.Format(as))
		}
		return as.Open + strings.Join(parts, ", ") + as.Close
	case List:
		for _, item := range n.Items {
			parts = append(parts, item.Format(as))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Text:
		return as.Text(n.Text)
	case Nothing:
		return "null"
	}
	return n.Text
}

// yamlScalar writes text plainly where every YAML reader takes it for the same text,
// else in double quotes.
func yamlScalar(s string) string {
	plain := s != "" && len(s) <= 200
	for _, r := range s {
		plain = plain && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./", r))
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "-", "--", "---", "...": // text for some readers, not for others
		plain = false
	}
	if plain {
		tokens := lexer.Tokenize(s)
		plain = len(tokens) == 1 && tokens[0].Type == token.StringType && tokens[0].Value == s
	}
	if plain {
		return s
	}
	return QuoteJSON(s)
}

// QuoteJSON quotes text as JSON does, which YAML reads too. "<" stays "<".
func QuoteJSON(s string) string { return string(rawjson.Encode(s)) }

// formatJSON writes a value as JSON: on one line when unit is empty, else objects over
// several lines that start with indent.
func formatJSON(n *Node, indent, unit string) string {
	if n.Kind != Mapping || len(n.Entries) == 0 || unit == "" {
		return n.Format(jsonStyle)
	}
	inner := indent + unit
	var parts []string
	for _, e := range n.Entries {
		parts = append(parts, QuoteJSON(e.Key)+": "+formatJSON(e.Value, inner, unit))
	}
	return "{\n" + inner + strings.Join(parts, ",\n"+inner) + "\n" + indent + "}"
}
