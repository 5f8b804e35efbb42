package steps

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

const invalid = snapshot.StepInvalid

// decoder turns a tree into a suite and collects every problem on the way.
type decoder struct {
	file     string
	read     func(path string) ([]byte, error)
	open     []string // files that are being included
	problems Problems
	env      []string // environment variables that are used
}

func (d *decoder) fail(n *node, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.problems = append(d.problems, Problem{Code: invalid, File: d.file, Line: n.Line, Column: n.Column, Text: text})
}

// field reads the value of one key.
type field struct {
	key  string
	read func(n *node)
}

// object reads a mapping by its fields; an unknown key is a problem.
func (d *decoder) object(n *node, what string, fields []field) {
	if n.Kind != mapping {
		d.fail(n, "expected %s as a mapping, got %s", what, n.Kind)
		return
	}
	for _, e := range n.Entries {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.Key })
		if i < 0 {
			d.fail(keyNode(e), "unknown key %q in %s%s", e.Key, what, doctree.DidYouMean(e.Key, keysOf(fields)))
			continue
		}
		fields[i].read(e.Value)
	}
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

func (d *decoder) text(n *node, dst *string) {
	if !n.IsScalar() {
		d.fail(n, "expected a text, got %s", n.Kind)
		return
	}
	*dst = n.Text
}

func (d *decoder) texts(n *node, dst *[]string) {
	if n.IsScalar() {
		*dst = []string{n.Text}
		return
	}
	for _, item := range d.items(n, "texts") {
		var s string
		d.text(item, &s)
		*dst = append(*dst, s)
	}
}

// items returns the items of a list.
func (d *decoder) items(n *node, what string) []*node {
	if n.Kind != list {
		d.fail(n, "expected a list of %s, got %s", what, n.Kind)
	}
	return n.Items
}

func (d *decoder) textMap(n *node, dst *map[string]string) {
	if n.Kind != mapping {
		d.fail(n, "expected names with values, got %s", n.Kind)
		return
	}
	*dst = map[string]string{}
	for _, e := range n.Entries {
		var s string
		if e.Value.Kind != nothing {
			d.text(e.Value, &s)
		}
		if !variableName.MatchString(e.Key) {
			d.fail(e.Value, "%q is not a valid variable name: use letters, digits, _ and -", e.Key)
		}
		(*dst)[e.Key] = s
	}
}

func (d *decoder) truth(n *node, dst *bool) {
	if !n.IsScalar() || n.Text != "true" && n.Text != "false" {
		d.fail(n, "expected true or false")
		return
	}
	*dst = n.Text == "true"
}

func (d *decoder) count(n *node, dst *int, least int) {
	v, err := strconv.Atoi(n.Text)
	if !n.IsScalar() || err != nil || v < least || v > 10_000 {
		d.fail(n, "expected a whole number from %d", least)
		return
	}
	*dst = v
}

// maxBare is the largest time without a unit: more seconds are probably meant as milliseconds.
const maxBare = 600

// duration reads 500ms, 8s, 2m; a bare number is seconds.
func (d *decoder) duration(n *node, dst *time.Duration) {
	text := n.Text
	if bare, err := strconv.ParseFloat(text, 64); err == nil {
		if bare > maxBare {
			d.fail(n, "which unit: %[1]sms or %[1]ss?", text)
			return
		}
		text += "s"
	}
	v, err := time.ParseDuration(text)
	if !n.IsScalar() || err != nil || v < 0 || v > 24*time.Hour {
		d.fail(n, "expected a duration such as 500ms, 8s or 2m")
		return
	}
	*dst = v
}

func (d *decoder) choice(n *node, dst *string, choices ...string) {
	d.text(n, dst)
	if n.IsScalar() && !slices.Contains(choices, n.Text) {
		d.fail(n, "expected %s%s", strings.Join(choices, " or "), doctree.DidYouMean(n.Text, choices))
	}
}

// arguments reads a mapping as JSON.
func (d *decoder) arguments(n *node, dst *json.RawMessage) {
	if n.Kind != mapping {
		d.fail(n, "expected the arguments as a mapping, got %s", n.Kind)
		return
	}
	*dst, _ = json.Marshal(plainValue(n)) // plain values only
}
