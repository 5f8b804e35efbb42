package recall

import (
	"maps"
	"reflect"
	"slices"
)

// typeOf returns the type of a schema without null, as one word if possible; nil if it has
// none.
func typeOf(in object) any {
	list, _ := in["type"].([]any)
	if list == nil {
		if word, _ := in["type"].(string); word != "" {
			return word
		}
		return nil
	}
	list = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == "null" })
	switch len(list) {
	case 0:
		return "null"
	case 1:
		return list[0]
	}
	return list
}

// unions are the keywords that hold alternatives, or parts that could not be merged.
var unions = []string{"anyOf", "oneOf", "allOf"}

// copyUnions copies the unions that say more than which properties are required.
func copyUnions(to, from object) {
	for _, union := range unions {
		list, _ := from[union].([]any)
		if slices.ContainsFunc(list, func(v any) bool {
			branch, _ := v.(object)
			return len(branch) != 1 || branch["required"] == nil
		}) {
			to[union] = list
		}
	}
}

// shaped reports whether a schema constrains values beyond being objects.
func shaped(in object) bool {
	kind := typeOf(in)
	if kind != nil && kind != "object" {
		return true
	}
	says := func(key string) bool { return in[key] != nil }
	holds := func(key string) bool {
		inner, _ := in[key].(object)
		return len(inner) > 0
	}
	return slices.ContainsFunc([]string{"anyOf", "oneOf", "allOf", "enum", "const"}, says) ||
		slices.ContainsFunc([]string{"properties", "patternProperties", "additionalProperties"}, holds)
}

// merged merges the parts of allOf into the schema, unless they contradict each other.
func merged(in object) object {
	parts, _ := in["allOf"].([]any)
	if len(parts) == 0 {
		return in
	}
	out := maps.Clone(in)
	delete(out, "allOf")
	ownProperties(out)
	for _, part := range parts {
		branch, ok := part.(object)
		if !ok || missing(branch) || !absorb(out, merged(branch)) {
			return in
		}
	}
	return out
}

// about are keywords that only describe. The first of several wins.
var about = map[string]bool{
	"description": true, "title": true, "example": true, "examples": true, "default": true, "deprecated": true,
	"externalDocs": true, "xml": true, "$comment": true, "$schema": true, "readOnly": true, "writeOnly": true, "nullable": true,
}

// absorb merges the keywords of a part into a schema; false if they contradict each other.
func absorb(out, part object) bool {
	for key, value := range part {
		have, there := out[key]
		switch {
		case !there:
			out[key] = value
			if key == "properties" {
				ownProperties(out)
			}
		case about[key] || reflect.DeepEqual(have, value):
		case key == "properties":
			a, isObject := have.(object)
			b, isToo := value.(object)
			if !isObject || !isToo {
				return false
			}
			addProperties(a, b)
		case key == "required":
			a, isList := have.([]any)
			b, isToo := value.([]any)
			if !isList || !isToo {
				return false
			}
			out[key] = slices.Concat(a, b)
		case key == "additionalProperties" && (have == false || value == false):
			delete(out, key) // a closed part would refuse the properties of the other
		default:
			return false
		}
	}
	return true
}

// ownProperties gives a schema properties that can be changed.
func ownProperties(in object) {
	if shared, ok := in["properties"].(object); ok {
		in["properties"] = maps.Clone(shared)
	}
}

// addProperties adds the properties of a part. A property of both must satisfy both.
func addProperties(to, part object) {
	for name, value := range part {
		have, there := to[name]
		both, _ := have.(object)
		list, _ := both["allOf"].([]any)
		switch {
		case !there || reflect.DeepEqual(have, value):
			to[name] = value
		case len(list) > 0 && len(both) == 1: // of more parts than two, one list
			to[name] = object{"allOf": append(slices.Clip(list), value)}
		default:
			to[name] = object{"allOf": []any{have, value}}
		}
	}
}
