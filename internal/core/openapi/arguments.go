package openapi

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// badArgument is the error for the argument at the pointer.
func badArgument(pointer, format string, args ...any) *fault.Error {
	err := fault.New(fault.BadArguments, format, args...)
	return err.WithDetails(struct {
		Pointer string `json:"pointer"`
		Message string `json:"message"`
	}{pointer, err.Message})
}

// values are the arguments of one call as raw JSON, sorted by destination.
type values struct {
	params map[*param]value
	fields []member          // fields of the body, under their names in the document, in the order given
	whole  []byte            // the whole body
	at     map[string]string // pointer to the argument, by body field
	given  bool              // at least one part of the body is present
}

// value is the value of one parameter with its pointer.
type value struct {
	raw     []byte
	pointer string
}

// read sorts the arguments of a call.
func (p *plan) read(args json.RawMessage, layout Layout) (*values, error) {
	args = bytes.TrimSpace(args)
	if rawjson.IsNull(args) {
		args = []byte("{}")
	}
	if err := rawjson.Check(args); err != nil {
		return nil, badArgument("", "the arguments are no JSON: %w", err)
	}
	if args[0] != '{' {
		return nil, badArgument("", "the arguments are no object")
	}
	v := &values{params: map[*param]value{}, at: map[string]string{}}
	var err error
	for _, m := range members(args, func(string) {}) {
		if layout == Layered {
			err = p.readLayer(v, m)
		} else {
			err = p.readFlat(v, m)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, p.complete(v, layout)
}

func (p *plan) readFlat(v *values, m member) error {
	pointer := "/" + jsonschema.EscapeToken(m.key)
	var like []string
	for _, q := range p.params {
		if q.arg == m.key {
			v.params[q] = value{m.raw, pointer}
			return nil
		}
		if q.name == m.key {
			like = append(like, q.arg)
		}
	}
	b := p.body
	if b == nil {
		return unknown(pointer, m.key, like)
	}
	if !b.spread {
		if m.key != b.arg {
			return unknown(pointer, m.key, like)
		}
		v.whole = m.raw
		v.given = true
		return nil
	}
	for _, f := range b.fields {
		if f.arg == m.key {
			v.field(f.name, m.raw, pointer)
			return nil
		}
		if f.name == m.key {
			like = append(like, f.arg)
		}
	}
	if !b.open || len(like) > 0 {
		return unknown(pointer, m.key, like)
	}
	v.field(m.key, m.raw, pointer)
	return nil
}

func (v *values) field(name string, raw []byte, pointer string) {
	v.fields = append(v.fields, member{name, raw})
	v.at[name] = pointer
	v.given = true
}

func unknown(pointer, key string, like []string) error {
	err := badArgument(pointer, "there is no argument %q", key)
	if len(like) > 0 {
		return err.WithHint("use %s", strings.Join(like, " or "))
	}
	return err
}

// readLayer sorts the arguments of one place (header, path, query, cookie or body).
func (p *plan) readLayer(v *values, layer member) error {
	pointer := "/" + jsonschema.EscapeToken(layer.key)
	if layer.key == "body" && p.body != nil {
		v.whole = layer.raw
		v.given = true
		return nil
	}
	if styles[layer.key] == nil {
		return unknown(pointer, layer.key, nil)
	}
	if rawjson.IsNull(layer.raw) {
		return nil
	}
	if layer.raw[0] != '{' {
		return badArgument(pointer, "%s is not an object", layer.key)
	}
next:
	for _, m := range members(layer.raw, func(string) {}) {
		at := pointer + "/" + jsonschema.EscapeToken(m.key)
		for _, q := range p.params {
			if q.in == layer.key && q.name == m.key {
				v.params[q] = value{m.raw, at}
				continue next
			}
		}
		return unknown(at, m.key, nil)
	}
	return nil
}

// complete returns an error if a required argument is missing.
func (p *plan) complete(v *values, layout Layout) error {
	for _, q := range p.params {
		if rawjson.IsNull(v.params[q].raw) {
			delete(v.params, q)
			if q.required {
				pointer := "/" + jsonschema.EscapeToken(q.arg)
				if layout == Layered {
					pointer = "/" + q.in + "/" + jsonschema.EscapeToken(q.name)
				}
				return badArgument(pointer, "%s is missing: the %s needs it", q.arg, q.in)
			}
		}
	}
	if b := p.body; b != nil && b.required && !v.given && !b.spread {
		return badArgument("/"+jsonschema.EscapeToken(b.arg), "%s is missing", b.arg)
	}
	return nil
}
