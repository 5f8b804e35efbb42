package steps

import (
	"math"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

type (
	node  = doctree.Node
	entry = doctree.Entry
)

const (
	nothing = doctree.Nothing
	list    = doctree.List
	mapping = doctree.Mapping
)

// parse reads YAML; JSON is YAML, too. It returns nil after problems.
func (d *decoder) parse(data []byte) *node {
	before := len(d.problems)
	src, problems := doctree.ParseYAML(data)
	for _, p := range problems {
		d.problems = append(d.problems, Problem{Code: invalid, File: d.file, Line: p.Line, Column: p.Column, Text: p.Text})
	}
	if src != nil {
		d.checkKeys(src.Root)
	}
	if len(d.problems) > before {
		return nil
	}
	return src.Root
}

// checkKeys reports keys that are given twice, anywhere in the tree.
func (d *decoder) checkKeys(n *node) {
	n.Each(
		func(e entry) { d.checkKeys(e.Value) },
		func(e entry, _ int) { d.fail(keyNode(e), "%s is given twice; keep one", e.Key) },
	)
	for _, item := range n.Items {
		d.checkKeys(item)
	}
}

// keyNode is the place of a key.
func keyNode(e entry) *node { return &node{Line: e.Line, Column: e.Column} }

// plainValue returns a value as JSON would have it.
func plainValue(n *node) any {
	switch n.Kind {
	case nothing:
		return nil
	case list:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = plainValue(item)
		}
		return out
	case mapping:
		out := map[string]any{}
		for _, e := range n.Entries {
			out[e.Key] = plainValue(e.Value)
		}
		return out
	}
	if n.Text == "true" || n.Text == "false" {
		return n.Text == "true"
	}
	if f, err := strconv.ParseFloat(n.Text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f
	}
	return n.Text
}
