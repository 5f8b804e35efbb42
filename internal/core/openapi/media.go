package openapi

import (
	"mime"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// mediaKind is how a body is written and read.
type mediaKind uint8

const (
	jsonMedia mediaKind = 1 + iota
	formMedia
	multipartMedia
	textMedia
	binaryMedia
)

// textTypes are text types outside text/.
var textTypes = []string{
	"application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/x-javascript",
	"application/x-ndjson", "application/jsonl", "application/json-seq", "application/graphql", "application/sql",
	"application/toml", "application/jwt", "image/svg+xml",
}

// mediaType returns the type without parameters in lower case, or "".
func mediaType(s string) string {
	base, _, _ := strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

// kindOfType returns the kind of a media type, or 0 if the type alone does not tell.
func kindOfType(media string) mediaKind {
	base := mediaType(media)
	switch {
	case base == "application/json", strings.HasSuffix(base, "+json"), base == "text/json", base == "application/x-json":
		return jsonMedia
	case base == "application/x-www-form-urlencoded":
		return formMedia
	case strings.HasPrefix(base, "multipart/"):
		return multipartMedia
	case strings.HasPrefix(base, "text/"), slices.Contains(textTypes, base), strings.HasSuffix(base, "+xml"), strings.HasSuffix(base, "+yaml"):
		return textMedia
	case base == "application/octet-stream":
		return binaryMedia
	}
	return 0
}

// kindOf returns the kind of a media type object. For generic types the schema decides: text
// unless it is binary, and JSON for */* with a structured schema.
func (d *Document) kindOf(media *node) mediaKind {
	if k := kindOfType(media.Key); k != 0 {
		return k
	}
	schema := media.Get("schema")
	if schema != nil {
		schema, _ = d.follow(schema)
	}
	switch {
	case schema == nil || len(schema.Kids) == 0:
		if strings.Contains(media.Key, "*/*") || media.Key == "" {
			return jsonMedia
		}
		return binaryMedia
	case d.isBinary(schema):
		return binaryMedia
	case slices.Contains(schema.Strings("type"), "string"):
		return textMedia
	case strings.Contains(media.Key, "*"):
		return jsonMedia
	}
	return textMedia
}

// rank orders media types by preference: what models write best comes first.
func rank(media string) int {
	switch base := mediaType(media); {
	case base == "application/json":
		return 0
	case kindOfType(media) == jsonMedia:
		return 1
	case base == "*/*":
		return 2
	case kindOfType(media) == 0:
		return 8
	}
	return 2 + int(kindOfType(media))
}

// pickMedia chooses one media type of a content object, for the schema that models see and for
// the body that is sent.
func pickMedia(content []*node) *node {
	return slices.MinFunc(content, func(a, b *node) int { return rank(a.Key) - rank(b.Key) })
}

// sent returns the media type to send for a declared one, which may be a range.
func sent(declared string, kind mediaKind) string {
	if _, _, err := mime.ParseMediaType(declared); err == nil && !strings.Contains(declared, "*") {
		return declared
	}
	switch kind {
	case jsonMedia:
		return "application/json"
	case textMedia:
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// isBinary reports whether a schema describes bytes rather than text.
func (d *Document) isBinary(n *node) bool {
	n, err := d.follow(n)
	if err != nil || n.Kind != jsonschema.Object {
		return false
	}
	format := n.Str("format")
	types := n.Strings("type")
	isText := len(types) == 0 || slices.Contains(types, "string")
	switch {
	case slices.Contains(types, "file"):
		return true
	case !isText:
		return false
	}
	if format == "binary" || format == "base64" || format == "byte" || n.Str("contentEncoding") == "base64" {
		return true
	}
	media := n.Str("contentMediaType")
	kind := kindOfType(media)
	return media != "" && kind != jsonMedia && kind != textMedia
}
