package openapi

import (
	"path"
	"slices"
	"strings"
)

// Filter selects operations. Empty fields select all; an operation must match every field that
// is set.
type Filter struct {
	Tags     []string // with one of these tags
	Paths    []string // matching one of these paths: * is any segment, ** any number of segments
	Methods  []string // with one of these methods, case-insensitive
	IDs      []string // with one of these operationIds or tool names
	ReadOnly bool     // only methods that change nothing: GET, HEAD, OPTIONS
}

func (f Filter) takes(e *entry) bool {
	hasTag := func(tag string) bool { return slices.Contains(e.tags, tag) }
	isLike := func(glob string) bool { return matchPath(glob, e.path) }
	isMethod := func(method string) bool { return strings.EqualFold(method, e.method) }
	isNamed := func(id string) bool { return id == e.name || e.id != "" && id == e.id }
	return (len(f.Tags) == 0 || slices.ContainsFunc(f.Tags, hasTag)) &&
		(len(f.Paths) == 0 || slices.ContainsFunc(f.Paths, isLike)) &&
		(len(f.Methods) == 0 || slices.ContainsFunc(f.Methods, isMethod)) &&
		(len(f.IDs) == 0 || slices.ContainsFunc(f.IDs, isNamed)) &&
		(!f.ReadOnly || isReadOnly(e.method))
}

// matchPath compares segment by segment; ** matches any number of segments, including none.
func matchPath(glob, name string) bool {
	return matchParts(strings.Split(glob, "/"), strings.Split(name, "/"))
}

func matchParts(glob, parts []string) bool {
	switch {
	case len(glob) == 0:
		return len(parts) == 0
	case glob[0] == "**":
		return matchParts(glob[1:], parts) || len(parts) > 0 && matchParts(glob, parts[1:])
	case len(parts) == 0:
		return false
	}
	ok, err := path.Match(glob[0], parts[0])
	return (ok && err == nil || glob[0] == parts[0]) && matchParts(glob[1:], parts[1:])
}
