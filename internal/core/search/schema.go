package search

import "github.com/toolfit/toolfit/internal/core/jsonschema"

// maxLevels is how deep the schemas inside a schema are read.
const maxLevels = 6

// schemaText gives the names of the parameters and, as text, what is said about them. Of
// shared definitions it reads each once instead of following references, so cycles cannot
// hold it up.
func schemaText(n *jsonschema.Node, level int, name, text func(string)) {
	if level > maxLevels {
		return
	}
	for _, kid := range n.Members() {
		switch kid.Key {
		case "description", "title", "const", "enum":
			for _, word := range n.Strings(kid.Key) {
				text(word)
			}
		default:
			kid.Schemas(func(inner *jsonschema.Node) {
				if kid.Key == "properties" {
					name(inner.Key)
				}
				schemaText(inner, level+1, name, text)
			})
		}
	}
}
