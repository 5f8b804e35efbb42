package doctree

import (
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Insert returns the text with one more key in the mapping under the path. It answers false
// where it knows no safe place.
func (s *Source) Insert(path []string, key string, value *Node) (string, bool) {
	mapping := s.Root.Find(path...)
	section := &Node{Kind: Mapping}
	section.Add(key, value)
	switch {
	case mapping != nil && mapping.Kind == Mapping && mapping.Flow && (s.JSON || len(mapping.Entries) > 0):
		return s.insertFlow(mapping, key, value), true
	case s.Root.Flow && mapping == nil:
		return s.insertFlow(s.Root, path[0], section), true
	case s.JSON && s.Root.Kind == Nothing && strings.TrimSpace(s.Text) == "":
		whole := &Node{Kind: Mapping}
		whole.Add(path[0], section)
		return formatJSON(whole, "", "  ") + "\n", true
	case s.JSON || s.Root.Flow:
		return "", false
	}
	return s.insertBlock(path[0], key, value)
}

// Remove returns the text without a key of the mapping. It answers false where that is not safe.
func (s *Source) Remove(mapping *Node, key string) (string, bool) {
	if mapping.Flow {
		return s.cutFlow(mapping, mapping.index(key))
	}
	return s.cutBlock(mapping, mapping.index(key)), true
}

// CannotEdit is the error for a document whose layout leaves no safe way to edit a key.
func CannotEdit(path, verb, key string) error {
	return fault.New(fault.BadConfig, "%s: %s server %q: the layout of the text cannot be edited safely", path, verb, key).
		WithHint("edit it by hand")
}
