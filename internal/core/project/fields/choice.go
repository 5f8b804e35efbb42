package fields

import (
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// Mask keeps the fields with these ids and everything in them; "" when there are none.
func (n *Node) Mask(ticked map[int]bool) string {
	text, _ := n.write(nil, ticked)
	return string(text)
}

// write appends the mask of the kept children, and counts them.
func (n *Node) write(dst []byte, ticked map[int]bool) (out []byte, count int) {
	for _, child := range n.Children {
		var inner []byte
		some := 0
		if !ticked[child.ID] {
			inner, some = child.write(nil, ticked)
			if some == 0 {
				continue
			}
		}
		count++
		if count > 1 {
			dst = append(dst, ',')
		}
		dst = mask.AppendKey(dst, rawjson.AppendString(nil, child.Name))
		switch {
		case some == 1:
			dst = append(append(dst, '/'), inner...)
		case some > 1:
			dst = append(append(append(dst, '('), inner...), ')')
		}
	}
	return dst, count
}

// Paths lists the fields of a name ("" for all) as masks, those nearest to the root first.
func (n *Node) Paths(name string) (paths []string) {
	type place struct {
		node *Node
		path []byte
	}
	for level := []place{{node: n}}; len(level) > 0; level = level[1:] {
		at := level[0]
		for _, child := range at.node.Children {
			path := mask.AppendKey(at.path[:len(at.path):len(at.path)], rawjson.AppendString(nil, child.Name))
			if name == "" || name == child.Name {
				paths = append(paths, string(path))
			}
			level = append(level, place{child, append(path, '/')})
		}
	}
	return paths
}

// probe is a name that no value has: a mask that keeps it keeps unknown fields.
const probe = "\x00\x00"

// Kept lists the ids of the fields that the mask keeps completely, including unknown fields in them.
func (n *Node) Kept(m *mask.Mask) (map[int]bool, error) {
	out, err := m.AnyRows().Apply(nil, n.outline(nil), &mask.Tally{})
	if err != nil {
		return nil, err
	}
	ticked := map[int]bool{}
	n.tick(out, ticked)
	return ticked, nil
}

// outline is an object with all fields, and the probe on every level.
func (n *Node) outline(dst []byte) []byte {
	if len(n.Children) == 0 {
		return append(dst, '1')
	}
	dst = append(rawjson.AppendString(append(dst, '{'), probe), ":1"...)
	for _, child := range n.Children {
		dst = append(rawjson.AppendString(append(dst, ','), child.Name), ':')
		dst = child.outline(dst)
	}
	return append(dst, '}')
}

// tick marks the fields that are complete in a cut outline, and tells whether all are.
func (n *Node) tick(outline []byte, ticked map[int]bool) bool {
	if len(n.Children) == 0 {
		return true
	}
	whole := 0
	found := false
	for w := rawjson.Object(outline); w.Next(); {
		if string(w.Key) == probe {
			found = true
			continue
		}
		child := n.byName[string(w.Key)]
		if child != nil && child.tick(w.Value, ticked) {
			ticked[child.ID] = true
			whole++
		}
	}
	return found && whole == len(n.Children)
}
