package prompt

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/schema"
)

// json writes a tool in the format of the dialect's provider; nothing if the provider cannot
// have it.
func (w *writer) json(t *Tool, tier Tier) []byte {
	raw := bytes.TrimSpace(t.Schema)
	text := t.Description
	if rawjson.IsNull(raw) {
		raw = nil
	}
	if tier != Full {
		raw = bare(raw)
		text = sentence(text)
	}
	res, err := schema.Plan(raw, w.opts.Dialect, nil)
	if err != nil {
		if tier == Full {
			w.refused = append(w.refused, Refused{t.Name, err})
		}
		return nil
	}
	before, name, after := envelope(w.opts.Dialect)
	out := append([]byte(before), `"name":`...)
	out = rawjson.AppendString(out, t.Name)
	if text != "" {
		out = append(out, `,"description":`...)
		out = rawjson.AppendString(out, text)
	}
	out = appendCompact(append(out, `,"`+name+`":`...), res.Parameters)
	if res.Strict {
		out = append(out, `,"strict":true`...)
	}
	return append(out, after...)
}

// envelope returns what a provider wants around a tool, and its name for the schema.
func envelope(d schema.Dialect) (before, name, after string) {
	switch d {
	case schema.Anthropic, schema.AnthropicStrict:
		return "{", "input_schema", "}"
	case schema.Gemini:
		return "{", "parameters", "}"
	case schema.GeminiParams:
		return "{", "parametersJsonSchema", "}"
	case schema.MCP:
		return "{", "inputSchema", "}"
	}
	return `{"type":"function","function":{`, "parameters", "}}"
}

// appendCompact writes JSON without white space.
func appendCompact(out, raw []byte) []byte {
	b := bytes.NewBuffer(out)
	if json.Compact(b, raw) != nil {
		return append(out, raw...)
	}
	return b.Bytes()
}

// bare removes the descriptions of a schema. Invalid JSON is returned unchanged.
func bare(raw []byte) []byte {
	n, err := jsonschema.Parse(raw)
	if err != nil {
		return raw
	}
	return n.AppendWithout(nil, "description", "title", "examples")
}
