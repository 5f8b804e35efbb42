package schema

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Kind is the kind of a change.
type Kind string

// The kinds of changes. New kinds may be added.
const (
	RefLoop        Kind = "ref_loop"
	RefSibling     Kind = "ref_sibling"
	RefRepaired    Kind = "ref_repaired"
	MissingRef     Kind = "missing_ref"
	NotASchema     Kind = "not_a_schema"
	UnknownKeyword Kind = "unknown_keyword"
	BadType        Kind = "bad_type"
	BadRequired    Kind = "bad_required"
	BadKeyword     Kind = "bad_keyword"
	BooleanBound   Kind = "boolean_bound"
	DoubleValue    Kind = "double_value"
	DoubleKey      Kind = "double_key"
	Wrapped        Kind = "wrapped"
	Discriminated  Kind = "discriminator"
	Conflict       Kind = "conflict"
	TooMuch        Kind = "too_much"
	Constraint     Kind = "constraint" // moved from the schema to the description
	Closed         Kind = "closed"     // additional properties can no longer be sent
	Cut            Kind = "cut"        // omitted for size or infinite depth
	Unknown        Kind = "unknown"    // required, but without a schema
	Impossible     Kind = "impossible" // no value could be valid
	Rename         Kind = "rename"
	AsJSON         Kind = "as_json"
	AsPairs        Kind = "as_pairs"
	AsText         Kind = "as_text"
	RootChanged    Kind = "root"
	AmbiguousNull  Kind = "ambiguous_null"
	Fallback       Kind = "fallback"  // the dialect's fallback was used
	Advised        Kind = "advised"   // accepted, but beyond the documented limits
	ReadOnly       Kind = "read_only" // not part of a request
)

// Change is one difference between the original schema and the one the model sees.
type Change struct {
	Pointer string `json:"pointer"` // into the original schema
	Kind    Kind   `json:"kind"`
	Action  string `json:"action"`
}

// noteTexts describe keywords that cannot be sent: the text before and after the value.
var noteTexts = map[string][2]string{
	"pattern": {"Pattern: "}, "format": {"Format: "}, "multipleOf": {"Multiple of "},
	"minimum": {"At least "}, "exclusiveMinimum": {"More than "}, "maximum": {"At most "}, "exclusiveMaximum": {"Less than "},
	"minLength": {"At least ", " characters"}, "maxLength": {"At most ", " characters"},
	"minItems": {"At least ", " items"}, "maxItems": {"At most ", " items"},
	"minProperties": {"At least ", " properties"}, "maxProperties": {"At most ", " properties"},
	"minContains": {"At least ", " matching items"}, "maxContains": {"At most ", " matching items"},
}

const furtherRules = "Further rules are checked when called."

// noteOf describes a keyword that cannot be sent.
func noteOf(n *node) string {
	if text, ok := noteTexts[n.Key]; ok {
		return text[0] + n.Text + text[1]
	}
	switch n.Key {
	case "default":
		if n.Kind == jsonschema.Null {
			return "" // the same as no default
		}
		return "Default: " + n.String() + "."
	case "uniqueItems":
		if n.IsTrue() {
			return "No duplicates"
		}
	case "not":
		return noteOfNot(n)
	case "if":
		return "Further conditions are checked when called."
	case "dependentRequired":
		return noteOfNeeds(n)
	case "dependencies", "dependentSchemas", "contains", "unevaluatedProperties", "unevaluatedItems":
		return furtherRules
	}
	return "" // annotations
}

func noteOfNot(n *node) string {
	if req := n.Get("required"); req != nil && len(n.Kids) == 1 && len(req.Kids) > 1 {
		s := "not both of: "
		if len(req.Kids) > 2 {
			s = "not all of: "
		}
		return s + words(req.Kids)
	}
	if s := n.String(); len(s) <= 80 {
		return "Must not match " + s
	}
	return furtherRules
}

func noteOfNeeds(n *node) string {
	var needs []string
	for _, kid := range n.Kids {
		needs = append(needs, kid.Key+" needs "+words(kid.Kids))
	}
	return strings.Join(needs, "; ")
}

// words lists the first 20 values.
func words(list []*node) string {
	var texts []string
	for _, n := range list[:min(20, len(list))] {
		text := n.Text
		if n.Kind != jsonschema.String {
			text = n.String()
		}
		texts = append(texts, text)
	}
	if len(list) > len(texts) {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}
