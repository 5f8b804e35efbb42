package openapi

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// setBody writes the body and its type. An optional body without values is not sent.
func (r *Request) setBody(b *body, v *values) error {
	if !b.required && (!v.given || !b.spread && rawjson.IsNull(v.whole)) {
		return nil
	}
	media := b.media
	var err error
	switch b.kind {
	case jsonMedia:
		r.Body = b.json(v)
	case textMedia:
		r.Body = []byte(atom(jsonschema.ParseAt(v.whole, "")))
	case binaryMedia:
		var f file
		f, err = readFile(jsonschema.ParseAt(v.whole, ""), "/"+jsonschema.EscapeToken(b.arg))
		if err == nil {
			r.Body = f.content
			if f.contentType != "" && (media == "application/octet-stream" || media == "") {
				media = f.contentType
			}
		}
	default:
		var fields []part
		fields, err = b.parts(v)
		if err != nil {
			return err
		}
		if b.kind == formMedia {
			r.Body, err = writeForm(fields)
		} else {
			r.Body, media, err = writeMultipart(fields, media)
		}
	}
	if err != nil {
		return err
	}
	if r.Body == nil {
		r.Body = []byte{}
	}
	r.Header.Set("Content-Type", media)
	return nil
}

// json returns the body as JSON. A whole body is passed through byte for byte.
func (b *body) json(v *values) []byte {
	if !b.spread {
		return v.whole
	}
	dst := []byte{'{'}
	for _, m := range v.fields {
		dst = append(name(dst, m.key), m.raw...)
	}
	return append(dst, '}')
}

// part is a form field with its value.
type part struct {
	*field
	value   *node
	pointer string // to the argument
}

// parts returns the given fields of a form. Null means not given.
func (b *body) parts(v *values) ([]part, error) {
	given := v.fields
	base := ""
	if !b.spread {
		if whole := v.whole; len(whole) > 0 && whole[0] == '{' {
			given = members(whole, func(string) {})
			base = "/" + jsonschema.EscapeToken(b.arg)
		} else if !rawjson.IsNull(whole) {
			return nil, badArgument("/"+jsonschema.EscapeToken(b.arg), "%s is not an object: a form has fields", b.arg)
		}
	}
	var out []part
	for _, m := range given {
		if rawjson.IsNull(m.raw) {
			continue
		}
		p := part{value: jsonschema.ParseAt(m.raw, ""), pointer: base + "/" + jsonschema.EscapeToken(m.key)}
		if at, ok := v.at[m.key]; ok {
			p.pointer = at
		}
		if at := slices.IndexFunc(b.fields, func(f *field) bool { return f.name == m.key }); at >= 0 {
			p.field = b.fields[at]
		} else {
			p.field = &field{name: m.key, how: encoding{style: "form", explode: true}}
		}
		out = append(out, p)
	}
	return out, nil
}

// writeForm writes name=value pairs. Structures become JSON text unless the document says
// otherwise.
func writeForm(fields []part) ([]byte, error) {
	var out []string
	for _, f := range fields {
		esc := func(s string) string { return escape(s, f.how.reserved) }
		if kindOfType(f.how.media) == jsonMedia || f.value.Kind == jsonschema.Object && !f.how.given {
			out = append(out, percent(f.name, unreserved)+"="+esc(string(f.value.Append(nil))))
			continue
		}
		list, ok := pairs(f.name, f.value, f.how, esc)
		if !ok {
			return nil, badArgument(f.pointer, "%s is too large to be written into a form", f.name)
		}
		out = append(out, list...)
	}
	return []byte(strings.Join(out, "&")), nil
}

// writeMultipart writes each field, and each element of a list, as a part. The boundary is a
// hash of the content, so that the same call gives the same request.
func writeMultipart(fields []part, media string) ([]byte, string, error) {
	sum := sha256.New()
	for _, f := range fields {
		sum.Write([]byte(f.name))
		sum.Write([]byte(f.value.Text))
	}
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	if err := w.SetBoundary("toolfit-" + hex.EncodeToString(sum.Sum(nil)[:16])); err != nil {
		return nil, "", err
	}
	for _, f := range fields {
		list := []*node{f.value}
		if f.value.Kind == jsonschema.Array && kindOfType(f.how.media) != jsonMedia {
			list = nil
			list = append(list, f.value.Kids...)
		}
		for _, v := range list {
			head, content, err := f.part(v)
			if err != nil {
				return nil, "", err
			}
			one, err := w.CreatePart(head)
			if err != nil {
				return nil, "", err
			}
			if _, err := one.Write(content); err != nil {
				return nil, "", err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return buf.Bytes(), mime.FormatMediaType(mediaType(media), map[string]string{"boundary": w.Boundary()}), nil
}

// part writes one value of a multipart field.
func (f part) part(v *node) (textproto.MIMEHeader, []byte, error) {
	head := textproto.MIMEHeader{}
	set := func(disposition, media string) {
		head.Set("Content-Disposition", disposition)
		if media != "" {
			head.Set("Content-Type", media)
		}
	}
	own := f.how.media
	if strings.ContainsAny(own, ",*") {
		own = "" // a list or range of types: any of them
	}
	if f.file {
		file, err := readFile(v, f.pointer)
		if err != nil {
			return nil, nil, err
		}
		set(multipart.FileContentDisposition(f.name, cmp.Or(file.name, f.name)), cmp.Or(file.contentType, own, "application/octet-stream"))
		return head, file.content, nil
	}
	disposition := `form-data; name="` + quoteField.Replace(f.name) + `"`
	if v.Kind == jsonschema.Array || v.Kind == jsonschema.Object {
		set(disposition, cmp.Or(own, "application/json"))
	} else {
		set(disposition, own)
	}
	return head, []byte(atom(v)), nil
}

// quoteField escapes field names as browsers do.
var quoteField = strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A")
