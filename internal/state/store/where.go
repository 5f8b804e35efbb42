package store

import (
	"fmt"
	"strings"
	"time"
)

// where puts a WHERE together from the conditions that are asked for. Those that are not
// are left out, so that an index fits.
type where struct {
	conditions []string
	args       []any
}

// is adds a condition that has no value.
func (w *where) is(condition string) { w.conditions = append(w.conditions, condition) }

// has adds a condition that ends with its value.
func (w *where) has(condition string, value any) { w.is(condition + " " + w.value(value)) }

// equals adds that a column has this text; "" does not filter.
func (w *where) equals(column, text string) {
	if text != "" {
		w.has(column+" =", text)
	}
}

// since and until add that a column has this time, or a later or an earlier one; the zero time
// does not filter.
func (w *where) since(column string, t time.Time) {
	if !t.IsZero() {
		w.has(column+" >=", micros(t))
	}
}

func (w *where) until(column string, t time.Time) {
	if !t.IsZero() {
		w.has(column+" <=", micros(t))
	}
}

// value returns the placeholder of a value.
func (w *where) value(v any) string {
	w.args = append(w.args, v)
	return fmt.Sprintf("$%d", len(w.args))
}

// String is the WHERE, nothing when there is no condition.
func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// limit is the number of rows of a page.
func (w *where) limit(asked int) string { return " LIMIT " + w.value(pageLimit(asked)) }

// pageLimit is how many a page has when so many are asked for.
func pageLimit(asked int) int {
	if asked <= 0 {
		asked = 100
	}
	return min(asked, 1000)
}
