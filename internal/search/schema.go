package search

import "github.com/toolfit/toolfit/internal/rawjson"

// maxLevels is how deep the schemas inside a schema are read.
const maxLevels = 6

// schemaText gives the names of the parameters and, as text, what is said about them. Of
// shared definitions it reads each once instead of following references, so cycles cannot
// hold it up; what is not JSON is passed over.
func schemaText(raw []byte, level int, name, text func(string)) {
	if level > maxLevels {
		return
	}
	for w := rawjson.Object(raw); w.Next(); {
		switch string(w.Key) {
		case "properties":
			for p := rawjson.Object(w.Value); p.Next(); {
				name(string(p.Key))
				schemaText(p.Value, level+1, name, text)
			}
		case "patternProperties", "$defs", "definitions", "schemas":
			for p := rawjson.Object(w.Value); p.Next(); {
				schemaText(p.Value, level+1, name, text)
			}
		case "items", "additionalProperties", "components":
			schemaText(w.Value, level+1, name, text)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for p := rawjson.Array(w.Value); p.Next(); {
				schemaText(p.Value, level+1, name, text)
			}
		case "description", "title", "const":
			literal(w.Value, text)
		case "enum":
			for p := rawjson.Array(w.Value); p.Next(); {
				literal(p.Value, text)
			}
		}
	}
}

func literal(raw []byte, text func(string)) {
	if s, ok := rawjson.String(raw); ok {
		text(s)
	}
}
