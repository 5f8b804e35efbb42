package openapi

// carried are the keywords that are carried over as they are, and whether they stay in the
// schema of a result, which forbids nothing but the wrong type. Those that need more stand in
// schemaWriter.keyword; all others are left out: example, xml, externalDocs, x-….
var carried = map[string]bool{
	"title": true, "default": false, "deprecated": true, "format": false, "pattern": false, "contentEncoding": true, "contentMediaType": true,
	"minimum": false, "maximum": false, "exclusiveMinimum": false, "exclusiveMaximum": false, "multipleOf": false, "minLength": false, "maxLength": false,
	"minItems": false, "maxItems": false, "uniqueItems": false, "minContains": false, "maxContains": false,
	"minProperties": false, "maxProperties": false, "propertyNames": false, "dependentRequired": false, "dependentSchemas": false,
	"allOf": true, "prefixItems": true, "patternProperties": true, "not": false, "if": false, "then": false, "else": false,
	"contains": false, "contentSchema": false, "unevaluatedProperties": false, "unevaluatedItems": false,
}
