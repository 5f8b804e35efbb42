package env

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Schema returns the JSON Schema of the protocol, with the arguments and answer of each tool as
// "tool.input" and "tool.output".
func Schema() json.RawMessage {
	everything := &Options{
		ListProfiles: func(context.Context) ([]Profile, error) { return nil, nil },
		QueryLogs:    func(context.Context, LogQuery) ([]LogEntry, error) { return nil, nil },
		Sessions:     NewMemorySessions(nil),
	}
	o, err := everything.filled()
	if err != nil {
		panic("env: " + err.Error()) // the options are constants
	}
	defs := map[string]json.RawMessage{
		"EnvDescription": json.RawMessage(descriptionSchema),
		"EnvProfile":     json.RawMessage(profileSchema),
		"AgentSpec":      json.RawMessage(agentSchema),
		"LogEntry":       json.RawMessage(logSchema),
		"Session":        json.RawMessage(sessionSchema),
		"Error":          json.RawMessage(errorSchema),
	}
	for _, f := range o.offers() {
		defs[f.name+".input"] = json.RawMessage(f.input)
		defs[f.name+".output"] = json.RawMessage(f.output)
	}
	raw, err := rawjson.Marshal(struct {
		Schema string                     `json:"$schema"`
		Title  string                     `json:"title"`
		Defs   map[string]json.RawMessage `json:"$defs"`
	}{"https://json-schema.org/draft/2020-12/schema", "Environment protocol", defs})
	if err != nil {
		panic("env: " + err.Error())
	}
	var pretty bytes.Buffer
	json.Indent(&pretty, raw, "", "  ") // just encoded
	pretty.WriteByte('\n')
	return pretty.Bytes()
}
