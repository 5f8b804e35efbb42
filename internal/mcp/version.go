package mcp

import (
	"encoding/json"
	"slices"
)

// Era is one of the two ways to speak the protocol: the legacy one has sessions, in the modern one each request stands alone.
type Era string

const (
	Legacy Era = "legacy" // revisions 2024-11-05 to 2025-11-25
	Modern Era = "modern" // revision 2026-07-28
)

// Latest is the newest legacy revision: the one we offer as a client, and answer to clients that ask for an unknown one.
const Latest = "2025-11-25"

// ModernVersion is the revision of the modern era.
const ModernVersion = "2026-07-28"

// batchVersion is the only revision in which messages may come in an array.
const batchVersion = "2025-03-26"

// legacyVersions are the revisions with sessions, newest first.
func legacyVersions() []string {
	return []string{Latest, "2025-06-18", batchVersion, "2024-11-05"}
}

// Versions are the revisions served, newest first.
func Versions() []string { return append([]string{ModernVersion}, legacyVersions()...) }

// negotiate picks the revision of a session from the one that the client asks for.
func negotiate(asked string) string {
	if slices.Contains(legacyVersions(), asked) {
		return asked
	}
	return Latest
}

func unsupportedVersion(asked string) *Error {
	data, _ := json.Marshal(map[string]any{"supported": Versions(), "requested": asked}) // strings only
	return &Error{Code: CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}
