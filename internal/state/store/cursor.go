package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// cursor names a place in a list that is sorted by time and then by id.
func cursor(at time.Time, id string) string { return fmt.Sprintf("%d.%s", micros(at), id) }

// parseCursor is the way back. "" is the place before the first of the newest.
func parseCursor(text string) (at int64, id string, err error) {
	if text == "" {
		return 0, "", nil
	}
	number, id, found := strings.Cut(text, ".")
	at, err = strconv.ParseInt(number, 10, 64)
	if err != nil || !found {
		return 0, "", fault.New(fault.BadRequest, "%q is no place in the list", text).WithHint("give the one that came with the page before")
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
