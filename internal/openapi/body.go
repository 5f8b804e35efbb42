package openapi

import (
	"slices"
	"strings"
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
	inline   bool // Swagger: the schema's keywords stand in the parameter itself
	file     bool // its value is the content of a file
	how      encoding
	describe string
}

// readBody reads the body of an operation; nil without one. It fails where it cannot know what to send.
func (d *Document) readBody(op *node, rest []*node, bad *problems) (*body, bool) {
	if d.format == swagger2 {
		return d.swaggerBody(op, rest), true
	}
	at := op.get("requestBody")
	if at == nil {
		return nil, true
	}
	n, err := d.follow(at)
	if err != nil {
		bad.add(at.pointer(), err.Error()+"; the operation is left out")
		return nil, false
	}
	content := n.get("content").members()
	if len(content) == 0 {
		if n.is("required") {
			bad.add(at.pointer(), "is required and has no content; the operation is left out")
			return nil, false
		}
		bad.add(at.pointer(), "has no content; left out")
		return nil, true
	}
	media := pickMedia(content)
	b := &body{required: n.is("required"), kind: d.kindOf(media), schema: media.get("schema"), describe: n.str("description")}
	b.media = sent(media.key, b.kind)
	d.spread(b)
	for _, f := range b.fields {
		d.encodeField(b, f, media.get("encoding").get(f.name), bad)
	}
	return b, true
}

// encodeField reads how a field of a form is written.
func (d *Document) encodeField(b *body, f *field, how *node, bad *problems) {
	f.how = encoding{style: "form", explode: true}
	if b.kind == formMedia && (how.get("style") != nil || how.get("explode") != nil || how.get("allowReserved") != nil) {
		f.how = readEncoding(how, "query", bad)
	}
	f.how.media = how.str("contentType")
	if b.kind != multipartMedia {
		return
	}
	kind := kindOfType(f.how.media)
	other := f.how.media != "" && kind != jsonMedia && kind != textMedia
	for _, s := range f.schemas {
		if s, err := d.follow(s); err == nil {
			items := s.get("items")
			f.file = f.file || d.isBinary(s) || items != nil && d.isBinary(items) || other && !hasParts(s)
		}
	}
}

// hasParts tells whether a schema describes objects.
func hasParts(s *node) bool {
	return s.get("properties") != nil || slices.Contains(s.strings("type"), "object")
}

// swaggerBody makes a body of the parameters that Swagger puts there.
func (d *Document) swaggerBody(op *node, rest []*node) *body {
	if len(rest) == 0 {
		return nil
	}
	consumes := op.strings("consumes")
	if p, ok := d.child(place{raw: d.raw}, "consumes"); ok && op.get("consumes") == nil {
		consumes = plainTexts(d.node(p))
	}
	for _, n := range rest {
		if n.str("in") == "body" {
			media := node{kind: objectKind, key: "application/json"}
			if len(consumes) > 0 {
				media.key = slices.MinFunc(consumes, func(a, b string) int { return rank(a) - rank(b) })
			}
			if schema := n.get("schema"); schema != nil {
				media.kids = []node{*schema}
			}
			b := &body{required: n.is("required"), kind: d.kindOf(&media), schema: n.get("schema"), describe: n.str("description")}
			b.media = sent(media.key, b.kind)
			d.spread(b)
			return b
		}
	}
	return swaggerForm(rest, consumes)
}

func swaggerForm(rest []*node, consumes []string) *body {
	isMultipart := func(s string) bool { return strings.HasPrefix(mediaType(s), "multipart/") }
	isForm := func(s string) bool { return kindOfType(s) == formMedia }
	b := &body{media: "application/x-www-form-urlencoded", kind: formMedia}
	for _, n := range rest {
		f := &field{name: n.str("name"), schemas: []*node{n}, inline: true, required: n.is("required"), describe: n.str("description")}
		f.file = n.str("type") == "file"
		f.how = collection(n.str("collectionFormat"), "formData")
		b.fields = append(b.fields, f)
		b.required = b.required || f.required
		if f.file || slices.ContainsFunc(consumes, isMultipart) && !slices.ContainsFunc(consumes, isForm) {
			b.media, b.kind = "multipart/form-data", multipartMedia
		}
	}
	return b
}
