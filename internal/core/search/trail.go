package search

import "slices"

// Trail follows one caller from a search to the calls after it, and says which calls the
// search deserves credit for: those of tools that it found, that went well, and that came
// soon after. A later search begins anew. A Trail is for one goroutine at a time; the zero
// value is ready.
type Trail struct {
	query string
	found []string // IDs that have had no credit yet
	left  int      // calls that may still count
}

// soon is how many calls after a search may be its doing.
const soon = 5

// Found notes a search and what it found, by ID.
func (t *Trail) Found(query string, tools []string) {
	t.query = query
	t.found = slices.Clone(tools)
	t.left = soon
}

// Called notes a call. It gives the query that led to it, if one did.
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
