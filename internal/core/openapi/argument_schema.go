package openapi

import (
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// param appends the schema of a parameter.
func (w *schemaWriter) param(dst []byte, q *param) []byte {
	dst = append(dst, '{')
	if q.schema != nil && q.schema.Kind == jsonschema.Object {
		dst = w.described(dst, q.schema, q.describe)
	} else {
		dst = appendDescription(dst, q.describe)
		if q.schema == nil && (q.media == "" || q.kind == textMedia) {
			dst = append(name(dst, "type"), `"string"`...)
		}
	}
	if q.deprecated && q.schema.Get("deprecated") == nil {
		dst = append(name(dst, "deprecated"), "true"...)
	}
	return append(dst, '}')
}

// described appends a schema's keywords. A description given as text replaces the schema's
// own.
func (w *schemaWriter) described(dst []byte, n *node, text string) []byte {
	if text == "" {
		return w.members(dst, n, nil)
	}
	return w.members(appendDescription(dst, text), n, map[string]bool{"description": true})
}

func appendDescription(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	return rawjson.AppendString(name(dst, "description"), text)
}

// field appends the schema of a body field.
func (w *schemaWriter) field(dst []byte, f *field) []byte {
	dst = append(dst, '{')
	if f.file {
		return append(w.file(dst, f), '}')
	}
	switch {
	case len(f.schemas) == 0:
		dst = appendDescription(dst, f.describe)
	case len(f.schemas) == 1 && f.schemas[0].Kind == jsonschema.Object:
		dst = w.described(dst, f.schemas[0], f.describe)
	default:
		dst = append(name(dst, "allOf"), '[')
		for _, n := range f.schemas {
			dst = w.schema(comma(dst), n)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// file appends the schema of a field that takes one or several files.
func (w *schemaWriter) file(dst []byte, f *field) []byte {
	text := f.describe
	many := false
	for _, n := range f.schemas {
		if n, err := w.d.follow(n); err == nil {
			many = many || slices.Contains(n.Strings("type"), "array")
			if text == "" {
				text = n.Str("description")
			}
		}
	}
	dst = appendDescription(dst, text)
	if many {
		dst = append(name(dst, "type"), `"array"`...)
		return append(append(append(name(dst, "items"), '{'), fileSchema...), '}')
	}
	return append(comma(dst), fileSchema...)
}

// body appends the schema of a whole body.
func (w *schemaWriter) body(dst []byte, b *body) []byte {
	dst = append(dst, '{')
	text := b.describe
	if text == "" {
		text = b.schema.Str("description")
	}
	switch {
	case b.kind == binaryMedia:
		dst = append(comma(appendDescription(dst, text)), fileSchema...)
	case b.kind == textMedia:
		if text == "" {
			text = "text of type " + mediaType(b.media)
		}
		dst = append(name(appendDescription(dst, text), "type"), `"string"`...)
	case b.kind != jsonMedia && b.fields != nil:
		dst = w.form(appendDescription(dst, text), b)
	case b.schema != nil && b.schema.Kind == jsonschema.Object:
		own := b.describe
		if b.schema.Get("description") != nil {
			own = ""
		}
		dst = w.described(dst, b.schema, own)
	default:
		dst = appendDescription(dst, text)
	}
	return append(dst, '}')
}

// form appends the schema of an object, field by field.
func (w *schemaWriter) form(dst []byte, b *body) []byte {
	dst = append(name(dst, "type"), `"object"`...)
	dst = append(name(dst, "properties"), '{')
	var required []string
	for _, f := range b.fields {
		dst = w.field(name(dst, f.name), f)
		if f.required {
			required = append(required, f.name)
		}
	}
	return closeObject(append(dst, '}'), required, !b.open)
}
