package openapi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// fromSwagger converts a Swagger 2.0 operation to OpenAPI 3.
func (d *Document) fromSwagger(op *operation) {
	var body []*node // body and form parameters
	for i, list := range op.params {
		op.params[i] = d.swaggerParams(list, &body)
	}
	consumes := op.texts("consumes", d.consumes)
	at := slices.IndexFunc(body, func(n *node) bool { return n.Str("in") == "body" })
	switch {
	case at >= 0:
		media := "application/json"
		if len(consumes) > 0 {
			media = slices.MinFunc(consumes, func(a, b string) int { return rank(a) - rank(b) })
		}
		n := body[at]
		op.body = object(n, append(pick(n, "required", "description"), content([]string{media}, n.Get("schema")))...)
	case len(body) > 0:
		op.form = swaggerForm(body, consumes)
	}
	op.responses = d.swaggerResponses(op.responses, op.texts("produces", d.produces))
	if schemes := op.Strings("schemes"); len(schemes) > 0 {
		op.servers = []Server{d.swaggerServer(schemes)}
	}
}

// texts returns a list of the operation, or else that of the document.
func (op *operation) texts(key string, document []string) []string {
	if op.Get(key) != nil {
		return op.Strings(key)
	}
	return document
}

// object returns an object in place of another. Its members keep their pointers.
func object(place *node, members ...*node) *node {
	return &node{Kind: jsonschema.Object, Key: place.Key, Parent: place.Parent, Kids: members}
}

// pick returns the members with the given names.
func pick(n *node, keys ...string) (out []*node) {
	for _, kid := range n.Kids {
		if slices.Contains(keys, kid.Key) {
			out = append(out, kid)
		}
	}
	return out
}

// content builds the content member of a body or response: one schema in several media types.
func content(types []string, schema *node) *node {
	c := &node{Kind: jsonschema.Object, Key: "content"}
	for _, t := range types {
		media := &node{Kind: jsonschema.Object, Key: t}
		if schema != nil {
			media.Kids = []*node{schema}
		}
		c.Kids = append(c.Kids, media)
	}
	return c
}

// swaggerParams converts a list of parameters. Body parameters are added to body, where later
// ones replace earlier ones of the same name.
func (d *Document) swaggerParams(list *node, body *[]*node) *node {
	if list == nil || list.Kind != jsonschema.Array {
		return list
	}
	out := &node{Kind: jsonschema.Array}
	for _, site := range list.Kids {
		n, err := d.follow(site)
		in := n.Str("in")
		switch {
		case err != nil:
			out.Kids = append(out.Kids, site)
		case in == "body" || in == "formData":
			*body = slices.DeleteFunc(*body, func(old *node) bool { return old.Str("in") == in && old.Str("name") == n.Str("name") })
			*body = append(*body, n)
		default:
			param := object(n, append(pick(n, "name", "in", "required", "description", "content"), swaggerSchema(n))...)
			param.Kids = append(param.Kids, swaggerStyle(n, in)...)
			param.Key = site.Pointer()
			param.Parent = nil
			out.Kids = append(out.Kids, param)
		}
	}
	return out
}

// swaggerSchema returns the schema whose keywords are in the parameter itself.
func swaggerSchema(n *node) *node {
	schema := &node{Kind: jsonschema.Object, Key: "schema", Parent: n}
	for _, kid := range n.Kids {
		if kid.Key != "required" && kid.Key != "description" && kid.Key != "deprecated" {
			schema.Kids = append(schema.Kids, kid)
		}
	}
	return schema
}

// swaggerStyle converts collectionFormat to style and explode.
func swaggerStyle(n *node, in string) []*node {
	style := "simple"
	explode := false
	switch in {
	case "cookie":
		style = "form"
	case "query", "formData":
		formats := map[string]string{"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}
		format := n.Str("collectionFormat")
		style = cmp.Or(formats[format], "form")
		explode = format == "multi"
	}
	return []*node{
		{Kind: jsonschema.String, Key: "style", Text: style},
		{Kind: jsonschema.Bool, Key: "explode", Text: strconv.FormatBool(explode)},
	}
}

// swaggerForm builds a body from form fields.
func swaggerForm(fields []*node, consumes []string) *body {
	isMultipart := func(s string) bool { return kindOfType(s) == multipartMedia }
	isForm := func(s string) bool { return kindOfType(s) == formMedia }
	multipart := slices.ContainsFunc(consumes, isMultipart) && !slices.ContainsFunc(consumes, isForm)
	b := &body{media: "application/x-www-form-urlencoded", kind: formMedia}
	for _, n := range fields {
		f := &field{name: n.Str("name"), schemas: []*node{swaggerSchema(n)}, required: n.Get("required").IsTrue(), describe: n.Str("description")}
		f.file = n.Str("type") == "file"
		f.how = readEncoding(object(n, swaggerStyle(n, "formData")...), "query", nil)
		f.how.given = false
		b.fields = append(b.fields, f)
		b.required = b.required || f.required
		multipart = multipart || f.file
	}
	if multipart {
		b.media = "multipart/form-data"
		b.kind = multipartMedia
	}
	return b
}

// swaggerResponses converts the schemas of responses.
func (d *Document) swaggerResponses(responses *node, produces []string) *node {
	if responses == nil {
		return nil
	}
	out := object(responses)
	for _, site := range responses.Members() {
		n, err := d.follow(site)
		if err != nil {
			out.Kids = append(out.Kids, site)
			continue
		}
		schema := n.Get("schema")
		types := produces
		if len(types) == 0 && schema != nil {
			types = []string{"application/json"}
		}
		out.Kids = append(out.Kids, object(site, content(types, schema)))
	}
	return out
}

// swaggerServer returns the API's server.
func (d *Document) swaggerServer(schemes []string) Server {
	base := "/" + strings.Trim(plainText(d.top("basePath")), "/")
	host := plainText(d.top("host"))
	if host == "" {
		return Server{URL: base}
	}
	scheme := "https"
	if len(schemes) > 0 && !slices.Contains(schemes, "https") && slices.Contains(schemes, "http") {
		scheme = "http"
	}
	return Server{URL: scheme + "://" + host + base}
}
