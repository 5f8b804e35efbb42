package search

import "slices"

// Trail follows one caller from a search to the calls after it and decides which calls to
// credit to the search: successful ones of tools it found, soon after it. A new search starts
// over. A Trail is not safe for concurrent use; the zero value is ready.
type Trail struct {
	query string
	found []string // IDs without credit so far
	left  int      // calls that may still count
}

// soon is the number of calls after a search that may be credited to it.
const soon = 5

// Found records a search and the IDs it found.
func (t *Trail) Found(query string, tools []string) {
	t.query = query
	t.found = slices.Clone(tools)
	t.left = soon
}

// Called records a call. It returns the query that led to it, if any.
func (t *Trail) Called(tool string, good bool) (query string, credit bool) {
	if t.left == 0 {
		return "", false
	}
	t.left--
	at := slices.Index(t.found, tool)
	if at < 0 || !good {
		return "", false
	}
	t.found = slices.Delete(t.found, at, at+1)
	return t.query, true
}
