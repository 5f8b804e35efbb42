package upstream

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// askable is what a server may ask the client, in canonical form: clients with equal capabilities
// share a session, so that no client can open ever more sessions.
func askable(capabilities json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for _, ability := range []struct {
		name  string
		parts []string
	}{
		{"elicitation", []string{"form", "url"}},
		{"roots", []string{"listChanged"}},
		{"sampling", []string{"context", "tools"}},
	} {
		value := rawjson.Get(capabilities, ability.name)
		if !isObject(value) {
			continue
		}
		out = append(mcp.Comma(out), `"`+ability.name+`":{`...)
		for _, part := range ability.parts {
			switch declared := rawjson.Get(value, part); {
			case string(declared) == "true":
				out = append(mcp.Comma(out), `"`+part+`":true`...)
			case isObject(declared):
				out = append(mcp.Comma(out), `"`+part+`":{}`...)
			}
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// everything is what we declare for our own requests: some servers list a tool only to clients with the capabilities it needs.
var everything = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}}}`)

// everythingModern is the same for a server of the modern era, which has no notifications about roots.
var everythingModern = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{},"context":{}}}`)

// declared is the client capabilities that a request to a modern server declares.
func declared(from mcp.Speaker) json.RawMessage {
	switch {
	case len(from.Capabilities) == 0:
		return nothing
	case from.Era == mcp.Modern:
		return withoutTasks(from.Capabilities)
	}
	caps := askable(from.Capabilities)
	return bytes.Replace(caps, []byte(`"listChanged":true`), nil, 1) // the only member of roots
}

// withTasks adds the tasks extension.
func withTasks(capabilities json.RawMessage) json.RawMessage {
	if !isObject(capabilities) {
		capabilities = nothing
	}
	extensions := rawjson.Get(capabilities, "extensions")
	if !isObject(extensions) {
		extensions = nothing
	}
	return mcp.With(mcp.Without(capabilities, "extensions"), "extensions", mcp.With(extensions, mcp.ExtensionTasks, nothing))
}

// withoutTasks removes the tasks extension: whether a server may make tasks is decided for each call.
func withoutTasks(capabilities json.RawMessage) json.RawMessage {
	if !bytes.Contains(capabilities, []byte("tasks")) {
		return capabilities
	}
	return mcp.Edit(mcp.Without(capabilities, "tasks"), "extensions", func(extensions []byte) []byte {
		if extensions[0] != '{' {
			return extensions
		}
		return mcp.Without(extensions, mcp.ExtensionTasks)
	})
}
