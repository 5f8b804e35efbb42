package openapi

import (
	"slices"
)

// body is what an operation takes beside its parameters.
type body struct {
	required bool
	media    string // to send
	kind     mediaKind
	schema   *node    // nil: anything
	fields   []*field // the properties of a plain object; nil where it is something else
	open     bool     // a plain object that may have more
	spread   bool     // its fields are arguments of their own
	arg      string   // the argument for the whole, where they are not
	describe string
}

// field is a property of a body.
type field struct {
	name     string
	arg      string
	schemas  []*node // all of them hold
	required bool
	file     bool // its value is the content of a file
	how      encoding
	describe string
}

// readBody reads a request body. It fails where it cannot know what to send.
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

// encodeField reads how a field of a form is written.
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

// hasParts reports whether a schema describes objects.
func hasParts(s *node) bool {
	return s.Get("properties") != nil || slices.Contains(s.Strings("type"), "object")
}
