package schema

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// annotates reports whether a keyword does not affect validation.
func annotates(key string) bool {
	return jsonschema.Keywords[key].Note || jsonschema.Keywords[key].Silent || key == "nullable" || strings.HasPrefix(key, "x-")
}

// related group keywords that depend on each other.
var related = map[string]string{
	"properties": "object", "patternProperties": "object", "additionalProperties": "object",
	"items": "array", "prefixItems": "array", "additionalItems": "array",
	"contains": "contains", "minContains": "contains", "maxContains": "contains",
	"if": "if", "then": "if", "else": "if",
}

// mergeable are the constraints that mergeBeside can merge.
var mergeable = set("required allOf properties")

// mergeBeside merges two schemas that must mergeBeside hold: the target of a reference and the keywords
// beside the reference, whose annotations win. If they cannot be merged, the target goes into
// an allOf. Both arguments are consumed.
func (w *writer) mergeBeside(beside, target *node) *node {
	switch {
	case beside == nil || len(beside.Kids) == 0 && !beside.IsFalse():
		return target
	case beside.Kind != jsonschema.Object || target.IsTrue():
		return beside
	case target.Kind != jsonschema.Object || clash(beside, target):
		all := beside.Get("allOf")
		if all == nil {
			all = w.put(beside, "allOf", w.array(1))
		}
		all.Kids = append(all.Kids, target)
		return beside
	}
	for _, kid := range beside.Kids {
		have := target.Get(kid.Key)
		switch {
		case have == nil || annotates(kid.Key):
			w.set(target, kid)
		case kid.Key == "required", kid.Key == "allOf":
			have.Kids = jsonschema.Distinct(slices.Concat(have.Kids, kid.Kids))
		case kid.Key == "properties":
			w.mergeProperties(have, kid.Kids)
		}
	}
	return target
}

// mergeProperties merges properties into those of a target.
func (w *writer) mergeProperties(to *node, list []*node) {
	at := make(map[string]int, len(to.Kids))
	for i, kid := range to.Kids {
		at[kid.Key] = i
	}
	for _, p := range list {
		key := p.Key
		i, there := at[key]
		if !there {
			to.Kids = append(to.Kids, p)
			continue
		}
		to.Kids[i] = w.mergeBeside(p, to.Kids[i])
		to.Kids[i].Key = key
	}
}

// set adds a member to an object, replacing one with the same name.
func (w *writer) set(n, kid *node) {
	at := slices.IndexFunc(n.Kids, func(k *node) bool { return k.Key == kid.Key })
	if at < 0 {
		n.Kids = append(n.Kids, kid)
		return
	}
	w.spent -= len(kid.Key) + len(n.Kids[at].Text) + 4
	n.Kids[at] = kid
}

// clash reports whether two schemas cannot be merged into one.
func clash(a, b *node) bool {
	if slices.ContainsFunc(a.Kids, func(k *node) bool { return !annotates(k.Key) }) && (looksAround(a) || looksAround(b)) {
		return true
	}
	for _, kid := range a.Kids {
		have := b.Get(kid.Key)
		if have != nil && !annotates(kid.Key) && !mergeable[kid.Key] && !jsonschema.Equal(kid, have) {
			return true
		}
		team := related[kid.Key]
		if team != "" && slices.ContainsFunc(b.Kids, func(k *node) bool {
			return related[k.Key] == team && (k.Key != kid.Key || k.Key != "properties")
		}) {
			return true
		}
	}
	return false
}

// looksAround reports whether a schema has a keyword that depends on the keywords beside it.
func looksAround(n *node) bool {
	return n.Get("unevaluatedProperties") != nil || n.Get("unevaluatedItems") != nil
}
