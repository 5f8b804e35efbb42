package endpoint

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestNamesOfCallsAreSuchAsEndpointsTake(t *testing.T) {
	for name, want := range map[string]string{
		"excel__read-data_1": "excel__read-data_1", "functions.read": "functions_read", "读 x": "__x", "": "_", strings.Repeat("文a", 40): strings.Repeat("_a", 32),
	} {
		if got := functionName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestARequestIsWrittenByteForByte(t *testing.T) {
	call := conversation.Message{Role: conversation.RoleAssistant, Calls: []conversation.Call{{ID: "1", Tool: "files.read", Arguments: "oops"}}, Thoughts: "hm"}
	result := conversation.Text(conversation.RoleTool, "3")
	result.CallID = "1"
	result.Note = &conversation.Note{Tool: "read"}
	conv := conversation.Conversation{
		Messages: []conversation.Message{
			conversation.Text(conversation.RoleSystem, "Be <kind>."), conversation.Text(conversation.RoleUser, "go"), call, result,
			conversation.Text(conversation.RoleAssistant, "ok"),
		},
		Tools:   []conversation.Tool{{Name: "read", Description: "Reads.", Parameters: []byte(`{"type": "object"}`), Strict: true}},
		NoCalls: true,
		Params:  []byte(`{"seed":1,"parallel_tool_calls":false}`),
	}
	m := &config.Model{Model: "m", Params: []byte(`{"seed":2,"temperature":0.1}`)}
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"seed":1,"parallel_tool_calls":false,"temperature":0.1,` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type": "object"},"strict":true}}],"tool_choice":"none",` +
		`"messages":[{"role":"system","content":"Be <kind>."},{"role":"user","content":"go"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"files_read","arguments":"{}"}}],"reasoning_content":"hm"},` +
		`{"role":"tool","content":"3","tool_call_id":"1"},{"role":"assistant","content":"ok","reasoning_content":" "}]}`
	if got := string((&Client{}).Encode(m, conv)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string((&Client{}).Encode(m, conversation.Conversation{Params: conv.Params})); strings.Contains(got, "parallel_tool_calls") || strings.Contains(got, "tool_choice") {
		t.Errorf("without tools: %s", got)
	}
}
