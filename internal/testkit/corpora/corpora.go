// Package corpora gives tests the public data sets that they measure with, and takes down what they measured.
package corpora

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"testing"
)

//go:embed testdata
var samples embed.FS

// Data holds the folders schemas, browser and retrieval: the whole sets from the folder that
// TOOLFIT_DATA names, or else small samples of them. Sets whose license does not allow a copy
// here have no sample.
func Data() fs.FS {
	if dir := os.Getenv("TOOLFIT_DATA"); dir != "" {
		return os.DirFS(dir)
	}
	sub, err := fs.Sub(samples, "testdata")
	if err != nil {
		panic(err) // the name is valid
	}
	return sub
}

// Read is one file.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := fs.ReadFile(Data(), name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Glob names the files that match, at least one.
func Glob(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := fs.Glob(Data(), pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	return names
}

// Tools are the files of tools with their schemas, and of operations.
var Tools = []string{"toucan_mcp_tools.jsonl", "docker_mcp_registry_tools.jsonl", "openapi_ops_dev.jsonl"}

// Rows reads one of Tools.
func Rows[T any](t testing.TB, name string) (rows []T) {
	t.Helper()
	for line := range bytes.Lines(Read(t, path.Join("schemas", name))) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// Schemas are the input schemas of one of Tools, each distinct one once.
func Schemas(t testing.TB, name string) (schemas []json.RawMessage) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range Rows[struct{ InputSchema json.RawMessage }](t, name) {
		if s := string(row.InputSchema); s != "" && !seen[s] {
			seen[s] = true
			schemas = append(schemas, row.InputSchema)
		}
	}
	return schemas
}

// Group is one schema of the JSON Schema test suite with its values.
type Group struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// Suite is the JSON Schema test suite, by the name of the file without its ending.
func Suite(t testing.TB) map[string][]Group {
	t.Helper()
	suite := map[string][]Group{}
	for _, file := range Glob(t, "schemas/jsts/*.json") {
		var groups []Group
		if err := json.Unmarshal(Read(t, file), &groups); err != nil {
			t.Fatal(err)
		}
		base := path.Base(file)
		suite[base[:len(base)-len(".json")]] = groups
	}
	return suite
}
