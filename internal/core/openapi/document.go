package openapi

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Document is a description of an HTTP API. It is safe for concurrent use.
type Document struct {
	Title   string // of the API
	Version string // of the API, not of the format

	opts     Options
	format   format
	raw      []byte // the document as JSON
	entries  []*entry
	problems []Problem // problems found while reading the document
	schemes  []Scheme
	index    index
	defs     definitions

	servers            []Server
	security           *node    // nil: not specified
	consumes, produces []string // Swagger: media types of requests and responses
}

// format is the format of a document.
type format uint8

const (
	swagger2 format = 1 + iota
	openapi30
	openapi31 // or later
)

// refAlone reports whether keywords beside a reference are ignored.
func (f format) refAlone() bool { return f != openapi31 }

// Read reads a document and keeps data, which must not be changed afterwards. It fails only if
// nothing in the document is usable.
func Read(data []byte, opts *Options) (*Document, error) {
	o := opts.filled()
	if o.Layout != Flat && o.Layout != Layered {
		return nil, fault.New(fault.BadConfig, "read API description: unknown layout %q", o.Layout).WithHint("use flat or layered")
	}
	if len(data) > o.MaxBytes {
		return nil, fault.New(fault.TooLarge, "read API description: it has %d bytes, more than %d", len(data), o.MaxBytes)
	}
	d := &Document{opts: o}
	d.index.wide = map[string]map[string][]byte{}
	d.index.refs = map[string]place{}
	d.defs.all = map[definitionKey]*definition{}
	d.defs.known = map[string]*about{}
	var bad problems
	raw, err := toJSON(data, &bad)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "read API description: %w", err)
	}
	d.raw = raw
	if err := d.readHead(&bad); err != nil {
		return nil, err
	}
	d.readSchemes(&bad)
	d.readPaths(&bad)
	d.nameAll(&bad)
	d.problems = bad.list
	return d, nil
}

// toJSON returns the document as valid JSON in valid UTF-8.
func toJSON(data []byte, bad *problems) ([]byte, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	jsonErr := rawjson.Check(data)
	if jsonErr == nil {
		if !utf8.Valid(data) {
			bad.add("", "the document is not UTF-8; the bytes that are not were replaced")
			return bytes.ToValidUTF8(data, []byte("\uFFFD")), nil
		}
		return data, nil
	}
	out, err := fromYAML(data)
	if err != nil {
		if len(data) > 0 && data[0] == '{' {
			err = jsonErr // it looks like JSON
		}
		return nil, err
	}
	return out, rawjson.Check(out)
}

// readHead determines the format.
func (d *Document) readHead(bad *problems) error {
	isSwagger := d.top("swagger") != nil
	number := ""
	if name := cmp.Or(d.top("swagger"), d.top("openapi")); name != nil {
		number = name.Text
	}
	switch {
	case isSwagger && strings.HasPrefix(number, "2"):
		d.format = swagger2
	case !isSwagger && strings.HasPrefix(number, "3.0"), number == "3":
		d.format = openapi30
	case !isSwagger && strings.HasPrefix(number, "3."):
		d.format = openapi31
	default:
		return fault.New(fault.BadConfig, "read API description: it is neither OpenAPI 3 nor Swagger 2.0").
			WithHint("the document begins with openapi: 3.… or swagger: \"2.0\"")
	}
	if info := d.top("info"); info != nil {
		d.Title = info.Str("title")
		d.Version = info.Str("version")
		if d.Version == "" && info.Get("version") != nil {
			d.Version = info.Get("version").Text // YAML without quotes: 1.0
		}
	} else {
		bad.add("/info", "is missing")
	}
	d.security = d.top("security")
	if d.format == swagger2 {
		d.consumes = plainTexts(d.top("consumes"))
		d.produces = plainTexts(d.top("produces"))
		d.servers = []Server{d.swaggerServer(plainTexts(d.top("schemes")))}
		return nil
	}
	d.servers = serverList(d.top("servers"))
	if len(d.servers) == 0 {
		d.servers = []Server{{URL: "/"}}
	}
	return nil
}

// top returns a top-level member, or nil.
func (d *Document) top(key string) *node {
	p, ok := d.child(place{raw: d.raw}, key)
	if !ok {
		return nil
	}
	return jsonschema.ParseAt(p.raw, p.pointer)
}
