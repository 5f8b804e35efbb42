package openapi

// carried are the keywords that are copied unchanged. The value says whether they are kept in
// the schema of a result, which only constrains types. Keywords that need conversion are in
// schemaWriter.keyword; all others are dropped: example, xml, externalDocs, x-….
var carried = map[string]bool{
	"title": true, "default": false, "deprecated": true, "format": false, "pattern": false, "contentEncoding": true, "contentMediaType": true,
	"minimum": false, "maximum": false, "exclusiveMinimum": false, "exclusiveMaximum": false, "multipleOf": false,
	"minLength": false, "maxLength": false, "minItems": false,
	"maxItems": false, "uniqueItems": false, "minContains": false, "maxContains": false,
	"minProperties": false, "maxProperties": false, "propertyNames": false, "dependentRequired": false, "dependentSchemas": false,
	"allOf": true, "prefixItems": true, "patternProperties": true, "not": false, "if": false, "then": false, "else": false,
	"contains": false, "contentSchema": false, "unevaluatedProperties": false, "unevaluatedItems": false,
}
