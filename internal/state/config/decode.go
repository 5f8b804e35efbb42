package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decoder turns a tree into values and collects every problem on the way.
type decoder struct {
	dir    string
	env    func(string) (string, bool)
	raw    bool // leave ${} as it stands: for editing and import
	plain  bool // ${} is text like any other
	client bool // the file belongs to an MCP client: unknown keys are its own business

	problems problems
	ignored  []string // keys of a client's server that mean nothing to us
	secrets  []string
}

// reader reads one value into the place it closes over.
type reader func(d *decoder, at place, n *node)

// field is one key that a mapping knows.
type field struct {
	key  string
	read reader
}

// restricting are the keys that keep something out or hold what does. A file that was cut off
// often ends behind one of them, and nobody means it to let everything through.
var restricting = []string{
	"profiles", "overrides", "approve", "rate", "perKey", "safety", "strip", "secrets", "mark",
	"servers", "tools", "allow", "deny", "validation", "output",
	"hide", "fix", "enum", "require",
	"disabled", "concurrency", "readOnly", "tags", "paths", "methods", "operations",
	"available_tools", "denied_tools",
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

func (d *decoder) fail(at place, format string, args ...any) {
	d.problems = append(d.problems, problem{line: at.line, field: at.field, text: fmt.Sprintf(format, args...)})
}

// setAside takes the values that are not there out of the problems since the given one, and
// returns them as one sentence: they concern a single server, which can not be used without.
func (d *decoder) setAside(since int) string {
	var absent []string
	d.problems = slices.Concat(d.problems[:since], slices.DeleteFunc(d.problems[since:], func(p problem) bool {
		if p.absent {
			absent = append(absent, p.field+": "+p.text)
		}
		return p.absent
	}))
	return strings.Join(absent, "; ")
}

// expect tells whether n is of the kind; it reports when it is another.
func (d *decoder) expect(at place, n *node, want kind) bool {
	if n.kind == want {
		return true
	}
	if n.kind != broken && n.kind != nothing {
		d.fail(at, "expected %s, got %s", want, n.kind)
	}
	return false
}

// object reads a mapping's keys by the given fields. A key without a value counts as not
// given, unless that would let through what it is there to keep out.
func (d *decoder) object(at place, n *node, fields []field) {
	d.each(at, n, func(inner place, e entry) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.key })
		switch {
		case i >= 0 && e.value.kind != nothing:
			fields[i].read(d, inner, e.value)
		case i >= 0 && (d.client || !slices.Contains(restricting, e.key)):
		case i >= 0:
			d.fail(inner, "has no value; give it one, or remove the key")
		case d.client:
			d.ignored = append(d.ignored, e.key)
		default:
			d.fail(inner, "unknown key%s", didYouMean(e.key, keysOf(fields)))
		}
	})
}

// each visits the entries of a mapping in file order, the first of each key.
func (d *decoder) each(at place, n *node, visit func(place, entry)) {
	if !d.expect(at, n, object) {
		return
	}
	first := make(map[string]int, len(n.entries))
	for _, e := range n.entries {
		inner := at.key(e.key, e.line)
		if line, twice := first[e.key]; twice {
			d.fail(inner, "is given twice, first in line %d; keep one", line)
			continue
		}
		first[e.key] = e.line
		visit(inner, e)
	}
}

// items visits the items of a list.
func (d *decoder) items(at place, n *node, visit func(place, *node)) {
	if !d.expect(at, n, list) {
		return
	}
	for i, item := range n.items {
		visit(at.index(i, item.line), item)
	}
}

// scalar is a value as text, with ${} filled in. Numbers and booleans count as written.
// settled is false where raw text still holds ${}: it can not be checked yet.
func (d *decoder) scalar(at place, n *node) (s string, settled, ok bool) {
	switch n.kind {
	case boolean, number:
		return n.text, true, true
	case text:
	case broken:
		return "", false, false
	case nothing:
		d.fail(at, `expected text, got nothing; write "" for empty text`)
		return "", false, false
	default:
		d.fail(at, "expected text, got %s", n.kind)
		return "", false, false
	}
	if strings.ContainsRune(n.text, 0) {
		d.fail(at, "holds a NUL character; remove it")
		return "", false, false
	}
	if d.plain {
		return n.text, true, true
	}
	if d.raw {
		return n.text, !strings.Contains(n.text, "${"), true
	}
	s, err := d.filled(n.text)
	if err != nil {
		d.problems = append(d.problems, problem{at.line, at.field, err.Error(), errors.Is(err, errAbsent)})
		return "", false, false
	}
	if strings.ContainsRune(s, 0) {
		d.fail(at, "is filled in with a NUL character")
		return "", false, false
	}
	return s, true, true
}

// checked is a scalar that passes the check, which answers "" or "problem; fix".
// The check's answer must not repeat the value: it may be a secret.
func (d *decoder) checked(at place, n *node, check func(string) string) (string, bool) {
	s, settled, ok := d.scalar(at, n)
	if !ok || !settled || check == nil {
		return s, ok
	}
	if wrong := check(s); wrong != "" {
		d.fail(at, "%s", wrong)
		return "", false
	}
	return s, true
}

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
	return "expected " + strings.Join(choices, " or ") + didYouMean(s, choices)
}

func boolInto(dst *bool) reader {
	return func(d *decoder, at place, n *node) {
		s, settled, ok := d.scalar(at, n)
		if !ok || !settled {
			return
		}
		if s = strings.ToLower(s); s != "true" && s != "false" || n.kind == text && s == n.text {
			d.fail(at, "expected true or false, got %s", n.kind)
			return
		}
		*dst = s == "true"
	}
}

// durationInto reads a duration of at least least.
func durationInto(dst *time.Duration, least time.Duration) reader {
	return func(d *decoder, at place, n *node) {
		s, settled, ok := d.scalar(at, n)
		if !ok || !settled {
			return
		}
		v, valid := ParseDuration(s)
		switch {
		case !valid:
			d.fail(at, "expected a duration with its unit, such as 500ms, 30s, 1h30m or 30d")
		case v < least:
			d.fail(at, "expected at least %s", formatDuration(least))
		default:
			*dst = v
		}
	}
}

func sizeInto(dst *int64) reader {
	return func(d *decoder, at place, n *node) {
		s, settled, ok := d.scalar(at, n)
		if !ok || !settled {
			return
		}
		v, valid := parseSize(s)
		if !valid || v == 0 {
			d.fail(at, "expected a size over 0, such as 512KB, 4MB, 2GB or a number of bytes")
			return
		}
		*dst = v
	}
}

func rateInto(dst *float64) reader {
	return func(d *decoder, at place, n *node) {
		s, settled, ok := d.scalar(at, n)
		if !ok || !settled {
			return
		}
		v, valid := parseRate(s)
		if !valid {
			d.fail(at, "expected a number of requests and its time, such as 50/s, 600/m or 5000/h")
			return
		}
		*dst = v
	}
}

func countInto(dst *int, least, most int) reader {
	return func(d *decoder, at place, n *node) {
		s, settled, ok := d.scalar(at, n)
		if !ok || !settled {
			return
		}
		v, err := strconv.Atoi(s)
		if err != nil || v < least || v > most {
			d.fail(at, "expected a whole number from %d to %d", least, most)
			return
		}
		*dst = v
	}
}

// someInto reads a list that narrows something: an empty one would be taken for no limit.
func someInto(dst *[]string, check func(string) string) reader {
	return func(d *decoder, at place, n *node) {
		if n.kind == list && len(n.items) == 0 {
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
