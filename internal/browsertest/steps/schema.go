package steps

import _ "embed" // the schema

//go:embed steps.schema.json
var schemaText []byte

// Schema returns the JSON Schema of tests in YAML, for editors.
func Schema() []byte { return schemaText }
