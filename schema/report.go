package schema

import "github.com/toolfit/toolfit/internal/core/jsonschema"

// Kind says what a change is about.
type Kind string

// The kinds of change. The list only grows.
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
	Constraint     Kind = "constraint" // not said in the schema any more, but in words
	Closed         Kind = "closed"     // further properties cannot be sent any more
	Cut            Kind = "cut"        // left out for size or endless depth
	Unknown        Kind = "unknown"    // required, but without a schema
	Impossible     Kind = "impossible" // no value could be right
	Rename         Kind = "rename"
	AsJSON         Kind = "as_json"
	AsPairs        Kind = "as_pairs"
	AsText         Kind = "as_text"
	RootChanged    Kind = "root"
	AmbiguousNull  Kind = "ambiguous_null"
	Fallback       Kind = "fallback"  // the dialect's next form was used
	Advised        Kind = "advised"   // accepted, but more than the provider's documents name
	ReadOnly       Kind = "read_only" // no part of a request
)

// Change is one difference between what the tool said and what the model is told.
type Change struct {
	Pointer string `json:"pointer"` // into the original schema
	Kind    Kind   `json:"kind"`
	Action  string `json:"action"`
}

// noteOf puts a keyword that cannot be sent into words.
func noteOf(n *node) string {
	switch n.Key {
	case "default":
		if n.Kind == jsonschema.Null {
			return "" // absent is absent
		}
		return "Default: " + n.String() + "."
	case "pattern":
		return "Pattern: " + n.Text
	case "format":
		return "Format: " + n.Text
	case "multipleOf":
		return "Multiple of " + n.Text
	case "uniqueItems":
		if !n.IsTrue() {
			return ""
		}
		return "No duplicates"
	case "minimum":
		return "At least " + n.Text
	case "maximum":
		return "At most " + n.Text
	case "exclusiveMinimum":
		return "More than " + n.Text
	case "exclusiveMaximum":
		return "Less than " + n.Text
	case "minLength", "minItems", "minProperties", "minContains":
		return "At least " + n.Text + unit(n.Key)
	case "maxLength", "maxItems", "maxProperties", "maxContains":
		return "At most " + n.Text + unit(n.Key)
	case "not":
		return noteOfNot(n)
	case "if":
		return "Further conditions are checked when called."
	case "dependentRequired":
		return noteOfNeeds(n)
	case "dependencies", "dependentSchemas", "contains", "unevaluatedProperties", "unevaluatedItems":
		return "Further rules are checked when called."
	}
	return "" // annotations
}

func unit(key string) string {
	switch key[3:] {
	case "imum":
		return ""
	case "Length":
		return " characters"
	case "Properties":
		return " properties"
	case "Contains":
		return " matching items"
	}
	return " items"
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
	return "Further rules are checked when called."
}

func noteOfNeeds(n *node) string {
	s := ""
	for _, kid := range n.Kids {
		if s != "" {
			s += "; "
		}
		s += kid.Key + " needs " + words(kid.Kids)
	}
	return s
}

// words lists texts, no more of them than one reads.
func words(list []*node) string {
	s := ""
	for i, n := range list {
		if i == 20 {
			return s + ", …"
		}
		if i > 0 {
			s += ", "
		}
		if n.Kind == jsonschema.String {
			s += n.Text
		} else {
			s += n.String()
		}
	}
	return s
}
