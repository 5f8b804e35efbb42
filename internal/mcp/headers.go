package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// The headers in which a modern request repeats parts of its body for proxies.
const (
	MethodHeader = "Mcp-Method"
	NameHeader   = "Mcp-Name"
	ParamPrefix  = "Mcp-Param-"
)

const (
	encodedStart = "=?base64?"
	encodedEnd   = "?="
)

// EncodeHeader writes text as a header's value: in base64 if a header could not carry it unchanged.
func EncodeHeader(text string) string {
	plain := strings.TrimSpace(text) == text && !isEncoded(text)
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] <= '~'
	}
	if plain {
		return text
	}
	return encodedStart + base64.StdEncoding.EncodeToString([]byte(text)) + encodedEnd
}

func isEncoded(value string) bool {
	return len(value) >= len(encodedStart)+len(encodedEnd) && strings.HasPrefix(value, encodedStart) && strings.HasSuffix(value, encodedEnd)
}

// DecodeHeader reads a header's value; false if it is marked as base64 but invalid.
func DecodeHeader(value string) (string, bool) {
	if !isEncoded(value) {
		return value, true
	}
	text, err := base64.StdEncoding.Strict().DecodeString(value[len(encodedStart) : len(value)-len(encodedEnd)])
	return string(text), err == nil && utf8.Valid(text)
}

// NamedBy is the member of params that Mcp-Name repeats; "" for methods that name nothing.
func NamedBy(method string) string {
	switch method {
	case "tools/call", "prompts/get":
		return "name"
	case "resources/read":
		return "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		return "taskId"
	}
	return ""
}

// checkHeaders compares what the headers repeat with the message.
func checkHeaders(h http.Header, m Message) error {
	if err := sameHeader(h, MethodHeader, m.Method); err != nil {
		return err
	}
	key := NamedBy(m.Method)
	if key == "" {
		return nil
	}
	name, ok := rawjson.String(rawjson.Get(m.Params, key))
	if !ok {
		return nil // invalid params are reported where they are read
	}
	return sameHeader(h, NameHeader, name)
}

func sameHeader(h http.Header, name, want string) error {
	values := h[name]
	if len(values) != 1 {
		return Errorf(CodeHeaderMismatch, "header %s must stand there once", name)
	}
	if values[0] == want {
		return nil
	}
	if got, ok := DecodeHeader(values[0]); !ok || got != want {
		return Errorf(CodeHeaderMismatch, "header %s does not say what the body says", name)
	}
	return nil
}

// paramHeaders are the headers that repeat arguments; nil when there are none.
func paramHeaders(h http.Header) http.Header {
	var found http.Header
	for name, values := range h {
		if strings.HasPrefix(name, ParamPrefix) {
			if found == nil {
				found = http.Header{}
			}
			found[name] = values
		}
	}
	return found
}

// modernStatus is the HTTP status that belongs to an error.
func modernStatus(err error) int {
	var known *Error
	if !errors.As(err, &known) {
		return http.StatusInternalServerError
	}
	switch known.Code {
	case CodeMethodNotFound:
		return http.StatusNotFound
	case CodeParse, CodeInvalidRequest, CodeInvalidParams, CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// MissingCapability is the error for a client without a capability that the request needs.
func MissingCapability(method string) *Error {
	ability := Ability(method)
	data, _ := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{ability: struct{}{}}}) // strings only
	return &Error{Code: CodeMissingCapability, Message: "the client cannot be asked " + method + ", which the request needs", Data: data}
}

// MissingExtension says that the request needs an extension that its client has not declared.
func MissingExtension(name string) *Error {
	data, _ := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{name: struct{}{}}}})
	e := Errorf(CodeMissingCapability, "the request needs the extension %s, which the client has not declared", name)
	e.Data = data
	return e
}
