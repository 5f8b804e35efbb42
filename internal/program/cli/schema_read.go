package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/schema"
)

type fileTool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	problem     *schema.Error // why it cannot be used
}

// badTool is the reason for an element that is not a tool.
const badTool schema.Reason = "bad_tool"

// readTools reads the tools of a file. An element that cannot be read has a problem instead.
func readTools(data []byte) ([]fileTool, error) {
	values, err := readValues(data, "tools")
	if err != nil {
		return nil, err
	}
	tools := make([]fileTool, len(values))
	for i, v := range values {
		tools[i] = readTool(v)
		if tools[i].Name == "" {
			tools[i].Name = "tool " + strconv.Itoa(i+1)
		}
	}
	return tools, nil
}

// value is an element of a file: JSON, or its problem.
type value struct {
	raw     json.RawMessage
	problem error
}

// readValues reads the elements of a file: an array, an object with one under the key, JSON
// Lines, or a single object.
func readValues(data []byte, key string) ([]value, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data) == 0 {
		return nil, fault.New(fault.BadRequest, "the input is empty")
	}
	whole := rawjson.Check(data)
	if whole != nil {
		return readLines(data, whole)
	}
	list := data
	if inner := rawjson.Get(data, "result", key); data[0] == '{' && inner != nil {
		list = inner
	} else if inner := rawjson.Get(data, key); data[0] == '{' && inner != nil {
		list = inner
	}
	switch list[0] {
	case '{':
		return []value{{raw: list}}, nil
	case '[':
		var values []value
		for w := rawjson.Array(list); w.Next(); {
			values = append(values, value{raw: w.Value})
		}
		return values, nil
	}
	return nil, fault.New(fault.BadRequest, "expected a JSON array, an object with %q, or JSON Lines", key)
}

// readLines reads JSON Lines. whole is why the text is not one JSON value.
func readLines(data []byte, whole error) ([]value, error) {
	var values []value
	good := false
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		v := value{raw: line}
		if err := rawjson.Check(line); err != nil {
			v = value{problem: fmt.Errorf("line %d: %w", number, err)}
		}
		good = good || v.problem == nil && line[0] == '{'
		values = append(values, v)
	}
	if !good {
		return nil, fault.New(fault.BadRequest, "invalid JSON: %w", whole)
	}
	return values, nil
}

// readTool reads a tool in the form of MCP or of a provider.
func readTool(v value) fileTool {
	switch {
	case v.problem != nil:
		return fileTool{problem: &schema.Error{Reason: schema.NotJSON, Message: v.problem.Error()}}
	case v.raw[0] != '{':
		return fileTool{problem: &schema.Error{Reason: badTool, Message: "expected an object"}}
	}
	raw := []byte(v.raw)
	if f := rawjson.Get(raw, "function"); len(f) > 0 && f[0] == '{' {
		raw = f
	}
	var t fileTool
	named := false
	for w := rawjson.Object(raw); w.Next(); {
		switch string(w.Key) {
		case "name":
			t.Name, named = rawjson.String(w.Value)
		case "description":
			t.Description, _ = rawjson.String(w.Value)
		case "inputSchema", "input_schema", "parameters", "parametersJsonSchema":
			t.InputSchema = w.Value
		case "definition": // from the REST API or --json
			if inner := rawjson.Get(w.Value, "inputSchema"); t.InputSchema == nil && len(w.Value) > 0 && w.Value[0] == '{' {
				t.InputSchema = inner
			}
		}
	}
	switch {
	case named && t.Name != "":
	case t.InputSchema == nil && (rawjson.Get(raw, "properties") != nil || rawjson.Get(raw, "type") != nil):
		t = fileTool{InputSchema: raw} // only a schema
	default:
		t.problem = &schema.Error{Reason: badTool, Pointer: "/name", Message: "the tool has no name"}
	}
	return t
}
