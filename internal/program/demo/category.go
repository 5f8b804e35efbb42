package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/mcp"
)

// maxFilterDepth is far deeper than the tree; it bounds the work on a hostile filter.
const maxFilterDepth = 16

// category is a node of the tree.
type category struct {
	Name     string     `json:"name"`
	Title    string     `json:"title"`
	Products int        `json:"products"`
	Children []category `json:"children"`
}

// filter is the part of the tree to keep: one category and, when any are named, only
// those below it.
type filter struct {
	name     string
	children []filter
}

func (s *shop) categoryTree(_ context.Context, raw json.RawMessage, _ *mcp.Request) (json.RawMessage, error) {
	in := readArgs(raw)
	part := in.Take("filter")
	if err := in.done(); err != nil {
		return nil, err
	}
	tree := s.tree
	if part != nil {
		f, err := readFilter(part, "filter", 1)
		if err != nil {
			return nil, err
		}
		kept, err := f.keep(s.tree, "filter")
		if err != nil {
			return nil, err
		}
		tree = []category{kept}
	}
	return answer(struct {
		Categories []category `json:"categories"`
	}{tree})
}

// readFilter reads a filter that stands at path.
func readFilter(raw json.RawMessage, path string, depth int) (filter, error) {
	if depth > maxFilterDepth {
		return filter{}, refusef("filter: expected at most %d levels, got more", maxFilterDepth)
	}
	in := readObject(raw, path, path+".")
	f := filter{name: in.Text("name", 64)}
	below := in.Take("children")
	if err := in.done(); err != nil {
		return filter{}, err
	}
	var items []json.RawMessage
	if below != nil && (arguments.Kind(below) != '[' || json.Unmarshal(below, &items) != nil || len(items) > 50) {
		return filter{}, refusef("%s.children: expected an array of at most 50 categories, got %s", path, arguments.Describe(below))
	}
	for i, item := range items {
		child, err := readFilter(item, fmt.Sprintf("%s.children[%d]", path, i), depth+1)
		if err != nil {
			return filter{}, err
		}
		f.children = append(f.children, child)
	}
	return f, nil
}

// keep gives the category that f names, wherever it stands in the tree, and of what is
// below it what f keeps.
func (f filter) keep(tree []category, path string) (category, error) {
	found, ok := find(tree, f.name)
	if !ok {
		return category{}, refusef("%s.name: there is no category %q here; near names are %s",
			path, f.name, strings.Join(near(f.name, names(tree)), ", "))
	}
	if len(f.children) == 0 {
		return found, nil
	}
	if len(found.Children) == 0 {
		return category{}, refusef("%s.children: expected none, because %s has no categories below it", path, f.name)
	}
	kept := []category{}
	for i, child := range f.children {
		c, err := child.keep(found.Children, fmt.Sprintf("%s.children[%d]", path, i))
		if err != nil {
			return category{}, err
		}
		kept = append(kept, c)
	}
	found.Children = kept
	return found, nil
}

// find looks for a category by name, at any depth.
func find(tree []category, name string) (category, bool) {
	for _, c := range tree {
		if c.Name == name {
			return c, true
		}
		if below, ok := find(c.Children, name); ok {
			return below, true
		}
	}
	return category{}, false
}

// names gives all names of the tree, top down.
func names(tree []category) []string {
	var out []string
	for _, c := range tree {
		out = append(out, c.Name)
		out = append(out, names(c.Children)...)
	}
	return out
}
