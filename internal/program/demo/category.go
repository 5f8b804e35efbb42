package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/mcp"
)

// maxFilterDepth is far deeper than the tree; it limits hostile filters.
const maxFilterDepth = 16

type category struct {
	Name     string     `json:"name"`
	Title    string     `json:"title"`
	Products int        `json:"products"`
	Children []category `json:"children"`
}

// filter keeps one category and, if it has children, only those below it.
type filter struct {
	name     string
	children []filter
}

func (s *shop) categoryTree(_ context.Context, in *args, _ *mcp.Request) (any, error) {
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
	return struct {
		Categories []category `json:"categories"`
	}{tree}, nil
}

func readFilter(raw json.RawMessage, path string, depth int) (filter, error) {
	if depth > maxFilterDepth {
		return filter{}, problemf("filter: expected at most %d levels, got more", maxFilterDepth)
	}
	in := readObject(raw, path, path+".")
	f := filter{name: in.Text("name", 64)}
	below := in.Take("children")
	if err := in.done(); err != nil {
		return filter{}, err
	}
	var items []json.RawMessage
	if below != nil && (arguments.Kind(below) != '[' || json.Unmarshal(below, &items) != nil || len(items) > 50) {
		return filter{}, problemf("%s.children: expected an array of at most 50 categories, got %s", path, arguments.Describe(below))
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

// keep is the category that f names, at any depth, with only the children that f keeps.
func (f filter) keep(tree []category, path string) (category, error) {
	found, ok := find(tree, f.name)
	if !ok {
		return category{}, problemf("%s.name: there is no category %q here; similar names: %s",
			path, f.name, strings.Join(near(f.name, names(tree)), ", "))
	}
	if len(f.children) == 0 {
		return found, nil
	}
	if len(found.Children) == 0 {
		return category{}, problemf("%s.children: expected none, because %s has no categories below it", path, f.name)
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

func names(tree []category) []string {
	var out []string
	for _, c := range tree {
		out = append(out, c.Name)
		out = append(out, names(c.Children)...)
	}
	return out
}
