package form

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// kindOf is how a value is entered.
func (b *builder) kindOf(at place, p *spec, branches []branch) Kind {
	switch {
	case p.broken:
		return JSON
	case branches == nil && p.only() != nil:
		return Fixed
	case p.options(branches) != nil:
		return Choice
	case branches != nil:
		return b.variantOf(at, branches)
	}
	switch typeOf(p) {
	case jsonschema.TString:
		return Text
	case jsonschema.TNumber, jsonschema.TInteger:
		return Number
	case jsonschema.TBoolean:
		return Choice
	case jsonschema.TArray:
		return b.listOf(at, p)
	case jsonschema.TObject:
		return b.objectOf(at, p)
	}
	return JSON
}

// typeOf is the type that a schema names, or else means.
func typeOf(p *spec) jsonschema.Types {
	switch {
	case p.types != 0:
		return p.types
	case p.has("properties"):
		return jsonschema.TObject
	case p.has("items"):
		return jsonschema.TArray
	case p.has("minLength", "maxLength", "pattern", "format"):
		return jsonschema.TString
	case p.has("minimum", "maximum", "multipleOf"):
		return jsonschema.TNumber
	}
	return 0
}

func (b *builder) listOf(at place, p *spec) Kind {
	items := p.get("items")
	if p.has("prefixItems") || items == nil || items.Kind != jsonschema.Object || at.depth == maxDepth {
		return JSON
	}
	inner, branches := b.schema.narrow(b.schema.spec(items))
	if options := inner.options(branches); options != nil && !inner.broken {
		if len(options) > 1 {
			return Many
		}
		return JSON
	}
	in := at
	in.depth++
	in.above = nil
	if kind := b.kindOf(in, &inner, branches); kind == JSON || kind == Fixed {
		return JSON
	}
	return List
}

func (b *builder) objectOf(at place, p *spec) Kind {
	members := p.members()
	again := slices.ContainsFunc(p.parts, func(n *jsonschema.Node) bool { return slices.Contains(at.above, n) })
	switch {
	case at.depth == maxDepth || len(members) > maxMembers || again && len(members) > 0:
		return JSON
	case len(members) > 0:
		return Object
	case p.rest() == nil:
		return JSON
	}
	in := at
	in.depth++
	in.above = nil
	inner, branches := b.schema.narrow(b.schema.spec(p.rest()))
	if kind := b.kindOf(in, &inner, branches); kind == JSON {
		return JSON
	}
	return Map
}

// variantOf tells whether the branches can be told apart by their names.
func (b *builder) variantOf(at place, branches []branch) Kind {
	const most = 12
	if len(branches) > most || at.depth == maxDepth {
		return JSON
	}
	var labels []string
	for _, one := range branches {
		inner, deeper := b.schema.narrow(one.spec)
		if inner.broken || deeper != nil && inner.options(deeper) == nil || one.label == "" || slices.Contains(labels, one.label) {
			return JSON
		}
		labels = append(labels, one.label)
	}
	return Variant
}

// mayNull tells whether null is ticked beside the field. Where it may be left out, and for what has fields of its own, it is JSON.
func (at place) mayNull(p *spec, kind Kind) bool {
	return p.null && at.required && (kind == Text || kind == Number || kind == Choice || kind == Fixed)
}
