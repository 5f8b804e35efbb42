package jsonschema

import (
	"slices"
	"strings"
)

// Holds is the kind of value of a keyword.
type Holds uint8

// The values that contain schemas. All others are data, in which $ref and $id mean nothing.
const (
	anything Holds = iota
	OneSchema
	SchemaList
	SchemaMap // schemas by name
	numberValue
	countValue
	textValue
	flagValue
	listValue
	nameLists // lists of names, by name
)

// Keyword is one keyword of JSON Schema or of OpenAPI's schemas.
type Keyword struct {
	Holds   Holds
	Since   Draft // older documents may use the word for anything
	Types   Types // the types that it constrains; 0: any
	Bound   int   // -1 for a lower bound, 1 for an upper one
	InPlace bool  // its subschemas apply to the same value
	Silent  bool  // not about values: it names places or addresses readers
	Note    bool  // an annotation: describes values without constraining them
}

// Keywords is the table of all known keywords.
var Keywords = map[string]Keyword{
	"type":     {},
	"enum":     {Holds: listValue},
	"const":    {Since: Draft6},
	"nullable": {Holds: flagValue}, "x-nullable": {Holds: flagValue},

	"title":            {Holds: textValue, Note: true},
	"description":      {Holds: textValue, Note: true},
	"default":          {Note: true},
	"examples":         {Holds: listValue, Note: true},
	"deprecated":       {Holds: flagValue, Note: true},
	"readOnly":         {Holds: flagValue, Note: true},
	"writeOnly":        {Holds: flagValue, Note: true},
	"contentEncoding":  {Holds: textValue, Note: true},
	"contentMediaType": {Holds: textValue, Note: true},
	"contentSchema":    {Holds: OneSchema},

	"minimum":          {Holds: numberValue, Types: TNumber | TInteger, Bound: -1},
	"maximum":          {Holds: numberValue, Types: TNumber | TInteger, Bound: 1},
	"exclusiveMinimum": {Holds: numberValue, Types: TNumber | TInteger, Bound: -1},
	"exclusiveMaximum": {Holds: numberValue, Types: TNumber | TInteger, Bound: 1},
	"multipleOf":       {Holds: numberValue, Types: TNumber | TInteger},

	"minLength": {Holds: countValue, Types: TString, Bound: -1},
	"maxLength": {Holds: countValue, Types: TString, Bound: 1},
	"pattern":   {Holds: textValue, Types: TString},
	"format":    {Holds: textValue, Types: TString | TNumber | TInteger},

	"items":            {Holds: OneSchema},
	"prefixItems":      {Holds: SchemaList, Since: Draft2020},
	"additionalItems":  {Holds: OneSchema},
	"minItems":         {Holds: countValue, Types: TArray, Bound: -1},
	"maxItems":         {Holds: countValue, Types: TArray, Bound: 1},
	"uniqueItems":      {Holds: flagValue, Types: TArray},
	"contains":         {Holds: OneSchema, Since: Draft6, Types: TArray},
	"minContains":      {Holds: countValue, Since: Draft2019, Types: TArray, Bound: -1},
	"maxContains":      {Holds: countValue, Since: Draft2019, Types: TArray, Bound: 1},
	"unevaluatedItems": {Holds: OneSchema, Since: Draft2019, Types: TArray},

	"properties":            {Holds: SchemaMap},
	"patternProperties":     {Holds: SchemaMap},
	"additionalProperties":  {Holds: OneSchema},
	"required":              {Holds: listValue},
	"propertyNames":         {Holds: OneSchema, Since: Draft6},
	"minProperties":         {Holds: countValue, Types: TObject, Bound: -1},
	"maxProperties":         {Holds: countValue, Types: TObject, Bound: 1},
	"dependencies":          {Holds: SchemaMap, InPlace: true, Types: TObject},
	"dependentRequired":     {Holds: nameLists, Since: Draft2019, Types: TObject},
	"dependentSchemas":      {Holds: SchemaMap, Since: Draft2019, InPlace: true, Types: TObject},
	"unevaluatedProperties": {Holds: OneSchema, Since: Draft2019, Types: TObject},

	"allOf": {Holds: SchemaList, InPlace: true},
	"anyOf": {Holds: SchemaList, InPlace: true},
	"oneOf": {Holds: SchemaList, InPlace: true},
	"not":   {Holds: OneSchema, InPlace: true},
	"if":    {Holds: OneSchema, Since: Draft7, InPlace: true},
	"then":  {Holds: OneSchema, Since: Draft7, InPlace: true},
	"else":  {Holds: OneSchema, Since: Draft7, InPlace: true},

	"$ref":          {Holds: textValue, InPlace: true},
	"$dynamicRef":   {Holds: textValue, Since: Draft2020, InPlace: true},
	"$recursiveRef": {Holds: textValue, Since: Draft2019, InPlace: true},

	"$defs":            {Holds: SchemaMap, Silent: true},
	"definitions":      {Holds: SchemaMap, Silent: true},
	"components":       {Silent: true},
	"schemas":          {Holds: SchemaMap, Silent: true}, // in components
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

// Schemas visits the schemas directly in the value of a keyword.
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

// isOne reports whether the value of a keyword is a schema. components counts as one, because
// its schemas are under a keyword too.
func (n *Node) isOne() bool {
	return Keywords[n.Key].Holds == OneSchema && n.Kind != Array || n.Key == "components"
}

// isMany reports whether the value of a keyword is a list or map of schemas.
func (n *Node) isMany() bool {
	switch Keywords[n.Key].Holds {
	case SchemaMap:
		return n.Kind == Object
	case SchemaList, OneSchema:
		return n.Kind == Array
	}
	return false
}

// Fits reports whether the value of a keyword is valid.
func (n *Node) Fits() bool {
	switch Keywords[n.Key].Holds {
	case OneSchema:
		return n.IsSchema()
	case SchemaList:
		return n.Kind == Array && len(n.Kids) > 0
	case SchemaMap:
		return n.Kind == Object && !slices.ContainsFunc(n.Kids, func(kid *Node) bool { return !n.mayHold(kid) })
	case numberValue:
		if n.Key == "multipleOf" {
			v, ok := Decimal(n.Text)
			return ok && n.Kind == Number && v.Sign() > 0
		}
		return n.Kind == Number
	case countValue:
		return n.Kind == Number && isCount(n.Text)
	case textValue:
		return n.Kind == String
	case flagValue:
		return n.Kind == Bool
	case listValue:
		return n.Kind == Array
	case nameLists:
		return n.Kind == Object && !slices.ContainsFunc(n.Kids, func(kid *Node) bool { return !kid.IsNames() })
	}
	return true
}

// mayHold reports whether a member of a keyword is a schema. Only dependencies is checked
// here; others are checked where they are read.
func (n *Node) mayHold(kid *Node) bool {
	switch n.Key {
	case "dependentSchemas":
		return kid.IsSchema()
	case "dependencies":
		return kid.IsSchema() || kid.IsNames()
	}
	return true
}

// Bound returns a bound of the schema n as in draft 6 and later, where an exclusive bound is a
// number; before, it was a flag beside minimum or maximum. It is nil if the keyword has no
// effect.
func (n *Node) Bound(keyword *Node) *Node {
	switch keyword.Key {
	case "minimum", "maximum":
		if n.Get("exclusiveM" + keyword.Key[1:]).IsTrue() {
			return nil // replaced by the exclusive bound
		}
	case "exclusiveMinimum", "exclusiveMaximum":
		if keyword.Kind != Bool {
			break
		}
		limit := n.Get("m" + keyword.Key[len("exclusiveM"):])
		if !keyword.IsTrue() || limit == nil || limit.Kind != Number {
			return nil
		}
		bound := *limit
		bound.Key = keyword.Key
		return &bound
	}
	return keyword
}

// IsSchema reports whether n can be a schema.
func (n *Node) IsSchema() bool { return n.Kind == Object || n.Kind == Bool }

// IsNames reports whether n is a list of distinct names.
func (n *Node) IsNames() bool {
	return n.Kind == Array && !slices.ContainsFunc(n.Kids, func(kid *Node) bool { return kid.Kind != String }) && IsDistinct(n.Kids)
}

// isCount reports whether a number is a count: 2 or 2.0, but not -1 or 1.5.
func isCount(number string) bool {
	whole, fraction, _ := strings.Cut(number, ".")
	return strings.Trim(whole, "0123456789") == "" && strings.Trim(fraction, "0") == ""
}
