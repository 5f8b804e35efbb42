package schema

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Dialect names a provider's schema rules.
type Dialect string

// The dialects. Those that end in Strict fall back to their plain form where strictness
// would lose something, Gemini falls back to GeminiParams.
const (
	OpenAI          Dialect = "openai"
	OpenAIStrict    Dialect = "openai-strict"
	Anthropic       Dialect = "anthropic"
	AnthropicStrict Dialect = "anthropic-strict"
	Gemini          Dialect = "gemini"
	GeminiParams    Dialect = "gemini-params"
	Moonshot        Dialect = "moonshot"
	DeepSeek        Dialect = "deepseek"
	DeepSeekStrict  Dialect = "deepseek-strict"
	Qwen            Dialect = "qwen"
	MCP             Dialect = "mcp"
	Inlined         Dialect = "inlined"
)

type nullForm uint8

const (
	nullInList   nullForm = iota // type: [T, "null"]
	nullInUnion                  // anyOf: [S, {type: null}]
	nullableFlag                 // nullable: true
)

type anyForm uint8

const (
	anyEmpty    anyForm = iota // {}
	anyTypeList                // a list of all types
	anyJSON                    // a string that contains JSON
	anyRefused                 // not expressible
)

type enumForm uint8

const (
	enumAny       enumForm = iota
	enumScalars            // no objects or arrays
	enumPlain              // strings and numbers
	enumStrings            // only strings; other values become text
	enumOfOneType          // scalars, all of the same type
)

// maxEnum is the longest enum; a longer one is described in words, in every dialect.
const maxEnum = 1000

type itemsForm uint8

const (
	itemsOptional itemsForm = iota
	itemsEmpty              // items is required and may be {}
	itemsString             // items is required, with a type
	itemsRefused            // an array without items is not expressible
)

// limits are what a provider limits; zero means no limit.
type limits struct {
	props, levels, enums, branches, nameChars, bytes int
}

// rules is one dialect as data. Keywords not in keep are described in words.
type rules struct {
	version     string // month of the provider's documentation
	next        Dialect
	strict      bool
	raw         bool // an input that passes the check is sent byte for byte
	keep        map[string]bool
	formats     map[string]bool // nil: all
	null        nullForm
	any         anyForm
	enums       enumForm
	items       itemsForm
	typeLists   bool
	maps        bool // additionalProperties may be a schema
	closable    bool // additionalProperties may be false
	closed      bool // additionalProperties must be false everywhere
	allRequired bool
	needType    bool
	alone       bool // no constraints beside anyOf
	aloneWords  bool // no description beside anyOf either
	rootUnion   bool
	rootType    bool // the root may have no type, or several
	booleans    bool // true and false are schemas everywhere
	refs        bool // $ref, $defs and cycles
	refWords    bool // a description may stand beside $ref
	optionalRec bool // a cycle must pass through an optional property
	simpleRegex bool
	smallMin    bool // minItems is 0 or 1
	safeNumbers bool // no exponents, no integers beyond 2^53-1
	key         func(string) bool
	limits      limits
	advised     limits // documented limits that the service does not enforce
}

// takes reports whether the dialect accepts this value of a keyword that it keeps.
func (d *rules) takes(n *node) bool {
	if d.safeNumbers && !safeNumber(n) {
		return false
	}
	switch n.Key {
	case "format":
		return d.formats == nil || d.formats[n.Text]
	case "pattern":
		return !d.simpleRegex || simple(n.Text)
	case "minItems":
		return !d.smallMin || n.Text == "0" || n.Text == "1"
	case "default":
		return d.raw || n.Kind != jsonschema.Object && n.Kind != jsonschema.Array
	}
	return true
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// everyKeyword are all keywords that describe values.
var everyKeyword = func() map[string]bool {
	m := map[string]bool{}
	for key := range jsonschema.Keywords {
		m[key] = isKnown(key)
	}
	return m
}()

const version = "2026-09"

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// anthropicKey matches ^[a-zA-Z0-9_.-]{1,64}$, documented for the top level only and applied
// everywhere.
func anthropicKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && !digit(c) && c != '.' && c != '-' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 64
}

// geminiKey matches ^[A-Za-z_][A-Za-z0-9_]{0,63}$.
func geminiKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && (i == 0 || !digit(c)) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 64
}

func moonshotKey(s string) bool {
	switch s {
	case "", "$defs", "$ref", "anyOf", "required", "additionalProperties":
		return false
	}
	return true
}

// open is the base of dialects that accept nearly all of JSON Schema.
var open = rules{
	version: version, raw: true, keep: everyKeyword, null: nullInList, any: anyEmpty, items: itemsEmpty, typeLists: true,
	maps: true, closable: true, refs: true, refWords: true,
}

func with(base rules, change func(*rules)) *rules {
	change(&base)
	return &base
}

var dialects = map[Dialect]*rules{
	MCP: with(open, func(r *rules) {
		r.rootUnion = true
		r.booleans = true
		r.items = itemsOptional
	}),
	Inlined: with(open, func(r *rules) {
		r.rootUnion = true
		r.rootType = true
		r.booleans = true
		r.items = itemsOptional
		r.refs = false
	}),
	OpenAI:   &open,
	DeepSeek: &open,
	Qwen:     &open,
	Anthropic: with(open, func(r *rules) {
		r.key = anthropicKey
		r.alone = true
		r.booleans = true
	}),
	OpenAIStrict: {
		version: version, next: OpenAI, strict: true,
		keep:    set("const minItems maxItems pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
		formats: set("date-time time date duration email hostname ipv4 ipv6 uuid"),
		null:    nullInList, any: anyRefused, items: itemsRefused, typeLists: true, closable: true, closed: true, allRequired: true,
		needType: true, alone: true, refs: true, simpleRegex: true,
		limits: limits{props: 5000, levels: 10, enums: 1000, nameChars: 120000},
	},
	AnthropicStrict: {
		version: version, next: Anthropic, strict: true, keep: set("title const minItems pattern format default"),
		formats: set("date-time time date duration email hostname ipv4 ipv6 uuid uri"),
		null:    nullInUnion, any: anyRefused, enums: enumScalars, items: itemsRefused, closable: true, closed: true,
		needType: true, alone: true, simpleRegex: true, smallMin: true, key: anthropicKey,
		limits: limits{props: 1000, enums: 1000, branches: 16},
	},
	Gemini: {
		version: version, next: GeminiParams, keep: set("prefixItems minItems maxItems minimum maximum format"),
		null: nullInList, any: anyTypeList, enums: enumPlain, items: itemsEmpty, typeLists: true, maps: true, closable: true,
		needType: true, alone: true, refs: true, optionalRec: true,
	},
	GeminiParams: {
		version: version, keep: set("minItems maxItems minimum maximum minLength maxLength pattern format minProperties maxProperties"),
		formats: set("int32 int64 float double date-time"),
		null:    nullableFlag, any: anyJSON, enums: enumStrings, items: itemsString,
		needType: true, alone: true, aloneWords: true, key: geminiKey,
	},
	Moonshot: {
		version: version, keep: set("title minItems maxItems minimum maximum minLength maxLength pattern default"),
		null: nullInUnion, any: anyTypeList, enums: enumOfOneType, maps: true, closable: true,
		needType: true, alone: true, refs: true, refWords: true,
		safeNumbers: true, key: moonshotKey, limits: limits{props: 3000, levels: 30, enums: 1000, branches: 500, bytes: 120000},
		advised: limits{props: 100, levels: 5, enums: 500, branches: 10},
	},
	DeepSeekStrict: {
		version: version, next: DeepSeek, strict: true, keep: set("pattern format"), formats: set("email hostname ipv4 ipv6 uuid"),
		null: nullInUnion, any: anyRefused, items: itemsRefused, closable: true, closed: true, allRequired: true,
		needType: true, alone: true, simpleRegex: true, limits: limits{props: 5000, levels: 10, enums: 1000},
	},
}

// Dialects returns all dialects with the month of the documentation they follow.
func Dialects() map[Dialect]string {
	out := make(map[Dialect]string, len(dialects))
	for d, r := range dialects {
		out[d] = r.version
	}
	return out
}
