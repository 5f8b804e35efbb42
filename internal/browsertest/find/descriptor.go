package find

import (
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Descriptor is how to find an element again. It has no ref: on the next page that is another element.
type Descriptor struct {
	Role        string      `json:"role"`
	Name        string      `json:"name,omitempty"`
	Placeholder string      `json:"placeholder,omitempty"`
	Beside      string      `json:"beside,omitempty"` // the text that labels a nameless field
	Row         string      `json:"row,omitempty"`    // a text that only its row has
	Path        []PathEntry `json:"path,omitempty"`   // the named places that hold it, the outermost first
}

// PathEntry is one place that holds an element.
type PathEntry struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

// Describe says how the element can be found again; false when it would not be the only one.
func (x *Index) Describe(n *snapshot.Node) (Descriptor, bool) {
	d := Descriptor{Role: n.Role, Name: n.Name, Placeholder: n.Placeholder}
	if n.Name == "" {
		if texts := x.beside(n); is(n, field) && len(texts) > 0 {
			d.Beside = texts[0]
		}
	}
	if d.Name == "" && d.Placeholder == "" && d.Beside == "" {
		return d, false // on a later page any nameless one would fit
	}
	for a := n.Parent; a != nil; a = a.Parent {
		if is(a, row) && d.Row == "" {
			d.Row = x.rowKey(a)
		}
		if name := x.placeName(a); is(a, landmark) && !name.empty() {
			d.Path = append(d.Path, PathEntry{a.Role, x.shown(name)})
		}
	}
	slices.Reverse(d.Path)
	hit, err := x.Refind(d)
	return d, err == nil && hit.Node == n
}

// rowKey is the first text of a row that no other row has.
func (x *Index) rowKey(of *snapshot.Node) string {
	for _, p := range x.pieces(of) {
		only := true
		for _, other := range x.rows {
			if other != of && !other.Holds(of) && covers(x.pieces(other), p, true) == whole {
				only = false
				break
			}
		}
		if only {
			return x.shown(p)
		}
	}
	return ""
}

// Refind finds a remembered element on a later page. Exactly one must fit in every part.
func (x *Index) Refind(d Descriptor) (*Hit, error) {
	var list []candidate
	for n := range x.page.All() {
		if n.Ref != "" && !x.behind(n) && x.fits(n, d) {
			list = append(list, candidate{node: n, score: isEqual, why: "is as it was remembered"})
		}
	}
	return newSearch(x, Query{Text: d.Role + " " + d.Name}).pick(list)
}

func (x *Index) fits(n *snapshot.Node, d Descriptor) bool {
	if n.Role != d.Role || n.Name != d.Name || n.Placeholder != d.Placeholder {
		return false
	}
	if d.Beside != "" && !slices.Contains(x.beside(n), d.Beside) {
		return false
	}
	path := d.Path
	inRow := d.Row == ""
	for a := n.Parent; a != nil; a = a.Parent {
		if !inRow && is(a, row) {
			inRow = covers(x.pieces(a), read(d.Row), true) == whole
		}
		if len(path) > 0 && is(a, landmark) {
			if last := path[len(path)-1]; a.Role == last.Role && x.placeName(a).equal(read(last.Name)) {
				path = path[:len(path)-1]
			}
		}
	}
	return inRow && len(path) == 0
}
