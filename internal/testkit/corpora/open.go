package corpora

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"testing"
)

// Call is a call that people have written down as the right one, of a set that is no part of Data.
type Call struct {
	Set, Tool         string
	Schema, Arguments json.RawMessage
}

// Declared tells whether the schema has every key of the arguments. Validators let others pass where nothing forbids them.
func (c *Call) Declared() bool {
	var schema struct{ Properties map[string]json.RawMessage }
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Schema, &schema) != nil || json.Unmarshal(c.Arguments, &args) != nil {
		return false
	}
	for key := range args {
		if schema.Properties[key] == nil {
			return false
		}
	}
	return true
}

// Open holds what make fit-report has read from sets that were named to it; without any, a test ends.
func Open(t testing.TB) fs.FS {
	t.Helper()
	dir := os.Getenv("TOOLFIT_OPEN_SETS")
	if dir == "" {
		t.Skip("only make fit-report SETS=… gives open sets")
	}
	return os.DirFS(dir)
}

// Calls are the calls of all open sets, by set in the order of the file.
func Calls(t testing.TB) (sets []string, calls map[string][]Call) {
	t.Helper()
	text, err := fs.ReadFile(Open(t), "calls.jsonl")
	if err != nil {
		t.Skip("no set with calls was named")
	}
	calls = map[string][]Call{}
	for line := range bytes.Lines(text) {
		var c Call
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if calls[c.Set] == nil {
			sets = append(sets, c.Set)
		}
		calls[c.Set] = append(calls[c.Set], c)
	}
	return sets, calls
}
