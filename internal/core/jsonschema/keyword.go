package jsonschema

import (
	"slices"
	"strings"
)

// Holds is what the value of a keyword must be.
type Holds uint8

// What keywords hold. Those before Number are where schemas stand; everything else is data,
// in which a $ref or an $id means nothing.
const (
	Anything Holds = iota
	OneSchema
	SchemaList
	SchemaMap // schemas by name
	ANumber
	ACount
	AText
	AFlag
	AList
	NameLists // lists of names, by name
)

// Keyword is one keyword of JSON Schema or of OpenAPI's schemas.
type Keyword struct {
	Holds   Holds
	Since   Draft // older documents may use the word for anything
	InPlace bool  // its schemas speak of the same value as the schema around them
	Silent  bool  // it says nothing about values: it names places, or speaks to readers of the document
	Note    bool  // it describes values without limiting them
}

// Keywords are all that are known.
var Keywords = map[string]Keyword{
	"type":     {},
	"enum":     {Holds: AList},
	"const":    {Since: Draft6},
	"nullable": {Holds: AFlag}, "x-nullable": {Holds: AFlag},

	"title":            {Holds: AText, Note: true},
	"description":      {Holds: AText, Note: true},
	"default":          {Note: true},
	"examples":         {Holds: AList, Note: true},
	"deprecated":       {Holds: AFlag, Note: true},
	"readOnly":         {Holds: AFlag, Note: true},
	"writeOnly":        {Holds: AFlag, Note: true},
	"contentEncoding":  {Holds: AText, Note: true},
	"contentMediaType": {Holds: AText, Note: true},
	"contentSchema":    {Holds: OneSchema},

	"minimum":          {Holds: ANumber},
	"maximum":          {Holds: ANumber},
	"exclusiveMinimum": {Holds: ANumber},
	"exclusiveMaximum": {Holds: ANumber},
	"multipleOf":       {Holds: ANumber},

	"minLength": {Holds: ACount},
	"maxLength": {Holds: ACount},
	"pattern":   {Holds: AText},
	"format":    {Holds: AText},

	"items":            {Holds: OneSchema},
	"prefixItems":      {Holds: SchemaList, Since: Draft2020},
	"additionalItems":  {Holds: OneSchema},
	"minItems":         {Holds: ACount},
	"maxItems":         {Holds: ACount},
	"uniqueItems":      {Holds: AFlag},
	"contains":         {Holds: OneSchema, Since: Draft6},
	"minContains":      {Holds: ACount, Since: Draft2019},
	"maxContains":      {Holds: ACount, Since: Draft2019},
	"unevaluatedItems": {Holds: OneSchema, Since: Draft2019},

	"properties":            {Holds: SchemaMap},
	"patternProperties":     {Holds: SchemaMap},
	"additionalProperties":  {Holds: OneSchema},
	"required":              {Holds: AList},
	"propertyNames":         {Holds: OneSchema, Since: Draft6},
	"minProperties":         {Holds: ACount},
	"maxProperties":         {Holds: ACount},
	"dependencies":          {Holds: SchemaMap, InPlace: true},
	"dependentRequired":     {Holds: NameLists, Since: Draft2019},
	"dependentSchemas":      {Holds: SchemaMap, Since: Draft2019, InPlace: true},
	"unevaluatedProperties": {Holds: OneSchema, Since: Draft2019},

	"allOf": {Holds: SchemaList, InPlace: true},
	"anyOf": {Holds: SchemaList, InPlace: true},
	"oneOf": {Holds: SchemaList, InPlace: true},
	"not":   {Holds: OneSchema, InPlace: true},
	"if":    {Holds: OneSchema, Since: Draft7, InPlace: true},
	"then":  {Holds: OneSchema, Since: Draft7, InPlace: true},
	"else":  {Holds: OneSchema, Since: Draft7, InPlace: true},

	"$ref":          {Holds: AText, InPlace: true},
	"$dynamicRef":   {Holds: AText, Since: Draft2020, InPlace: true},
	"$recursiveRef": {Holds: AText, Since: Draft2019, InPlace: true},

	"$defs":            {Holds: SchemaMap, Silent: true},
	"definitions":      {Holds: SchemaMap, Silent: true},
	"components":       {Silent: true},
	"schemas":          {Holds: SchemaMap, Silent: true}, // of components
	"$schema":          {Silent: true},
	"$id":              {Silent: true},
	"id":               {Silent: true},
	"$anchor":          {Silent: true},
	"$dynamicAnchor":   {Silent: true},
	"$recursiveAnchor": {Silent: true},
	"$vocabulary":      {Silent: true},
	"$comment":         {Silent: true, Note: true},
	"example":          {Silent: true, Note: true},
	"xml":              {Silent: true},
	"externalDocs":     {Silent: true},
	"discriminator":    {Silent: true},
}

// Schemas visits the schemas that stand directly in the value of a keyword.
func (n *Node) Schemas(visit func(*Node)) {
	switch {
	case n.isOne():
		visit(n)
	case n.isMany():
		for _, kid := range n.Kids {
			visit(kid)
		}
	}
}

// isOne tells whether the value of a keyword is a schema. components counts as one, because
// its schemas stand under a keyword too.
func (n *Node) isOne() bool {
	return Keywords[n.Key].Holds == OneSchema && n.Kind != Array || n.Key == "components"
}

// isMany tells whether the value of a keyword is a list of schemas, or schemas by name.
func (n *Node) isMany() bool {
	switch Keywords[n.Key].Holds {
	case SchemaMap:
		return n.Kind == Object
	case SchemaList, OneSchema:
		return n.Kind == Array
	}
	return false
}

// Fits tells whether the value of a keyword is what it must be.
func (n *Node) Fits() bool {
	switch Keywords[n.Key].Holds {
	case OneSchema:
		return n.IsSchema()
	case SchemaList:
		return n.Kind == Array && len(n.Kids) > 0
	case SchemaMap:
		return n.Kind == Object
	case ANumber:
		return n.Kind == Number
	case ACount:
		return n.Kind == Number && isCount(n.Text)
	case AText:
		return n.Kind == String
	case AFlag:
		return n.Kind == Bool
	case AList:
		return n.Kind == Array
	case NameLists:
		return n.Kind == Object && !slices.ContainsFunc(n.Kids, func(kid *Node) bool { return !kid.IsNames() })
	}
	return true
}

// IsSchema tells whether n can be a schema.
func (n *Node) IsSchema() bool { return n.Kind == Object || n.Kind == Bool }

// IsNames tells whether n is a list of distinct names.
func (n *Node) IsNames() bool {
	seen := make(map[string]bool, len(n.Kids))
	for _, kid := range n.Kids {
		if kid.Kind != String || seen[kid.Text] {
			return false
		}
		seen[kid.Text] = true
	}
	return n.Kind == Array
}

// isCount tells whether a number counts something: 2 or 2.0, but not -1 or 1.5.
func isCount(number string) bool {
	whole, fraction, _ := strings.Cut(number, ".")
	return strings.Trim(whole, "0123456789") == "" && strings.Trim(fraction, "0") == ""
}
