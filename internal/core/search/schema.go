package search

import "github.com/toolfit/toolfit/internal/core/jsonschema"

// maxLevels limits the depth of schemas that is read.
const maxLevels = 6

// schemaText calls name for parameter names and text for their descriptions. It reads each
// shared definition once instead of following references, so that cycles are harmless.
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
