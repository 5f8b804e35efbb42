package upstream

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// askable is what a server may ask the client, in canonical form: clients with equal capabilities
// share a session. Of extensions there may be any, so sessions with different ones count for who opens them.
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
	return append(appendExtensions(out, rawjson.Get(capabilities, "extensions")), '}')
}

// maxExtensions limits the extensions that a client's session with a server declares, in bytes: it is known by them.
const maxExtensions = 2 << 10

// appendExtensions appends a client's extensions in canonical form, without that for tasks: whether a server may make tasks is
// decided for each call.
func appendExtensions(out []byte, extensions json.RawMessage) []byte {
	if !isObject(extensions) || len(extensions) > maxExtensions {
		return out
	}
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(mcp.Without(extensions, mcp.ExtensionTasks)))
	d.UseNumber() // numbers stay as they are written
	if d.Decode(&all) != nil || len(all) == 0 {
		return out
	}
	text, err := json.Marshal(all) // sorted
	if err != nil {
		return out
	}
	return append(append(mcp.Comma(out), `"extensions":`...), text...)
}

// everyExtension is the extensions that clients declare and servers look at.
const everyExtension = `"extensions":{"` + mcp.ExtensionApps + `":{"mimeTypes":["text/html;profile=mcp-app"]}}`

// everything is what we declare for our own requests: some servers list a tool only to clients with the capabilities it needs.
var everything = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},` +
	everyExtension + `}`)

// everythingModern is the same for a server of the modern era, which has no notifications about roots.
var everythingModern = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{},"context":{}},` + everyExtension + `}`)

// shared is what a session declares that all callers share: nobody can be asked in it, but some of them may render apps.
var shared = json.RawMessage(`{` + everyExtension + `}`)

// declared is the client capabilities that a request to a modern server declares.
func declared(from mcp.Speaker) json.RawMessage {
	switch {
	case len(from.Capabilities) == 0:
		return nothing
	case from.Era == mcp.Modern:
		return withoutTasks(from.Capabilities)
	}
	return mcp.Edit(askable(from.Capabilities), "roots", func([]byte) []byte { return nothing }) // there is no listChanged
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
