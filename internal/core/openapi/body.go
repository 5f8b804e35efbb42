package openapi

import (
	"slices"
)

// body is the request body of an operation.
type body struct {
	required bool
	media    string // media type to send
	kind     mediaKind
	schema   *node    // nil: anything
	fields   []*field // properties of a plain object; otherwise nil
	open     bool     // a plain object that allows additional properties
	spread   bool     // its fields are separate arguments
	arg      string   // the argument for the whole body, if not spread
	describe string
}

// field is a property of a body.
type field struct {
	name     string
	arg      string
	schemas  []*node // all must hold
	required bool
	file     bool // its value is the content of a file
	how      encoding
	describe string
}

// readBody reads a request body. It returns false if it is unclear what to send.
func (d *Document) readBody(at *node, bad *problems) (*body, bool) {
	n, err := d.follow(at)
	if err != nil {
		bad.add(at.Pointer(), err.Error()+"; the operation is left out")
		return nil, false
	}
	content := n.Get("content").Members()
	if len(content) == 0 {
		if n.Get("required").IsTrue() {
			bad.add(at.Pointer(), "is required but has no content; the operation is left out")
			return nil, false
		}
		bad.add(at.Pointer(), "has no content; ignored")
		return nil, true
	}
	media := pickMedia(content)
	b := &body{required: n.Get("required").IsTrue(), kind: d.kindOf(media), schema: media.Get("schema"), describe: n.Str("description")}
	b.media = sent(media.Key, b.kind)
	d.spread(b)
	for _, f := range b.fields {
		d.encodeField(b, f, media.Get("encoding").Get(f.name), bad)
	}
	return b, true
}

// encodeField reads the encoding of a form field.
func (d *Document) encodeField(b *body, f *field, how *node, bad *problems) {
	f.how = encoding{style: "form", explode: true}
	if b.kind == formMedia && (how.Get("style") != nil || how.Get("explode") != nil || how.Get("allowReserved") != nil) {
		f.how = readEncoding(how, "query", bad)
	}
	f.how.media = how.Str("contentType")
	if b.kind != multipartMedia {
		return
	}
	kind := kindOfType(f.how.media)
	other := f.how.media != "" && kind != jsonMedia && kind != textMedia
	for _, s := range f.schemas {
		if s, err := d.follow(s); err == nil {
			items := s.Get("items")
			f.file = f.file || d.isBinary(s) || items != nil && d.isBinary(items) || other && !hasParts(s)
		}
	}
}

// hasParts reports whether a schema describes an object.
func hasParts(s *node) bool {
	return s.Get("properties") != nil || slices.Contains(s.Strings("type"), "object")
}
