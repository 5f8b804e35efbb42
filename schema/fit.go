package schema

import (
	"encoding/json"
	"errors"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Known reports whether the dialect exists.
func (d Dialect) Known() bool { return dialects[d] != nil }

// Tool is a tool as shown to a model.
type Tool struct {
	Name        string          `json:"name"` // a name that the provider accepts; see FitNames
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Fitted is a tool in a provider's format, or the reason why the provider cannot have it.
type Fitted struct {
	Name    string          `json:"name"`
	Dialect Dialect         `json:"dialect"`        // the dialect that was used
	Tool    json.RawMessage `json:"tool,omitempty"` // one element of the request's list of tools
	Strict  bool            `json:"strict"`
	Report  []Change        `json:"report"`
	Error   *Error          `json:"error,omitempty"`

	Plan *Result `json:"-"` // maps arguments back; nil with an Error
}

// Fit returns the tools of one request in the format of the dialect's provider. A tool that
// the dialect cannot express gets an Error. Strict tools beyond the provider's limits per
// request are sent as plain ones.
func (c *Cache) Fit(tools []Tool, d Dialect) []Fitted {
	list := make([]Fitted, len(tools))
	var sent []int
	var plans []*Result
	for i, t := range tools {
		res, err := c.Plan(t.InputSchema, d)
		list[i] = fitted(t, d, res, err)
		if err == nil {
			sent = append(sent, i)
			plans = append(plans, res)
		}
	}
	for _, at := range Loosen(d, plans) {
		i := sent[at]
		plain := dialects[d].next
		res, err := c.Plan(tools[i].InputSchema, plain)
		list[i] = fitted(tools[i], d, res, err)
		list[i].Report = append([]Change{{"", Fallback, string(plain) + ": the strict tools of one request are limited"}}, list[i].Report...)
	}
	return list
}

func fitted(t Tool, d Dialect, res *Result, err error) Fitted {
	f := Fitted{Name: t.Name, Dialect: d, Report: []Change{}}
	if err != nil {
		if !errors.As(err, &f.Error) {
			f.Error = &Error{Reason: Refused, Message: err.Error()}
		}
		return f
	}
	f.Dialect = res.Dialect
	f.Strict = res.Strict
	f.Plan = res
	f.Report = append(f.Report, res.Report...)
	f.Tool = function(t, d, res)
	return f
}

// function writes a tool in the provider's format.
func function(t Tool, d Dialect, res *Result) json.RawMessage {
	var out []byte
	parameters := "parameters"
	switch d {
	case Anthropic, AnthropicStrict:
		parameters = "input_schema"
	case Gemini:
		if res.Dialect == Gemini {
			parameters = "parametersJsonSchema"
		}
	case MCP:
		parameters = "inputSchema"
	case GeminiParams, Inlined:
	default:
		out = append(out, `{"type":"function","function":`...)
	}
	wrapped := len(out) > 0
	out = rawjson.AppendString(append(out, `{"name":`...), t.Name)
	out = rawjson.AppendString(append(out, `,"description":`...), t.Description)
	if res.Strict {
		out = append(out, `,"strict":true`...)
	}
	out = append(append(out, `,"`+parameters+`":`...), res.Parameters...)
	if wrapped {
		out = append(out, '}')
	}
	return append(out, '}')
}
