package catalog

import (
	"encoding/json"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// ownTools stand for the gateway's own tools.
var ownTools = OwnTools{Fetch: ownTool("fetch_result", ""), Search: func(overview string) []json.RawMessage {
	return []json.RawMessage{ownTool("find_tools", "There are tools of: "+overview+"."), ownTool("describe_tool", ""), ownTool("call_tool", "")}
}}

func ownTool(name, description string) json.RawMessage {
	b := rawjson.AppendString([]byte(`{"name":"`+name+`","inputSchema":{"type":"object"},"description":`), description)
	return append(b, '}')
}

func TestThePromptOfOursCanBeRead(t *testing.T) {
	def, err := tool.ParseDefinition(promptDefinition)
	if err != nil || def.Description() == "" || !reservedPrompts[def.Name] {
		t.Errorf("%s: %v", promptDefinition, err)
	}
}
