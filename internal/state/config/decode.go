package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

type (
	node    = doctree.Node
	entry   = doctree.Entry
	place   = doctree.Place
	problem = doctree.Problem
)

// decoder turns a tree into values and collects every problem on the way.
type decoder struct {
	dir    string
	env    func(string) (string, bool)
	raw    bool // leave ${} as it is: for editing and import
	plain  bool // ${} has no meaning
	users  bool // ${user:NAME} stays as it is: each person has another value
	client bool // the file belongs to an MCP client: unknown keys are ignored

	problems doctree.Problems
	ignored  []string // keys of a client's server that have no meaning here
	secrets  []string
}

// reader reads one value into the variable it closes over.
type reader func(d *decoder, at place, n *node)

// field is one key of a mapping.
type field struct {
	key  string
	read reader
}

// restricting are the keys that keep something out, or contain such keys. A truncated file
// often ends after one of them, and an empty value must not mean "let everything through".
var restricting = []string{
	"profiles", "overrides", "approve", "rate", "perKey", "safety", "strip", "secrets", "mark",
	"servers", "tools", "allow", "deny", "validation", "output",
	"hide", "fix", "enum", "require",
	"disabled", "concurrency", "readOnly", "tags", "paths", "methods", "operations",
	"available_tools", "denied_tools", "sandbox", "net",
	"policy", "default", "who", "groups", "scopes", "clients", "keys", "kinds", "hints", "when", "then", "limit", "repeats", "approvers",
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// section reads a mapping by its fields.
func section(fields []field) reader {
	return func(d *decoder, at place, n *node) { d.object(at, n, fields) }
}

func (d *decoder) fail(at place, format string, args ...any) {
	d.problems = append(d.problems, problem{Line: at.Line, Field: at.Field, Text: fmt.Sprintf(format, args...)})
}

// failIf reports a problem unless it is "".
func (d *decoder) failIf(at place, problem string) {
	if problem != "" {
		d.fail(at, "%s", problem)
	}
}

// err returns the problems of a value that did not come from a file, or nil.
func (d *decoder) err(what string) error {
	if len(d.problems) == 0 {
		return nil
	}
	for i := range d.problems {
		d.problems[i].Line = 0
	}
	return d.problems.Err(what)
}

// takeAbsent removes the problems about absent values since the given one and returns them as one
// sentence: they concern a single server, which cannot be used without these values.
func (d *decoder) takeAbsent(since int) string {
	var absent []string
	d.problems = slices.Concat(d.problems[:since], slices.DeleteFunc(d.problems[since:], func(p problem) bool {
		if p.Absent {
			absent = append(absent, p.Field+": "+p.Text)
		}
		return p.Absent
	}))
	return strings.Join(absent, "; ")
}

// expect reports whether n is of the kind, and a problem when it is not.
func (d *decoder) expect(at place, n *node, want doctree.Kind) bool {
	if n.Kind == want {
		return true
	}
	if n.Kind != doctree.Broken && n.Kind != doctree.Nothing {
		d.fail(at, "expected %s, got %s", want, n.Kind)
	}
	return false
}

// object reads a mapping's keys by the given fields. A key without a value counts as not
// given, unless it restricts something.
func (d *decoder) object(at place, n *node, fields []field) {
	d.each(at, n, func(inner place, e entry) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.Key })
		switch {
		case i >= 0 && e.Value.Kind != doctree.Nothing:
			fields[i].read(d, inner, e.Value)
		case i >= 0 && (d.client || !slices.Contains(restricting, e.Key)):
		case i >= 0:
			d.fail(inner, "has no value; give it one, or remove the key")
		case d.client:
			d.ignored = append(d.ignored, e.Key)
		default:
			d.fail(inner, "unknown key%s", doctree.DidYouMean(e.Key, keysOf(fields)))
		}
	})
}

// complete is object that reports whether it found no problem.
func (d *decoder) complete(at place, n *node, fields []field) bool {
	before := len(d.problems)
	d.object(at, n, fields)
	return len(d.problems) == before
}

// each visits the entries of a mapping in file order, the first of each key.
func (d *decoder) each(at place, n *node, visit func(place, entry)) {
	if !d.expect(at, n, doctree.Mapping) {
		return
	}
	n.Each(
		func(e entry) { visit(at.Key(e.Key, e.Line), e) },
		func(e entry, first int) {
			d.fail(at.Key(e.Key, e.Line), "is given twice, first in line %d; keep one", first)
		},
	)
}

// items visits the items of a list.
func (d *decoder) items(at place, n *node, visit func(place, *node)) {
	if !d.expect(at, n, doctree.List) {
		return
	}
	for i, item := range n.Items {
		visit(at.Index(i, item.Line), item)
	}
}

// scalar returns a value as text, with ${} filled in. Numbers and booleans count as written.
// It is not final while raw text still contains ${}: it cannot be checked yet.
func (d *decoder) scalar(at place, n *node) (s string, final, ok bool) {
	switch n.Kind {
	case doctree.Bool, doctree.Number:
		return n.Text, true, true
	case doctree.Text:
	case doctree.Broken:
		return "", false, false
	case doctree.Nothing:
		d.fail(at, `expected text, got nothing; write "" for empty text`)
		return "", false, false
	default:
		d.fail(at, "expected text, got %s", n.Kind)
		return "", false, false
	}
	switch {
	case strings.ContainsRune(n.Text, 0):
		d.fail(at, "holds a NUL character; remove it")
		return "", false, false
	case d.plain:
		return n.Text, true, true
	case d.raw:
		return n.Text, !strings.Contains(n.Text, "${"), true
	}
	s, err := d.filled(n.Text)
	if err == nil && strings.ContainsRune(s, 0) {
		err = errors.New("is filled in with a NUL character")
	}
	if err != nil {
		var missing absent
		d.problems = append(d.problems, problem{Line: at.Line, Field: at.Field, Text: err.Error(), Absent: errors.As(err, &missing)})
		return "", false, false
	}
	return s, true, true
}

// checked is a scalar that passes the check, which answers "" or "problem; fix".
// The answer must not repeat the value: it may be a secret.
func (d *decoder) checked(at place, n *node, check func(string) string) (string, bool) {
	s, final, ok := d.scalar(at, n)
	if !ok || !final || check == nil {
		return s, ok
	}
	if wrong := check(s); wrong != "" {
		d.fail(at, "%s", wrong)
		return "", false
	}
	return s, true
}

// textInto reads text. What cannot be checked yet is stored as it is.
func textInto(dst *string, check func(string) string) reader {
	return func(d *decoder, at place, n *node) {
		if s, ok := d.checked(at, n, check); ok {
			*dst = s
		}
	}
}

func oneOf(dst *string, choices ...string) reader {
	return textInto(dst, func(s string) string { return checkChoice(s, choices) })
}

func checkChoice(s string, choices []string) string {
	if slices.Contains(choices, s) {
		return ""
	}
	return "expected " + strings.Join(choices, " or ") + doctree.DidYouMean(s, choices)
}

func boolInto(dst *bool) reader {
	return func(d *decoder, at place, n *node) {
		s, final, ok := d.scalar(at, n)
		if !ok || !final {
			return
		}
		s = strings.ToLower(s)
		if s != "true" && s != "false" || n.Kind == doctree.Text && s == n.Text {
			d.fail(at, "expected true or false, got %s", n.Kind)
			return
		}
		*dst = s == "true"
	}
}

// parsedInto reads a scalar as the parser understands it. The parser answers the value and "", or
// "problem; fix".
func parsedInto[T any](dst *T, parse func(string) (T, string)) reader {
	return func(d *decoder, at place, n *node) {
		s, final, ok := d.scalar(at, n)
		if !ok || !final {
			return
		}
		v, wrong := parse(s)
		if wrong != "" {
			d.fail(at, "%s", wrong)
			return
		}
		*dst = v
	}
}

// durationInto reads a duration of at least least.
func durationInto(dst *time.Duration, least time.Duration) reader {
	return parsedInto(dst, func(s string) (time.Duration, string) {
		v, ok := ParseDuration(s)
		switch {
		case !ok:
			return 0, "expected a duration with its unit, such as 500ms, 30s, 1h30m or 30d"
		case v < least:
			return 0, "expected at least " + formatDuration(least)
		}
		return v, ""
	})
}

func countInto(dst *int, least, most int) reader {
	return parsedInto(dst, func(s string) (int, string) {
		v, err := strconv.Atoi(s)
		if err != nil || v < least || v > most {
			return 0, fmt.Sprintf("expected a whole number from %d to %d", least, most)
		}
		return v, ""
	})
}

// someInto reads a list that restricts something: an empty one would mean no limit.
func someInto(dst *[]string, check func(string) string) reader {
	return func(d *decoder, at place, n *node) {
		if n.Kind == doctree.List && len(n.Items) == 0 {
			d.fail(at, "is an empty list; name something, or remove the key for no limit")
			return
		}
		listInto(dst, check)(d, at, n)
	}
}

func listInto(dst *[]string, check func(string) string) reader {
	return func(d *decoder, at place, n *node) {
		d.items(at, n, func(inner place, item *node) {
			if s, ok := d.checked(inner, item, check); ok {
				*dst = append(*dst, s)
			}
		})
	}
}

// networksInto reads networks; a single address is a network of one.
func networksInto(dst *[]netip.Prefix) reader {
	return func(d *decoder, at place, n *node) {
		d.items(at, n, func(inner place, item *node) {
			var network netip.Prefix
			parsedInto(&network, parseNetwork)(d, inner, item)
			if network.IsValid() {
				*dst = append(*dst, network)
			}
		})
	}
}

// mapInto reads names with texts. The checks are for names and for values, then is called for
// each pair; all may be nil.
func mapInto(dst *map[string]string, checkName, checkValue func(string) string, then func(d *decoder, name, value string)) reader {
	return func(d *decoder, at place, n *node) {
		*dst = map[string]string{}
		d.each(at, n, func(inner place, e entry) {
			if checkName != nil && checkName(e.Key) != "" {
				d.fail(inner, "%s", checkName(e.Key))
				return
			}
			if s, ok := d.checked(inner, e.Value, checkValue); ok {
				(*dst)[e.Key] = s
				if then != nil {
					then(d, e.Key, s)
				}
			}
		})
	}
}
