package schema

import (
	"slices"
	"strings"
)

// annotates tells whether a keyword says nothing about what is valid.
func annotates(key string) bool {
	return annotations[key] || silent[key] || key == "title" || key == "description" || key == "nullable" || strings.HasPrefix(key, "x-")
}

// teams are keywords that mean something different without the others of their team.
var teams = map[string]string{
	"properties": "object", "patternProperties": "object", "additionalProperties": "object",
	"items": "array", "prefixItems": "array", "additionalItems": "array",
	"contains": "contains", "minContains": "contains", "maxContains": "contains",
	"if": "if", "then": "if", "else": "if",
}

// both is one schema for two that hold together: target is what a reference leads to, and
// beside what stands beside it. Its annotations take precedence. Where a keyword cannot be
// said once for both, the target becomes a part of allOf. Neither is used afterwards.
func (w *writer) both(beside, target *node) *node {
	switch {
	case beside == nil || len(beside.kids) == 0 && !beside.isFalse():
		return target
	case beside.kind != objectKind || target.isTrue():
		return beside
	case target.kind != objectKind || clash(beside, target):
		all := beside.get("allOf")
		if all == nil {
			all = w.put(beside, "allOf", w.array(1))
		}
		all.kids = append(all.kids, target)
		return beside
	}
	for _, kid := range beside.kids {
		have := target.get(kid.key)
		switch {
		case have == nil || annotates(kid.key):
			w.set(target, kid)
		case kid.key == "required", kid.key == "allOf":
			have.kids = dedupe(slices.Concat(have.kids, kid.kids))
		case kid.key == "properties":
			w.bothProperties(have, kid.kids)
		}
	}
	return target
}

// bothProperties adds properties to those of a target. One that both have must fit both.
func (w *writer) bothProperties(to *node, list []*node) {
	at := make(map[string]int, len(to.kids))
	for i, kid := range to.kids {
		at[kid.key] = i
	}
	for _, p := range list {
		key := p.key
		i, there := at[key]
		if !there {
			to.kids = append(to.kids, p)
			continue
		}
		to.kids[i] = w.both(p, to.kids[i])
		to.kids[i].key = key
	}
}

// set moves a member that is written already into an object, in the place of one of the same name.
func (w *writer) set(n, kid *node) {
	at := slices.IndexFunc(n.kids, func(k *node) bool { return k.key == kid.key })
	if at < 0 {
		n.kids = append(n.kids, kid)
		return
	}
	w.spent -= len(kid.key) + len(n.kids[at].text) + 4
	n.kids[at] = kid
}

// clash tells whether two schemas cannot be written as one.
func clash(a, b *node) bool {
	if slices.ContainsFunc(a.kids, func(k *node) bool { return !annotates(k.key) }) && (looksAround(a) || looksAround(b)) {
		return true
	}
	for _, kid := range a.kids {
		have := b.get(kid.key)
		if have != nil && !annotates(kid.key) && kid.key != "required" && kid.key != "allOf" && kid.key != "properties" && !equal(kid, have) {
			return true
		}
		if team := teams[kid.key]; team != "" && slices.ContainsFunc(b.kids, func(k *node) bool { return teams[k.key] == team && (k.key != kid.key || k.key != "properties") }) {
			return true
		}
	}
	return false
}

// looksAround tells whether a schema has a keyword that depends on all others beside it.
func looksAround(n *node) bool {
	return n.get("unevaluatedProperties") != nil || n.get("unevaluatedItems") != nil
}
