package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// where builds a WHERE from the conditions that are set; a condition too many could rule out an index.
type where struct {
	conditions []string
	args       []any
}

// is adds a condition that has no value.
func (w *where) is(condition string) { w.conditions = append(w.conditions, condition) }

// has adds a condition that ends with its value.
func (w *where) has(condition string, value any) { w.is(condition + " " + w.value(value)) }

// equals adds that a column equals the text; "" does not filter.
func (w *where) equals(column, text string) {
	if text != "" {
		w.has(column+" =", text)
	}
}

// either adds one of two conditions; nil does not filter.
func (w *where) either(which *bool, yes, no string) {
	switch {
	case which == nil:
	case *which:
		w.is(yes)
	default:
		w.is(no)
	}
}

// since and until compare a column with a time; the zero time does not filter.
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

// next is the WHERE; further conditions are those of another one in the same statement.
func (w *where) next() string {
	text := w.String()
	w.conditions = nil
	return text
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

// cursor is a position in a list sorted by time and then by id.
func cursor(at time.Time, id string) string { return fmt.Sprintf("%d.%s", micros(at), id) }

// parseCursor reverses cursor. "" is the beginning.
func parseCursor(text string) (at int64, id string, err error) {
	if text == "" {
		return 0, "", nil
	}
	number, id, found := strings.Cut(text, ".")
	at, err = strconv.ParseInt(number, 10, 64)
	if err != nil || !found {
		return 0, "", fault.New(fault.BadRequest, "%q is not a valid cursor", text).WithHint("give the one that came with the page before")
	}
	return at, id, nil
}

// before adds that a row is older than the cursor.
func (w *where) before(text, atColumn, idColumn string) error {
	at, id, err := parseCursor(text)
	if err != nil || text == "" {
		return err
	}
	w.is("(" + atColumn + ", " + idColumn + ") < (" + w.value(at) + ", " + w.value(id) + ")")
	return nil
}
