package config

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Model is a language model at an OpenAI-compatible endpoint.
type Model struct {
	Name    string // used by agents
	URL     string // such as http://127.0.0.1:8000/v1, without a slash at the end
	Model   string // the endpoint's name for it
	Key     string // sent as a bearer token; "": none
	Dialect string // of the schemas that the endpoint accepts
	Tools   string // how the model calls tools: native or text
	Timeout time.Duration
	Retries int             // of a request that was not accepted
	Params  json.RawMessage // additional members of each request, such as temperature; an object
}

// How a model calls tools.
const (
	NativeTools = "native" // through the endpoint's function calling
	TextTools   = "text"   // through <tool_call> in its text
)

// ModelNamed finds a model, or nil.
func (c *Config) ModelNamed(name string) *Model {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Models[i]
}

func (c *draft) readModels(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		m := Model{
			Name: e.Key, Model: e.Key, Dialect: "openai", Tools: NativeTools,
			Timeout: 2 * time.Minute, Retries: 2, Params: json.RawMessage("{}"),
		}
		d.failIf(inner, checkID(e.Key))
		if d.complete(inner, e.Value, m.fields()) && m.URL == "" {
			d.fail(inner, "needs url, such as http://127.0.0.1:8000/v1")
		}
		m.URL = strings.TrimRight(m.URL, "/")
		d.secret(m.Key)
		d.secretsIn(m.URL)
		c.Models = append(c.Models, m)
	})
}

func (m *Model) fields() []field {
	return []field{
		{"url", textInto(&m.URL, urlLike("https://example.com/v1"))},
		{"model", textInto(&m.Model, checkFilled)},
		{"key", textInto(&m.Key, checkHeaderValue)},
		{"dialect", oneOf(&m.Dialect, dialects()...)},
		{"tools", oneOf(&m.Tools, NativeTools, TextTools)},
		{"timeout", durationInto(&m.Timeout, time.Millisecond)},
		{"retries", countInto(&m.Retries, 0, 10)},
		{"params", m.readParams},
	}
}

// ourParams are the members of a request that the agent loop sets.
var ourParams = []string{"messages", "model", "n", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls"}

func (m *Model) readParams(d *decoder, at place, n *node) {
	jsonInto(&m.Params)(d, at, n)
	for w := rawjson.Object(m.Params); w.Next(); {
		if slices.Contains(ourParams, string(w.Key)) {
			d.fail(at.Key(string(w.Key), at.Line), "is set by the agent loop; remove it")
		}
	}
}
