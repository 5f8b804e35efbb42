package config

import (
	"bytes"
	_ "embed" // the schema
	"os"
	"path/filepath"

	"github.com/toolfit/toolfit/internal/base/regular"
)

//go:embed config.schema.json
var schemaText []byte

// Schema returns the JSON Schema of the configuration, for editors.
func Schema() []byte { return schemaText }

// schemaFile is the file with the schema beside a configuration that AddServer made. A file and not an address: editors
// find it without a network, and it has the keys of this program and not those of another version.
const schemaFile = "toolfit.schema.json"

// namesSchema is the line by which editors find it.
const namesSchema = "# yaml-language-server: $schema=" + schemaFile + "\n"

// SchemaBeside is the file with the schema that a configuration at path with this text names; "" for none.
func SchemaBeside(path string, text []byte) string {
	if !bytes.HasPrefix(text, []byte(namesSchema)) {
		return ""
	}
	return filepath.Join(filepath.Dir(path), schemaFile)
}

// WriteSchema writes the schema beside a configuration that names it, unless it is there. It only helps editors: the
// configuration is in force without it.
func WriteSchema(path string, text []byte) {
	file := SchemaBeside(path, text)
	if file == "" {
		return
	}
	old, err := os.ReadFile(file)
	if err != nil {
		old = nil // it must not be there
	}
	if !bytes.Equal(old, schemaText) {
		regular.Replace(file, old, schemaText, 0o777)
	}
}
