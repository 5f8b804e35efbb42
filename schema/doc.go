// Package schema fits the JSON Schema of a tool's arguments to what a model's provider
// accepts, and maps the arguments that the model then sends back to the original schema.
// It is pure: bytes in, bytes out. It never changes its input, never opens a connection,
// never validates arguments, and ends in bounded time and memory whatever it is given.
//
//	res, err := schema.Plan(inputSchema, schema.GeminiParams, nil)
//	if err != nil { … } // *schema.Error: set this tool aside, send the others
//	send(res.Parameters, res.Strict)
//	args, fixes, err := res.Back(fromTheModel)
package schema

import "fmt"

// Reason says why a dialect cannot express a tool, or why arguments cannot be mapped back.
type Reason string

// The reasons. The list only grows.
const (
	NotJSON        Reason = "not_json"      // not valid JSON
	NotSchema      Reason = "not_schema"    // neither an object nor a boolean
	TooLarge       Reason = "too_large"     // more bytes, levels or nodes than allowed
	ExternalRef    Reason = "external_ref"  // a reference to another document
	Unsatisfiable  Reason = "unsatisfiable" // no arguments could be valid
	Refused        Reason = "refused"       // the result does not pass the dialect's check
	UnknownDialect Reason = "unknown_dialect"
	BadArguments   Reason = "bad_arguments" // the model's arguments cannot be mapped back
)

// Error says why one tool, or the arguments of one call, were refused.
type Error struct {
	Reason  Reason `json:"reason"`
	Pointer string `json:"pointer"` // JSON pointer into the schema, or into the arguments for BadArguments
	Message string `json:"message"`
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("%s: %s", e.Reason, e.Message)
	}
	return fmt.Sprintf("%s at %s: %s", e.Reason, e.Pointer, e.Message)
}
