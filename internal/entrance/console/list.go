package console

import (
	"maps"
	"net/url"
	"strconv"
)

// list is what all pages of rows share: filters, and links to the other pages.
type list struct {
	Filter   map[string]string // the filters that are set
	Filtered bool
	First    bool // this is the first page
	Pager    pager
	path     string
	query    url.Values // the filters as a query
	cursor   string
}

// listOf reads the filters and the cursor from the query.
func (c *Console) listOf(v *visit, path string, filters ...string) list {
	asked := v.URL.Query()
	l := list{Filter: map[string]string{}, path: c.at(path), query: url.Values{}, cursor: asked.Get("cursor")}
	for _, name := range filters {
		if value := asked.Get(name); value != "" {
			l.Filter[name] = value
			l.query.Set(name, value)
		}
	}
	l.Filtered = len(l.query) > 0
	l.First = l.cursor == ""
	if !l.First {
		l.Pager.First = with(l.path, l.query, "", "")
	}
	return l
}

// ask is the query of this page: the filters and the cursor.
func (l *list) ask() url.Values {
	q := maps.Clone(l.query)
	if !l.First {
		q.Set("cursor", l.cursor)
	}
	return q
}

func (l *list) older(cursor string) {
	if cursor != "" {
		l.Pager.Older = with(l.path, l.query, "cursor", cursor)
	}
}

type pager struct {
	First, Newer, Older string // "": no link
	Note                string // position in the list
}

func numbered(path string, q url.Values, page int, more bool) (p pager) {
	if page > 1 {
		p.Newer = with(path, q, "page", strconv.Itoa(page-1))
	}
	if more {
		p.Older = with(path, q, "page", strconv.Itoa(page+1))
	}
	return p
}

// with is the path and the query with the key set to the value; "" removes the key.
func with(path string, q url.Values, key, value string) string {
	q = maps.Clone(q)
	q.Del("said")
	q.Set(key, value)
	if value == "" {
		q.Del(key)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
