package search

import "slices"

// Trail follows one caller from a search to the calls after it and decides which calls to
// credit to the search: successful ones of tools it found, soon after it. A new search starts
// over. A Trail is not safe for concurrent use; the zero value is ready.
type Trail struct {
	query string
	found []string // IDs without credit so far
	good  []string // IDs of successful calls
	left  int      // calls that may still count
}

// soon is the number of calls after a search that may be credited to it.
const soon = 5

// Found records a search and the IDs it found.
func (t *Trail) Found(query string, tools []string) {
	t.query = query
	t.found = slices.Clone(tools)
	t.good = nil
	t.left = soon
}

// Called records a call. It returns the query that led to it, if any, and the successful calls
// between the two.
func (t *Trail) Called(tool string, good bool) (query string, before []string, credit bool) {
	if t.left == 0 {
		return "", nil, false
	}
	t.left--
	if !good {
		return "", nil, false
	}
	before = t.good
	t.good = append(slices.Clip(before), tool)
	at := slices.Index(t.found, tool)
	if at < 0 {
		return "", nil, false
	}
	t.found = slices.Delete(t.found, at, at+1)
	return t.query, before, true
}
