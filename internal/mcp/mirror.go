package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// mirrorKey is the schema keyword by which a tool says that a header repeats an argument.
const mirrorKey = "x-mcp-header"

// Mirror says which arguments of a tool are repeated in headers. Nil: none.
type Mirror struct{ params []mirrored }

type mirrored struct {
	header string   // with its prefix, as net/http writes it
	path   []string // of the argument
}

// ParseMirror reads the annotations of a tool's input schema. An error says that one is invalid; a client must then ignore the tool.
func ParseMirror(schema json.RawMessage) (*Mirror, error) {
	if !bytes.Contains(schema, []byte(`"`+mirrorKey+`"`)) {
		return nil, nil
	}
	root, err := jsonschema.Parse(schema)
	if err != nil {
		return nil, err
	}
	m := &Mirror{}
	if err := m.read(root, nil, true); err != nil {
		return nil, err
	}
	if len(m.params) == 0 {
		return nil, nil
	}
	return m, nil
}

// read takes the annotations of one schema. Only arguments reached through properties alone can be repeated.
func (m *Mirror) read(schema *jsonschema.Node, path []string, reached bool) (err error) {
	for _, kid := range schema.Members() {
		switch kid.Key {
		case mirrorKey:
			if !reached || len(path) == 0 {
				return fmt.Errorf("%s stands where no header can repeat it", mirrorKey)
			}
			err = m.add(kid, path, schema.Str("type"))
		case "properties":
			for _, p := range kid.Members() {
				if err == nil {
					err = m.read(p, append(slices.Clip(path), p.Key), reached)
				}
			}
		default:
			kid.Schemas(func(inner *jsonschema.Node) {
				if err == nil {
					err = m.read(inner, nil, false)
				}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Mirror) add(name *jsonschema.Node, path []string, kind string) error {
	text := name.Text
	if name.Kind != jsonschema.String || !isToken(text) {
		return fmt.Errorf("%s %.60s is not a valid header name", mirrorKey, name)
	}
	switch kind {
	case "string", "integer", "boolean":
	default:
		return fmt.Errorf("%s %s stands beside type %.60q, which no header carries", mirrorKey, text, kind)
	}
	header := http.CanonicalHeaderKey(ParamPrefix + text)
	for _, p := range m.params {
		if p.header == header {
			return fmt.Errorf("%s %s stands there twice", mirrorKey, text)
		}
	}
	m.params = append(m.params, mirrored{header, path})
	return nil
}

// isToken tells whether the text is a valid header name.
func isToken(text string) bool {
	for _, c := range []byte(text) {
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return text != ""
}

// Header is the headers of a call with these arguments. Headers that the tool does not mention pass unchanged.
func (m *Mirror) Header(args json.RawMessage, came http.Header) http.Header {
	if m == nil {
		return came
	}
	h := http.Header{}
	for name, values := range came {
		h[name] = values
	}
	for _, p := range m.params {
		delete(h, p.header)
		if text, ok := scalar(rawjson.Get(args, p.path...)); ok {
			h[p.header] = []string{EncodeHeader(text)}
		}
	}
	return h
}

// scalar is an argument as a header value; false if it is absent, null or not a scalar.
func scalar(value json.RawMessage) (string, bool) {
	switch {
	case rawjson.IsNull(value), value[0] == '{', value[0] == '[':
		return "", false
	case value[0] == '"':
		return rawjson.String(value)
	}
	return string(value), true
}

// Check compares the headers that came with a call with its arguments.
func (m *Mirror) Check(h http.Header, args json.RawMessage) error {
	if m == nil {
		return nil
	}
	for _, p := range m.params {
		values := h[p.header]
		value := rawjson.Get(args, p.path...)
		want, there := scalar(value)
		if !there && len(values) == 0 {
			continue
		}
		if !there || len(values) != 1 || !says(values[0], want, value) {
			return Errorf(CodeHeaderMismatch, "header %s does not say what argument %s says", p.header, strings.Join(p.path, "."))
		}
	}
	return nil
}

// says tells whether a header's value is the argument. Numbers may be written differently.
func says(header, want string, value json.RawMessage) bool {
	got, ok := DecodeHeader(header)
	if !ok || got == want {
		return ok
	}
	a, errA := strconv.ParseFloat(got, 64)
	b, errB := strconv.ParseFloat(want, 64)
	const exact = 1 << 53 // beyond it floats do not represent every integer
	return value[0] != '"' && errA == nil && errB == nil && a == b && a > -exact && a < exact
}

// WithoutMirror is the schema without the annotations, for clients and servers that do not know the keyword.
func WithoutMirror(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"`+mirrorKey+`"`)) {
		return schema
	}
	schema = Without(schema, mirrorKey)
	var edits []rawjson.Edit
	for w := rawjson.Object(schema); w.Next(); {
		edits = append(edits, rawjson.Edit{Start: w.Start, End: w.End, New: unmirrored(string(w.Key), w.Value)})
	}
	return rawjson.AppendSplice(nil, schema, edits...)
}

// unmirrored is the value of a keyword with the annotations removed from the schemas in it.
func unmirrored(keyword string, value json.RawMessage) json.RawMessage {
	schemas := rawjson.Array(value)
	switch jsonschema.Keywords[keyword].Holds {
	case jsonschema.SchemaMap:
		schemas = rawjson.Object(value)
	case jsonschema.OneSchema:
		if value[0] == '{' {
			return WithoutMirror(value)
		}
	case jsonschema.SchemaList:
	default:
		return value
	}
	var edits []rawjson.Edit
	for schemas.Next() {
		edits = append(edits, rawjson.Edit{Start: schemas.Start, End: schemas.End, New: WithoutMirror(schemas.Value)})
	}
	return rawjson.AppendSplice(nil, value, edits...)
}
