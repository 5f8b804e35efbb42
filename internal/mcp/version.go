package mcp

import (
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// Latest is the newest legacy revision: what we offer as a client, and answer when a
// client asks for one that we do not know.
const Latest = "2025-11-25"

// batchVersion is the only revision in which messages may come in an array.
const batchVersion = "2025-03-26"

// Versions are the revisions served, newest first.
func Versions() []string {
	return []string{Latest, "2025-06-18", batchVersion, "2024-11-05"}
}

// negotiate picks the revision of a session from the one that the client asks for.
func negotiate(asked string) string {
	if slices.Contains(Versions(), asked) {
		return asked
	}
	return Latest
}

// codeUnsupportedVersion is the error of the modern era that names the versions served.
const codeUnsupportedVersion = -32022

func unsupportedVersion(asked string) *Error {
	data, _ := json.Marshal(map[string]any{"supported": Versions(), "requested": asked}) // strings only
	return &Error{Code: codeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}

// askedVersion is the revision that a modern request names in its own params.
func askedVersion(params json.RawMessage) string {
	if params == nil {
		return ""
	}
	s, _ := rawjson.String(rawjson.Get(params, "_meta", "io.modelcontextprotocol/protocolVersion"))
	return s
}
