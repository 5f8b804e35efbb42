package recipes

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Propose is a recipe without name and description of what was run: its script, the tools that it called as they were then, a schema of
// its input, and one of its result, which may be nil. A person checks and changes it.
func Propose(run store.ScriptRun) (r Recipe, err error) {
	switch {
	case run.Err != nil:
		return r, run.Err
	case run.State != store.ScriptEnded:
		return r, fault.New(fault.Conflict, "the run %s has not ended", run.ID).WithHint("save it once it has worked")
	}
	var body call.RunBody
	if err := json.Unmarshal(run.Body, &body); err != nil {
		return r, err
	}
	if body.Failed {
		return r, fault.New(fault.Conflict, "the run %s has failed", run.ID).WithHint("save one that has worked")
	}
	r = Recipe{Run: run.ID, Code: body.Code, Input: json.RawMessage(`{"type":"object","properties":{}}`)}
	switch input := body.Input; {
	case rawjson.IsNull(input):
	case input[0] == '{':
		r.Input = schemaOf(input, 0, true)
	default: // tools take objects: the script gets the one member
		r.Input = schemaOf(mcp.With(json.RawMessage("{}"), "input", input), 0, true)
		r.Code = "return await (async (input) => {" + r.Code + "\n})(input.input)"
	}
	if out := body.Result; len(out) > 0 && out[0] == '{' {
		r.Output = schemaOf(out, 0, false)
	}
	for _, c := range body.Log {
		if c.Tool != "" && !slices.ContainsFunc(r.Tools, func(u catalog.Used) bool { return u.Name == c.Tool }) {
			r.Tools = append(r.Tools, catalog.Used{Name: c.Tool, Hash: c.Hash})
		}
	}
	return r, nil
}

const (
	maxDepth   = 5
	maxMembers = 100 // of one object
)

// schemaOf is a schema of values like one: its kinds, and never what is in it. Inputs have all members of that one; results may lack
// some, and have fractions.
func schemaOf(value json.RawMessage, depth int, input bool) json.RawMessage {
	schema := map[string]any{}
	kind := kindOf(value)
	if kind == "integer" && !input {
		kind = "number"
	}
	if kind != "" {
		schema["type"] = kind
	}
	switch {
	case depth == maxDepth:
	case kind == "array":
		items := map[string]json.RawMessage{}
		for w := rawjson.Array(value); w.Next(); {
			items[kindOf(w.Value)] = w.Value
		}
		for kind, one := range items {
			if len(items) == 1 && kind != "" {
				schema["items"] = schemaOf(one, depth+1, false) // another may differ
			}
		}
	case kind == "object":
		members := map[string]json.RawMessage{}
		names := []string{}
		for w := rawjson.Object(value); w.Next() && len(names) < maxMembers; {
			if name := string(w.Key); members[name] == nil {
				names = append(names, name)
				members[name] = schemaOf(w.Value, depth+1, input)
			}
		}
		schema["properties"] = members
		if input && len(names) > 0 {
			schema["required"] = names
		}
	}
	return rawjson.Encode(schema)
}

// kindOf is the JSON Schema type of a value; "" if null says nothing about it.
func kindOf(value json.RawMessage) string {
	switch c := value[0]; {
	case c == '{':
		return "object"
	case c == '[':
		return "array"
	case c == '"':
		return "string"
	case c == 't' || c == 'f':
		return "boolean"
	case c == 'n':
		return ""
	case strings.ContainsAny(string(value), ".eE"):
		return "number"
	}
	return "integer"
}
