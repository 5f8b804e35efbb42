package openapi

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// fromYAML converts a YAML document to JSON. Members keep their order, duplicates included;
// scalars follow YAML 1.2's core schema, so that dates, yes and no stay strings. Aliases are
// expanded within a limit: a few lines of them can mean gigabytes.
func fromYAML(data []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	if root.Kind == 0 {
		return nil, fmt.Errorf("the document is empty")
	}
	const least = 1 << 20
	w := yamlWriter{out: make([]byte, 0, len(data)), most: least + 8*len(data)}
	if err := w.value(&root, 0); err != nil {
		return nil, err
	}
	return w.out, nil
}

type yamlWriter struct {
	out     []byte
	most    int // limit of bytes and steps
	steps   int
	aliases []*yaml.Node // targets being written, outermost first
}

func (w *yamlWriter) value(n *yaml.Node, depth int) error {
	switch {
	case depth > rawjson.MaxDepth:
		return fmt.Errorf("line %d: %w", n.Line, rawjson.ErrDepth)
	case len(w.out)+w.steps > w.most:
		return fmt.Errorf("line %d: the aliases make the document too large", n.Line)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.value(n.Content[0], depth)
	case yaml.AliasNode:
		if slices.Contains(w.aliases, n.Alias) {
			return fmt.Errorf("line %d: the alias %s contains itself", n.Line, n.Value)
		}
		w.aliases = append(w.aliases, n.Alias)
		err := w.value(n.Alias, depth+1)
		w.aliases = w.aliases[:len(w.aliases)-1]
		return err
	case yaml.ScalarNode:
		w.out = appendScalar(w.out, n)
		return nil
	case yaml.SequenceNode:
		return w.sequence(n, depth)
	}
	w.out = append(w.out, '{')
	if err := w.members(n, depth, nil); err != nil {
		return err
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *yamlWriter) sequence(n *yaml.Node, depth int) error {
	w.out = append(w.out, '[')
	for i, kid := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(kid, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

// members writes the members of a mapping, then merged-in members that it lacks, except those
// in hidden, which may be nil.
func (w *yamlWriter) members(n *yaml.Node, depth int, hidden map[string]bool) error {
	if depth > rawjson.MaxDepth || len(w.out)+w.steps > w.most { // mappings can merge each other without writing anything
		return fmt.Errorf("line %d: the aliases make the document too large", n.Line)
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		value := n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			return fmt.Errorf("line %d: a key is no scalar", key.Line)
		case key.Value == "<<" && key.Style == 0:
			merged = append(merged, value)
			continue
		case hidden[key.Value]:
			continue
		}
		if w.out[len(w.out)-1] != '{' {
			w.out = append(w.out, ',')
		}
		w.out = append(rawjson.AppendString(w.out, key.Value), ':')
		if err := w.value(value, depth+1); err != nil {
			return err
		}
	}
	if len(merged) == 0 {
		return nil
	}
	return w.merge(n, merged, depth, hidden)
}

func (w *yamlWriter) merge(n *yaml.Node, merged []*yaml.Node, depth int, hidden map[string]bool) error {
	seen := map[string]bool{}
	for name := range hidden {
		seen[name] = true
	}
	w.steps += len(hidden)
	hide := func(n *yaml.Node) {
		w.steps += len(n.Content)
		for i := 0; i < len(n.Content); i += 2 {
			seen[n.Content[i].Value] = true
		}
	}
	hide(n)
	for len(merged) > 0 {
		from := merged[0]
		w.steps++
		merged = merged[1:]
		if from.Kind == yaml.AliasNode {
			from = from.Alias
		}
		switch from.Kind {
		case yaml.SequenceNode:
			for _, kid := range from.Content { // lists do not nest
				if kid.Kind == yaml.AliasNode || kid.Kind == yaml.MappingNode {
					merged = append(merged, kid)
				}
			}
		case yaml.MappingNode:
			if err := w.members(from, depth+1, seen); err != nil {
				return err
			}
			hide(from)
		default:
			return fmt.Errorf("line %d: << merges something that is no mapping", from.Line)
		}
	}
	return nil
}
