package steps

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

const invalid = snapshot.StepInvalid

// decoder turns a tree into a suite and collects every problem on the way.
type decoder struct {
	file     string
	read     func(path string) ([]byte, error)
	open     []string // files that are being included
	problems Problems
	env      []string // variables of the environment that were named
}

func (d *decoder) fail(n *node, format string, args ...any) {
	d.problems = append(d.problems, Problem{Code: invalid, File: d.file, Line: n.line, Column: n.column, Text: fmt.Sprintf(format, args...)})
}

// field reads the value of one key.
type field struct {
	key  string
	read func(n *node)
}

// object reads a mapping by its fields; unknown keys and keys given twice are problems.
func (d *decoder) object(n *node, what string, fields []field) {
	if n.kind != mapping {
		d.fail(n, "expected %s as a mapping, got %s", what, n.kind)
		return
	}
	seen := map[string]bool{}
	for _, e := range n.entries {
		at := &node{line: e.line, column: e.column}
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.key })
		switch {
		case seen[e.key]:
			d.fail(at, "%s is given twice; keep one", e.key)
		case i < 0:
			d.fail(at, "unknown key %q in %s%s", e.key, what, didYouMean(e.key, keysOf(fields)))
		default:
			fields[i].read(e.value)
		}
		seen[e.key] = true
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
	if n.kind != scalar {
		d.fail(n, "expected a text, got %s", n.kind)
		return
	}
	*dst = n.text
}

func (d *decoder) texts(n *node, dst *[]string) {
	if n.kind == scalar {
		*dst = []string{n.text}
		return
	}
	if n.kind != list {
		d.fail(n, "expected a list of texts, got %s", n.kind)
		return
	}
	for _, item := range n.items {
		var s string
		d.text(item, &s)
		*dst = append(*dst, s)
	}
}

func (d *decoder) textMap(n *node, dst *map[string]string) {
	if n.kind != mapping {
		d.fail(n, "expected names with values, got %s", n.kind)
		return
	}
	*dst = map[string]string{}
	for _, e := range n.entries {
		var s string
		if e.value.kind != nothing {
			d.text(e.value, &s)
		}
		if !variableName.MatchString(e.key) {
			d.fail(e.value, "%q is no name for a variable: use letters, digits, _ and -", e.key)
		}
		(*dst)[e.key] = s
	}
}

func (d *decoder) truth(n *node, dst *bool) {
	if n.kind != scalar || n.text != "true" && n.text != "false" {
		d.fail(n, "expected true or false")
		return
	}
	*dst = n.text == "true"
}

func (d *decoder) count(n *node, dst *int, least int) {
	v, err := strconv.Atoi(n.text)
	if n.kind != scalar || err != nil || v < least || v > 10_000 {
		d.fail(n, "expected a whole number from %d", least)
		return
	}
	*dst = v
}

// maxBare is the largest time that may stand without its unit: more seconds than that are
// mostly milliseconds.
const maxBare = 600

// duration reads 500ms, 8s, 2m; a bare number is seconds.
func (d *decoder) duration(n *node, dst *time.Duration) {
	text := n.text
	if bare, err := strconv.ParseFloat(text, 64); err == nil {
		if bare > maxBare {
			d.fail(n, "which unit: %[1]sms or %[1]ss?", text)
			return
		}
		text += "s"
	}
	v, err := time.ParseDuration(text)
	if n.kind != scalar || err != nil || v < 0 || v > 24*time.Hour {
		d.fail(n, "expected a duration such as 500ms, 8s or 2m")
		return
	}
	*dst = v
}

func (d *decoder) choice(n *node, dst *string, choices ...string) {
	d.text(n, dst)
	if n.kind == scalar && !slices.Contains(choices, n.text) {
		d.fail(n, "expected %s%s", strings.Join(choices, " or "), didYouMean(n.text, choices))
	}
}

// arguments keeps a mapping as JSON.
func (d *decoder) arguments(n *node, dst *json.RawMessage) {
	if n.kind != mapping {
		d.fail(n, "expected the arguments as a mapping, got %s", n.kind)
		return
	}
	*dst, _ = json.Marshal(n.any()) // plain values only
}
