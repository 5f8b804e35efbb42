package fit

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Kind names a repair. New kinds may be added.
type Kind string

const (
	JSONText   Kind = "json"    // an object, an array or all arguments as a JSON string
	NumberText Kind = "number"  // a number in a string
	BoolText   Kind = "boolean" // true or false in a string
	Wrap       Kind = "array"   // a single value for an array of one
	DropNull   Kind = "null"    // null for an optional value that is absent
	EnumCase   Kind = "enum"    // a listed value in another case
	Rename     Kind = "key"     // a key in another spelling
	Level      Kind = "level"   // arguments in one more object, or a key one level too deep or too high
	Default    Kind = "default" // a required value that was missing and has a stated default
	Drop       Kind = "dropped" // a key that the tool does not have
	Alias      Kind = "alias"   // another name of a key, known for this server
	Unit       Kind = "unit"    // another unit of a value, known for this server
	Word       Kind = "word"    // another word for a value, known for this server
	Fill       Kind = "filled"  // a required text taken from another argument, known for this server
	Fixed      Kind = "fixed"   // a value fixed by the configuration
)

// Kinds are the repairs that Options.Without can turn off.
var Kinds = []Kind{JSONText, NumberText, BoolText, Wrap, DropNull, EnumCase, Rename, Level, Default, Alias, Unit, Word, Fill}

// Repair is one thing that was changed.
type Repair struct {
	Field string `json:"field"` // JSON pointer into the arguments
	Kind  Kind   `json:"kind"`
	From  string `json:"from,omitempty"` // short
	To    string `json:"to,omitempty"`
}

// maxNesting limits the levels of JSON inside text.
const maxNesting = 4

// repairer repairs one set of arguments.
type repairer struct {
	budget
	tool    *Tool
	light   bool
	keep    map[string]bool // keys that are never dropped
	repairs []Repair
	nested  int
	odd     bool     // the last check met a name that is not declared
	loose   []string // names that nothing declares, in the objects around the current one
	places  map[*shape]*vocabulary
}

func newRepairer(ctx context.Context, t *Tool, size int) *repairer {
	m := &repairer{budget: newBudget(ctx, size), tool: t, light: t.opts.Validation == Light}
	if t.opts.Known != nil {
		m.keep = t.opts.Known.carriers
	}
	return m
}

func (m *repairer) may(k Kind) bool { return !slices.Contains(m.tool.opts.Without, k) }

func (m *repairer) record(field string, k Kind, from, to []byte) {
	const most = 60
	m.repairs = append(m.repairs, Repair{cut(field, 4*maxText), k, cut(string(from), most), cut(string(to), most)})
}

// open returns the arguments as an object: missing ones are empty, and text is parsed as JSON.
func (m *repairer) open(args []byte, textFits bool) ([]byte, *Error) {
	raw := bytes.TrimSpace(args)
	switch {
	case len(args) == 0:
		return []byte("{}"), nil
	case (len(raw) == 0 || string(raw) == "null") && m.may(DropNull):
		m.record("", DropNull, raw, []byte("{}"))
		return []byte("{}"), nil
	}
	err := rawjson.Check(raw)
	if err == nil && (raw[0] != '"' || textFits) {
		return args, nil
	}
	text := string(raw)
	for range maxNesting {
		if err == nil {
			text, _ = rawjson.String(raw)
		}
		if inner := readText(text); inner != nil && m.may(JSONText) {
			raw = inner
			err = nil
			if raw[0] == '"' {
				continue
			}
			m.record("", JSONText, args, raw)
			return raw, nil
		}
		break
	}
	if call := m.fromCall(text); call != nil {
		m.record("", JSONText, args, call)
		return call, nil
	}
	if err != nil {
		return nil, refuse(Problem{Code: NotJSON, Expected: "a JSON object", Got: "string " + cut(text, 60), Hint: err.Error()})
	}
	return args, nil
}

// fromCall reads arguments that are written as Python does, in the call or without it, if all have names that
// the tool declares; nil if they are not.
func (m *repairer) fromCall(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if !m.may(JSONText) || !m.spendBytes(len(text)) {
		return nil
	}
	c, rest, ok := loosejson.FirstCall(text)
	if ok && !m.isCalled(c.Name) {
		return nil
	}
	if !ok {
		c, rest, ok = loosejson.FirstCall("_(" + text + ")")
	}
	t := &tape{}
	if !ok || rest != "" || len(c.Positional) > 0 || t.read(c.Args) != nil || t.tokens[0].size == 0 {
		return nil
	}
	names := declaredNames(reach(m.tool.schema.place))
	for i := t.first(0); i >= 0; i = t.after(i) {
		if !slices.ContainsFunc(names, func(f form) bool { return f.name == t.name(i) }) {
			return nil
		}
	}
	return c.Args
}

// isCalled reports whether a name is the tool's, perhaps with its server before it.
func (m *repairer) isCalled(name string) bool {
	return strings.HasSuffix(fold(name), m.tool.schema.name)
}

// fit repairs what does not fit and checks the result, together with the problems that the
// rules found.
func (m *repairer) fit(raw []byte, rules *ruleReport) ([]byte, *Error) {
	d := m.tool.schema
	t := d.tapes.Get().(*tape)
	defer d.release(t)
	if err := t.read(raw); err != nil {
		return nil, refuse(Problem{Code: NotJSON, Expected: "a JSON object", Hint: err.Error()})
	}
	place := d.place
	before := len(m.repairs)
	fixed, ok := m.repair(place, t, 0, "")
	if m.spent() { // names are no reason to refuse what fits
		if fits, _ := check(m.ctx, place, t, m.light); fits {
			m.repairs = m.repairs[:before]
			fixed = nil
			ok = true
		}
	}
	if ok && rules.empty() {
		if fixed == nil {
			return raw, nil
		}
		return fixed, nil
	}
	if fixed != nil {
		if err := t.read(fixed); err != nil {
			return nil, refuse(Problem{Code: NotJSON, Expected: "a JSON object", Hint: err.Error()})
		}
	}
	fitErr := refuse()
	switch {
	case m.spent():
		fitErr = tooComplex()
	case !ok:
		fitErr = explain(m.ctx, place, t, m.light)
	}
	return nil, rules.join(fitErr)
}

// explain lists everything wrong with the value on the tape.
func explain(ctx context.Context, place []*shape, t *tape, light bool) *Error {
	c := checker{budget: newBudget(ctx, len(t.data)), t: t, light: light, report: refuse()}
	for _, s := range place {
		c.ok(s, 0)
	}
	if len(c.report.Problems) == 0 {
		return tooComplex()
	}
	return c.report
}

func tooComplex() *Error {
	return refuse(Problem{Code: TooComplex, Expected: "a value that can be checked in bounded time", Hint: "send less at once"})
}

// fits reports whether value i has every shape of the place. full ignores light validation, as for
// repaired values.
func (m *repairer) fits(place []*shape, t *tape, i int32, full bool) bool {
	c := checker{budget: m.budget, t: t, light: m.light && !full, taken: m.tool.opts.Taken}
	ok := c.all(place, i)
	m.budget = c.budget
	m.odd = c.odd
	return ok
}

// fitsRaw is fits for bytes.
func (m *repairer) fitsRaw(place []*shape, raw []byte, full bool) (*tape, bool) {
	t := &tape{}
	if !m.spend(len(raw)/8) || t.read(raw) != nil {
		return nil, false
	}
	return t, m.fits(place, t, 0, full)
}

// readText parses text as JSON, or as an object or array in the words of a model where there is only
// one way to read it; nil if it is neither.
func readText(text string) []byte {
	raw := unfence([]byte(text))
	if rawjson.Check(raw) == nil {
		return raw
	}
	if string(raw) == "None" {
		return []byte("null")
	}
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return nil
	}
	raw, doubt, err := loosejson.Read(string(raw))
	if err != nil || doubt != loosejson.Sure {
		return nil
	}
	return raw
}

var fence = []byte("```")

// unfence removes white space and a code fence.
func unfence(raw []byte) json.RawMessage {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	if rest, ok := bytes.CutPrefix(raw, fence); ok {
		word := bytes.IndexAny(rest, "\n{[\"")
		if word >= 0 {
			raw = bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest[word:]), fence))
		}
	}
	return raw
}
