package steps

import _ "embed"

//go:embed steps.schema.json
var schema []byte

// Schema is the JSON Schema of test files, for editors.
func Schema() []byte { return schema }

// Actions are the keys that say what a step does.
func Actions() []string { return keysOf((&decoder{}).actions(&Step{})) }
