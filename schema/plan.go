package schema

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Options change how a schema is converted. The zero value suits most callers.
type Options struct {
	Flavor   Flavor // kind of document; default Auto
	MaxInput int    // bytes of input; default 256 KB
	MaxNodes int    // schemas in the output; default 4,000
	MaxBytes int    // bytes of output, plus a quarter for required parts; default 32 KB
	Hops     int    // references in a row that Inlined follows; default 3
	Unroll   int    // how often a cycle is repeated in dialects without references; default once, -1: never
	Degrade  bool   // references to other documents accept anything instead of causing an error
	Strict   bool   // strict dialects stay strict even if something is lost
	KeepNull bool   // with Strict: keep null where it cannot be told apart from absent
	JSONText bool   // strict dialects send what they cannot express as JSON text
}

func (o *Options) filled() *Options {
	var c Options
	if o != nil {
		c = *o
	}
	for _, f := range []struct {
		field *int
		zero  int
	}{{&c.MaxInput, 256 << 10}, {&c.MaxNodes, 4000}, {&c.MaxBytes, 32 << 10}, {&c.Hops, 3}, {&c.Unroll, 1}} {
		if *f.field == 0 {
			*f.field = f.zero
		}
	}
	c.Unroll = max(0, c.Unroll)
	return &c
}

// Result is a schema that a dialect accepts, with what is needed to map arguments back.
type Result struct {
	Dialect    Dialect         // the dialect that was used: the requested one or its fallback
	Parameters json.RawMessage // the tool's parameters to send
	Strict     bool            // whether to send the tool as strict
	Report     []Change        // all differences from the original

	steps []step
	root  int
}

// Plan converts the schema of a tool's arguments to a dialect. An empty schema means a tool
// without arguments. If the dialect cannot express the tool, the error is an *Error.
func Plan(raw []byte, d Dialect, opts *Options) (*Result, error) {
	rule := dialects[d]
	if rule == nil {
		return nil, &Error{UnknownDialect, "", "there is no dialect " + quote(string(d))}
	}
	o := opts.filled()
	if len(raw) > o.MaxInput {
		return nil, &Error{TooLarge, "", "the schema has " + itoa(len(raw)) + " bytes, more than " + itoa(o.MaxInput)}
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte(`{"type":"object","properties":{}}`)
	}
	r, bad := readSchema(raw, d, o)
	if bad != nil {
		return nil, bad
	}
	var fell []Change
	for {
		res, loss, err := r.plan(raw, d, rule, o)
		if err == nil && (loss == nil || o.Strict) {
			res.Report = append(fell, res.Report...)
			return res, nil
		}
		if rule.next == "" || err != nil && err.Reason != Refused && err.Reason != Unsatisfiable {
			return nil, err
		}
		if loss == nil {
			loss = &Change{err.Pointer, Fallback, err.Message}
		}
		fell = append(fell, Change{loss.Pointer, Fallback, string(rule.next) + ": " + loss.Action})
		d = rule.next
		rule = dialects[rule.next]
	}
}

// readSchema parses the input for all attempts.
func readSchema(raw []byte, d Dialect, o *Options) (*reader, *Error) {
	r := &reader{degrade: o.Degrade || d == Inlined, size: len(raw)}
	root, err := r.Parse(raw)
	if err != nil {
		return nil, &Error{NotJSON, "", err.Error()}
	}
	if root.Kind != jsonschema.Object && root.Kind != jsonschema.Bool {
		return nil, &Error{NotSchema, "", "the schema is neither an object nor a boolean"}
	}
	r.root = root
	r.flavor = flavorOf(root, o.Flavor)
	return r, nil
}

// plan makes one attempt. It returns a Change if a strict dialect would lose something.
func (r *reader) plan(raw []byte, d Dialect, rule *rules, o *Options) (*Result, *Change, *Error) {
	if d == Inlined && r.plain(rule) || rule.raw && d != Inlined && !r.Named && r.untouched(rule, o) {
		return &Result{Dialect: d, Strict: rule.strict, Parameters: bytes.Clone(raw)}, nil, nil
	}
	for budget := o.MaxBytes; ; budget /= 2 {
		w := &writer{r: r, d: rule, opts: o, unroll: o.Unroll, bytes: budget, rung: rungs[0], stop: wholeCut, back: map[*form]int{}}
		out, at, err := w.all(d)
		if w.loss != nil && !o.Strict {
			return nil, w.loss, nil
		}
		if err == nil {
			err = r.err
		}
		if err != nil {
			return nil, w.loss, err
		}
		parameters := out.Append(make([]byte, 0, min(2*len(raw), o.MaxBytes)))
		if d != Inlined && len(parameters) > o.MaxBytes+o.MaxBytes/4 && budget > 1024 {
			continue // the estimates were too low: try again with half the budget
		}
		seen := inspect(out, rule, true)
		if bad := seen.bad; len(bad) > 0 {
			return nil, w.loss, &Error{Refused, bad[0].Pointer, bad[0].Message}
		}
		w.report = append(w.report, seen.advice()...)
		if r.Twice != nil {
			r.change(r.Twice, DoubleKey, "the last one counts")
		}
		return &Result{d, parameters, rule.strict, changes(r.report, w.report), w.steps, at}, w.loss, nil
	}
}

// all writes the whole schema.
func (w *writer) all(d Dialect) (*node, int, *Error) {
	if d == Inlined {
		return w.inline(w.r.root), 0, nil
	}
	return w.root(w.r.at(w.r.root))
}

// plain reports whether the input is valid and has no references or anchors except a root $id.
func (r *reader) plain(rule *rules) bool {
	if r.Twice != nil || len(check(r.root, rule, true)) > 0 {
		return false
	}
	return !r.Named || !slices.ContainsFunc(r.root.Kids, func(kid *node) bool {
		if kid.Key == "$id" {
			id, err := url.Parse(kid.Text)
			return kid.Text == "" || err != nil || id.Fragment != ""
		}
		return jsonschema.NamesPlace(kid.Key) || hasRef(kid)
	})
}

// untouched reports whether the input can be sent unchanged.
func (r *reader) untouched(rule *rules, o *Options) bool {
	root := r.root
	tooLarge := r.Count > o.MaxNodes || r.size > o.MaxBytes
	if tooLarge || r.flavor.request() || root.Kind != jsonschema.Object || r.Twice != nil || len(check(root, rule, true)) > 0 {
		return false
	}
	r.openAll(r.at(root))
	if r.err != nil || r.open(r.at(root)).never {
		return false
	}
	if r.rewrite || slices.ContainsFunc(r.report, func(s seen) bool { return repairs[s.kind] }) {
		r.byNode = nil
		r.pairs = nil
		r.report = nil // will be reported again by the writer
		return false
	}
	r.report = nil
	return true
}

// repairs are the changes without which the input would be refused or misread.
var repairs = map[Kind]bool{
	NotASchema: true, BadType: true, BadRequired: true, BadKeyword: true,
	BooleanBound: true, DoubleValue: true, DoubleKey: true, Wrapped: true,
}

func (r *reader) openAll(f *form) {
	f = r.open(f)
	children(f, func(c *form, _ bool) { r.openAll(c) })
}

// stored is the JSON form of a Result.
type stored struct {
	Dialect    Dialect  `json:"dialect"`
	Parameters string   `json:"parameters"` // a string, so that every byte is preserved
	Strict     bool     `json:"strict"`
	Report     []Change `json:"report,omitempty"`
	Steps      []step   `json:"steps,omitempty"`
	Root       int      `json:"root,omitempty"`
}

// MarshalJSON encodes the whole plan, including what Back needs.
func (res *Result) MarshalJSON() ([]byte, error) {
	s := stored{res.Dialect, string(res.Parameters), res.Strict, res.Report, slices.Clone(res.steps), res.root}
	for i := range s.Steps {
		s.Steps[i].Branches = slices.Clone(s.Steps[i].Branches)
		for j := range s.Steps[i].Branches {
			b := &s.Steps[i].Branches[j]
			b.Test = b.test.Append(nil)
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON decodes a plan from MarshalJSON.
func (res *Result) UnmarshalJSON(data []byte) error {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	for i := range s.Steps {
		for j := range s.Steps[i].Branches {
			var t tree
			b := &s.Steps[i].Branches[j]
			n, err := t.Parse(b.Test)
			if err != nil {
				return err
			}
			b.test = n
		}
	}
	*res = Result{s.Dialect, json.RawMessage(s.Parameters), s.Strict, s.Report, s.Steps, s.Root}
	return nil
}
