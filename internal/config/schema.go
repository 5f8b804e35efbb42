package config

import _ "embed"

//go:embed config.schema.json
var fileSchema []byte

// Schema is the JSON Schema (2020-12) of toolfit.yaml, for editors.
func Schema() []byte { return append([]byte(nil), fileSchema...) }
