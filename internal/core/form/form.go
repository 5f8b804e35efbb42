// Package form makes forms from JSON Schemas, and JSON from what people entered: fields for text, numbers, dates and choices,
// nested objects, lists and maps. What no field can express is entered as JSON, one field at a time or all at once. A form is
// read from its inputs alone, as a browser posts them, so that it can be changed without any state. It shows nothing itself.
//
//	s := form.Read(schema)
//	f := s.Form(posted) // the fields, with what was entered
//	args := f.Arguments()
//	posted = s.Fill(args) // the inputs that give these arguments
package form

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Kind is how a value is entered.
type Kind string

// The kinds.
const (
	Text    Kind = "text"    // a string on one line, of the field's Type
	Long    Kind = "long"    // a string of many lines
	Number  Kind = "number"  // a number, kept as typed
	Choice  Kind = "choice"  // one of some values
	Many    Kind = "many"    // any of some values
	Fixed   Kind = "fixed"   // the only value that there is
	Object  Kind = "object"  // members
	List    Kind = "list"    // rows
	Map     Kind = "map"     // rows, each with a name
	Variant Kind = "variant" // a choice of forms, then the chosen one
	JSON    Kind = "json"    // anything else
)

// Field is one value in a form.
type Field struct {
	ID       int    // unique in its form
	Name     string // of the member; "" for a row and for a chosen variant
	Of       string // the name of the nearest member around it, or its own
	Input    string // what the names of its inputs end with
	Kind     Kind
	Type     string // of a Text's input: text, email, url, password, date, time or datetime-local
	Zoned    bool   // a zone is entered beside the Text
	Help     string
	Default  string // what the tool assumes, for a hint
	Example  string
	Least    string // the smallest number, "" for none; "> 0" if it is none itself
	Most     string
	Short    string // the fewest characters or items, "" for none
	Full     string
	Pattern  string
	Required bool
	Fold     bool   // it need not be sent, and may be folded away
	Open     bool   // it is not, since there is something in it
	Focus    string // the attribute of its input where the person goes on; "": elsewhere

	Value   string // as entered
	Zone    string
	Row     string   // of a row
	Key     string   // of a row in a map
	Null    bool     // null is sent
	MayNull bool     // which cannot be had by leaving it out
	Raw     bool     // entered as JSON though there are fields for it
	Choices []Option // of a Choice, of Many, of a Variant
	Fields  []*Field // members, rows, or the chosen variant
	Extra   *Field   // a map of further members; nil: there are none
	Wrong   []string // what is wrong with the value

	only     []byte // of a Fixed
	path     string // a JSON pointer into the form
	pointer  string // a JSON pointer into the arguments, once they are made
	absent   bool   // a row that is not sent
	accepted bool   // a row of a map whose text may be empty
}

// Option is one of some values.
type Option struct {
	Value string // a JSON text; of a Variant, a number
	Label string
	On    bool
}

// Form is the fields for the arguments of a tool, with what was entered.
type Form struct {
	Fields []*Field
	Extra  *Field
	Only   bool   // there is no other form than JSON
	Whole  bool   // the arguments are entered as JSON
	JSON   string // then: as entered
	Goes   *Field // where the person goes on; nil: anywhere

	root *Field
}

// Limits of one form.
const (
	maxMembers = 60     // fields of one object
	maxOptions = 200    // of one choice
	maxRows    = 200    // of one list
	maxDepth   = 6      // objects and lists in each other
	maxFields  = 3000   // looked at before the form is given up
	maxWeight  = 45_000 // bytes of all fields in a page, roughly
	maxFilled  = 64_000 // bytes of JSON that are shown in fields
	maxHelp    = 400    // characters of a description
)

// The inputs of a field: their names are one of these and the field's path.
const (
	inValue   = "a:"
	inZone    = "z:" // of a time
	inNull    = "n:" // null is sent
	inRaw     = "j:" // the value is JSON
	inVariant = "v:" // number of the variant
	inRow     = "r:" // of a list: one input per row
	inKey     = "k:" // of a row in a map
)

// The inputs of the form.
const (
	As    = "as"   // AsJSON: all arguments are JSON
	Whole = "json" // they
	Do    = "do"   // a button that changes the form
	// AsJSON is the value of As.
	AsJSON = "json"

	goOn = "go" // the path of the field where the person goes on; not posted
)

// Schema is what the arguments of a tool may be.
type Schema struct {
	root  *jsonschema.Node
	index *jsonschema.Index
	none  bool // there is no form for it
}

// Read reads a schema. One that cannot be read has no fields: its arguments are entered as JSON.
func Read(raw []byte) *Schema {
	if len(raw) == 0 {
		raw = []byte(`{"type":"object","properties":{}}`)
	}
	root, err := jsonschema.Parse(raw)
	if err != nil {
		return &Schema{none: true}
	}
	s := &Schema{root: root, index: jsonschema.NewIndex(root, jsonschema.DraftOf(root))}
	f := s.Form(nil)
	s.none = f.Whole
	return s
}

// Form returns the fields with what was posted.
func (s *Schema) Form(posted url.Values) *Form {
	f := &Form{Only: s.none, Whole: s.none || posted.Get(As) == AsJSON, JSON: posted.Get(Whole)}
	if f.Whole {
		return f
	}
	b := &builder{schema: s, values: posted, left: maxFields}
	f.root = b.top()
	if b.left < 0 || f.root.Kind != Object {
		f.Only, f.Whole = true, true
		return f
	}
	f.root.lighten()
	if f.root.weight() > maxWeight {
		f.Whole = true
		f.JSON = pretty(f.Arguments())
		return f
	}
	f.Fields = f.root.Fields
	f.Extra = f.root.Extra
	if at := f.find(posted.Get(goOn)); at != nil && posted.Has(goOn) {
		for at.Open = true; len(at.Fields) > 0 && at.Key == "" && at.Kind != Variant; at = at.Fields[0] {
		}
		at.Focus = "autofocus"
		f.Goes = at
	}
	return f
}

// Arguments are what was entered. What is left empty is left out, and text that is no JSON where JSON is wanted is sent as
// text: the call reports whether it fits.
func (f *Form) Arguments() json.RawMessage {
	if text := strings.TrimSpace(f.JSON); f.root == nil && text != "" {
		return json.RawMessage(text)
	} else if f.root == nil {
		return json.RawMessage("{}")
	}
	raw, _ := f.root.value("")
	return raw
}

// Mark puts what is wrong with a value to its field, or to the nearest one around it, and opens what is folded around that.
// False: there is none. The arguments must have been made.
func (f *Form) Mark(pointer, wrong string) bool {
	if f.root == nil || f.Whole {
		return false
	}
	at := f.root
	for next := at; next != nil; {
		at = next
		next = nil
		for _, kid := range at.inner() {
			if !kid.absent && within(pointer, kid.pointer) && (kid.pointer != at.pointer || at.Kind == Variant) {
				next = kid
			}
		}
		if next != nil {
			next.Open = true
		}
	}
	if at == f.root {
		return false
	}
	at.Wrong = append(at.Wrong, wrong)
	return true
}

func within(pointer, around string) bool {
	rest, ok := strings.CutPrefix(pointer, around)
	return ok && (rest == "" || rest[0] == '/')
}

// Check marks the fields whose JSON is broken, and returns what is wrong with the last of them.
func (f *Form) Check() error {
	if f.root == nil || f.Whole {
		return nil
	}
	return f.root.check()
}

func (f *Field) check() (wrong error) {
	if text := strings.TrimSpace(f.Value); f.Kind == JSON && text != "" && strings.Contains(`{["`, text[:1]) {
		wrong = rawjson.Check([]byte(text))
		if wrong != nil {
			f.Wrong = append(f.Wrong, wrong.Error())
		}
	}
	for _, kid := range f.kids() {
		if err := kid.check(); err != nil {
			wrong = err
		}
	}
	f.Open = f.Open || wrong != nil
	return wrong
}

// kids are the fields inside, in the order in which they are shown.
func (f *Field) kids() []*Field {
	if f.Extra == nil {
		return f.Fields
	}
	return append(f.Fields[:len(f.Fields):len(f.Fields)], f.Extra)
}

// inner are the fields for values inside the field's own.
func (f *Field) inner() []*Field {
	if f.Extra == nil {
		return f.Fields
	}
	return append(f.Fields[:len(f.Fields):len(f.Fields)], f.Extra.Fields...)
}

// weight is about how many bytes the field takes in a page.
func (f *Field) weight() int {
	const one, option = 450, 60
	sum := one + 8*len(f.Input) + len(f.Help) + len(f.Value)
	for _, o := range f.Choices {
		sum += option + len(o.Value) + len(o.Label)
	}
	for _, kid := range f.kids() {
		sum += kid.weight()
	}
	return sum
}

// lighten makes JSON of the heaviest members until the form is light enough.
func (f *Field) lighten() {
	for f.weight() > maxWeight {
		var heaviest *Field
		for _, kid := range f.Fields {
			if len(kid.kids())+len(kid.Choices) > 0 && (heaviest == nil || kid.weight() > heaviest.weight()) {
				heaviest = kid
			}
		}
		if heaviest == nil {
			return
		}
		heaviest.toJSON()
	}
}

// toJSON makes a field one that is entered as JSON, with the same value.
func (f *Field) toJSON() {
	raw, given := f.value("")
	*f = Field{ID: f.ID, Name: f.Name, Of: f.Of, Input: f.Input, Kind: JSON, Help: f.Help, Required: f.Required, Row: f.Row, Key: f.Key, path: f.path,
		Raw: true, Focus: f.Focus}
	if given {
		f.Value = pretty(raw)
	}
}

// pretty is JSON for people: short values on one line, as those that would be little but indentation, and nothing hidden.
func pretty(raw []byte) string {
	const short, deep = 60, 40
	line := rawjson.OneLine(raw)
	var b bytes.Buffer
	if _, err := rawjson.Skip(line, 0, deep); err == nil && len(line) > short && json.Indent(&b, line, "", "  ") == nil {
		line = b.Bytes()
	}
	return visible.Text(string(line))
}
