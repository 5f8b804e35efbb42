package console

import (
	"maps"
	"net/url"
	"strconv"
)

// pager leads to the pages beside this one.
type pager struct {
	First, Newer, Older string // "": there is none
	Note                string // where in the list this is
}

// numbered is a pager over numbered pages of a path with a query.
func numbered(path string, q url.Values, page int, more bool) (p pager) {
	if page > 1 {
		p.Newer = with(path, q, "page", strconv.Itoa(page-1))
	}
	if more {
		p.Older = with(path, q, "page", strconv.Itoa(page+1))
	}
	return p
}

// with is the path with its query, in which the key has the value; "" takes it away.
func with(path string, q url.Values, key, value string) string {
	q = maps.Clone(q)
	q.Del("said")
	if q.Set(key, value); value == "" {
		q.Del(key)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
