package config

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Model is a language model behind an endpoint of the kind that OpenAI has.
type Model struct {
	Name    string // by which agents name it
	URL     string // such as http://127.0.0.1:8000/v1, without a slash at the end
	Model   string // the endpoint's own name for it
	Key     string // sent as a bearer token; "": none
	Dialect string // whose schemas the endpoint takes
	Tools   string // how the model calls tools: native or text
	Timeout time.Duration
	Retries int             // how often a request that was not taken is sent again
	Params  json.RawMessage // further members of each request, such as temperature; an object
}

// The ways in which a model calls tools.
const (
	NativeTools = "native" // by the endpoint's function calling
	TextTools   = "text"   // by <tool_call> in its text
)

// ModelNamed finds a model; nil without one.
func (c *Config) ModelNamed(name string) *Model {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Models[i]
}

// readModels reads models.
func (c *draft) readModels(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		m := Model{Name: e.Key, Model: e.Key, Dialect: "openai", Tools: NativeTools, Timeout: 2 * time.Minute, Retries: 2, Params: json.RawMessage("{}")}
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

// ourParams are the members of a request that the agent loop writes itself.
var ourParams = []string{"messages", "model", "n", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls"}

func (m *Model) readParams(d *decoder, at place, n *node) {
	jsonInto(&m.Params)(d, at, n)
	for w := rawjson.Object(m.Params); w.Next(); {
		if slices.Contains(ourParams, string(w.Key)) {
			d.fail(at.Key(string(w.Key), at.Line), "is written by the agent loop; remove it")
		}
	}
}
