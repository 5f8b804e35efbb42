package openapi

import (
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// fileSchema describes a file argument: models send text, programs base64.
const fileSchema = `"anyOf":[{"type":"string","contentEncoding":"base64","description":"the content in base64"},` +
	`{"type":"object","properties":{"text":{"type":"string","description":"the content, if it is text"},` +
	`"data":{"type":"string","contentEncoding":"base64","description":"else the content in base64"},` +
	`"filename":{"type":"string"},"contentType":{"type":"string"}},"additionalProperties":false}]`

// room limits the bytes of one operation's schemas. Very large documents share a total. It is
// divided by a power of two, so that adding an operation rarely changes the definitions of
// others.
type room struct{ inline, input, output int }

func roomFor(operations int) room {
	share := 1
	for share*2048 < operations {
		share *= 2
	}
	return room{inline: 192 << 10, input: max(4<<10, (64<<10)/share), output: max(1<<10, (8<<10)/share)}
}

// maxDescription limits a tool's description.
const maxDescription = 16 << 10

// appendTool appends the tool of an operation; false if it is too large for any model.
func (d *Document) appendTool(dst []byte, e *entry, op *node, p *plan, bad *problems) ([]byte, bool) {
	most := roomFor(len(d.entries))
	dst = rawjson.AppendString(append(dst, `{"name":`...), e.name)
	dst = rawjson.AppendString(append(dst, `,"description":`...), describe(e, op))
	dst = append(dst, `,"inputSchema":`...)
	start := len(dst)
	w := &schemaWriter{d: d, way: request, bad: bad}
	if d.opts.Layout == Layered {
		dst = w.layered(dst, p)
	} else {
		dst = w.flat(dst, p)
	}
	if len(dst)-start > most.inline {
		bad.add(e.at.pointer, "the schema of the arguments is too large; the operation is left out")
		return dst, false
	}
	dst = append(d.appendDefs(dst, w.refs, most.input, bad), '}')
	if p.output.schema != nil {
		dst = d.appendOutput(dst, p, most, bad)
	}
	return append(appendOrigin(appendAnnotations(dst, e, op), e), '}'), true
}

// flat appends the schema of flat arguments, without the closing brace.
func (w *schemaWriter) flat(dst []byte, p *plan) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	var required []string
	for _, q := range p.params {
		dst = w.param(name(dst, q.arg), q)
		if q.required {
			required = append(required, q.arg)
		}
	}
	closed := true
	switch b := p.body; {
	case b == nil:
	case b.spread:
		closed = !b.open
		for _, f := range b.fields {
			dst = w.field(name(dst, f.arg), f)
			if f.required && b.required {
				required = append(required, f.arg)
			}
		}
	default:
		dst = w.body(name(dst, b.arg), b)
		if b.required {
			required = append(required, b.arg)
		}
	}
	return closeObject(append(dst, '}'), required, closed)
}

// layered appends the schema of arguments grouped by place, without the closing brace.
func (w *schemaWriter) layered(dst []byte, p *plan) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	var required []string
	for _, in := range []string{"header", "path", "query", "cookie"} {
		var names []string
		first := true
		for _, q := range p.params {
			if q.in != in {
				continue
			}
			if first {
				dst = append(name(dst, in), `{"type":"object","properties":{`...)
				first = false
			}
			dst = w.param(name(dst, q.name), q)
			if q.required {
				names = append(names, q.name)
			}
		}
		if !first {
			dst = append(closeObject(append(dst, '}'), names, true), '}')
		}
		if len(names) > 0 {
			required = append(required, in)
		}
	}
	if b := p.body; b != nil {
		dst = w.body(name(dst, "body"), b)
		if b.required {
			required = append(required, "body")
		}
	}
	return closeObject(append(dst, '}'), required, true)
}

func closeObject(dst []byte, required []string, closed bool) []byte {
	if len(required) > 0 {
		dst = appendStrings(name(dst, "required"), required)
	}
	if closed {
		dst = append(dst, `,"additionalProperties":false`...)
	}
	return dst
}

func (d *Document) appendOutput(dst []byte, p *plan, most room, bad *problems) []byte {
	w := &schemaWriter{d: d, way: response, bad: bad}
	start := len(dst)
	dst = append(dst, `,"outputSchema":{"type":"object"`...)
	if p.output.wrap {
		dst = append(name(dst, "properties"), '{')
		dst = append(w.schema(name(dst, wrapped), p.output.schema), '}')
	} else if n, err := d.follow(p.output.schema); err == nil {
		dst = w.members(dst, n, map[string]bool{"type": true, "$ref": true})
	}
	if len(dst)-start > most.inline {
		return dst[:start]
	}
	return append(d.appendDefs(dst, w.refs, most.output, bad), '}')
}

// describe builds the description from summary, description and deprecation.
func describe(e *entry, op *node) string {
	summary := strings.TrimSpace(op.Str("summary"))
	text := strings.TrimSpace(op.Str("description"))
	if summary == "" && text == "" {
		text = strings.TrimSpace(e.item.text)
	}
	switch {
	case summary == "":
	case text == "" || strings.HasPrefix(summary, text):
		text = summary
	case !strings.HasPrefix(text, strings.TrimRight(summary, ".")):
		text = summary + "\n\n" + text
	}
	if text == "" {
		text = e.method + " " + e.path
	}
	if op.Get("deprecated").IsTrue() {
		text = "Deprecated. " + text
	}
	return short(text, maxDescription)
}

// appendOrigin appends method and path in _meta, for search; models do not see them.
func appendOrigin(dst []byte, e *entry) []byte {
	dst = rawjson.AppendString(append(dst, `,"_meta":{"toolfit/operation":{"method":`...), e.method)
	dst = rawjson.AppendString(append(dst, `,"path":`...), e.path)
	if len(e.tags) > 0 {
		dst = appendStrings(name(dst, "tags"), e.tags)
	}
	return append(dst, "}}"...)
}

// appendAnnotations appends the hints that follow from the method. Whether POST and PATCH are
// destructive is unknown.
func appendAnnotations(dst []byte, e *entry, op *node) []byte {
	dst = append(dst, `,"annotations":{`...)
	if title := strings.TrimSpace(op.Str("summary")); title != "" {
		dst = rawjson.AppendString(append(dst, `"title":`...), title)
		dst = append(dst, ',')
	}
	switch {
	case isReadOnly(e.method):
		dst = append(dst, `"readOnlyHint":true,`...)
	case e.method == "DELETE":
		dst = append(dst, `"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,`...)
	case e.method == "PUT":
		dst = append(dst, `"readOnlyHint":false,"idempotentHint":true,`...)
	default:
		dst = append(dst, `"readOnlyHint":false,`...)
	}
	return append(dst, `"openWorldHint":true}`...)
}
