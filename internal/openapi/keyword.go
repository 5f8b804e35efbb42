package openapi

// shape is what the value of a schema's keyword must be.
type shape uint8

const (
	isSchema shape = 1 + iota
	isSchemas
	isSchemaMap
	isNumber
	isCount
	isText
	isFlag
	isAny
	isLists // of names, by name
)

// keyword says how one keyword of a schema is carried over.
type keyword struct {
	shape   shape
	loose   bool // it stays in the schema of a result, which forbids nothing but the wrong type
	inPlace bool // its schemas speak of the same value as the schema around them
}

// keywords are those that are carried over as they are. Those that need more stand in
// schemaWriter.keyword; all others are left out: example, xml, externalDocs, x-….
var keywords = map[string]keyword{
	"title": {shape: isText, loose: true}, "default": {shape: isAny}, "deprecated": {shape: isFlag, loose: true},
	"format": {shape: isText}, "pattern": {shape: isText},
	"contentEncoding": {shape: isText, loose: true}, "contentMediaType": {shape: isText, loose: true},
	"minimum": {shape: isNumber}, "maximum": {shape: isNumber}, "multipleOf": {shape: isNumber},
	"minLength": {shape: isCount}, "maxLength": {shape: isCount}, "minItems": {shape: isCount}, "maxItems": {shape: isCount},
	"minProperties": {shape: isCount}, "maxProperties": {shape: isCount}, "minContains": {shape: isCount}, "maxContains": {shape: isCount},
	"uniqueItems":           {shape: isFlag},
	"allOf":                 {shape: isSchemas, loose: true, inPlace: true},
	"prefixItems":           {shape: isSchemas, loose: true},
	"patternProperties":     {shape: isSchemaMap, loose: true},
	"dependentSchemas":      {shape: isSchemaMap, inPlace: true},
	"dependentRequired":     {shape: isLists},
	"not":                   {shape: isSchema, inPlace: true},
	"if":                    {shape: isSchema, inPlace: true},
	"then":                  {shape: isSchema, inPlace: true},
	"else":                  {shape: isSchema, inPlace: true},
	"contains":              {shape: isSchema},
	"propertyNames":         {shape: isSchema},
	"contentSchema":         {shape: isSchema},
	"unevaluatedProperties": {shape: isSchema}, "unevaluatedItems": {shape: isSchema},
}

// fits tells whether a value is what its keyword wants.
func (s shape) fits(n *node) bool {
	switch s {
	case isSchema:
		return n.kind == objectKind || n.kind == boolKind
	case isSchemas:
		return n.kind == arrayKind && len(n.kids) > 0
	case isSchemaMap:
		return n.kind == objectKind
	case isNumber:
		return n.kind == numberKind
	case isCount:
		return n.kind == numberKind && digitsEnd(n.text, 0) == len(n.text)
	case isText:
		return n.kind == stringKind
	case isFlag:
		return n.kind == boolKind
	case isLists:
		return n.kind == objectKind && !hasOther(n, arrayKind)
	}
	return true
}

// hasOther tells whether n has a child of another kind.
func hasOther(n *node, k kind) bool {
	for i := range n.kids {
		if n.kids[i].kind != k || k == arrayKind && hasOther(&n.kids[i], stringKind) {
			return true
		}
	}
	return false
}
