package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// NarrowToTool sets the cursors of a filter for a tool closer: to where its newest call before them may be, and where its oldest one
// is. None tells that there is no such call. Calls have no index by tool; the sums tell in which spans it was called.
func (s *Store) NarrowToTool(ctx context.Context, f *CallFilter) (none bool, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	tx, err := s.snapshot(ctx)
	if err != nil {
		return false, s.explain("find calls of a tool", err)
	}
	defer rollback(tx) // nothing to lose
	none, err = f.narrow(ctx, tx)
	return none, s.explain("find calls of a tool", err)
}

func (f *CallFilter) narrow(ctx context.Context, tx *sql.Tx) (none bool, err error) {
	var end, newest string
	if err := tx.QueryRowContext(ctx, "SELECT id FROM sums_end").Scan(&end); err != nil {
		return false, err
	}
	after, before := f.IDs()
	var w where
	w.has("id >", max(end, after))
	if before != "" {
		w.has("id <", before)
	}
	w.equals("tool", f.Tool)
	err = tx.QueryRowContext(ctx, "SELECT coalesce(max(id), '') FROM calls"+w.String(), w.args...).Scan(&newest)
	if err != nil {
		return false, err
	}
	var spans where
	spans.equals("tool", f.Tool)
	spans.is("calls > 0")
	if at, ok := timeOfID(before); ok {
		spans.has("span <=", micros(at.Add(idSlack))/microsPerSpan)
	}
	var first, last sql.NullInt64
	err = tx.QueryRowContext(ctx, "SELECT min(span), max(span) FROM savings"+spans.String(), spans.args...).Scan(&first, &last)
	if err != nil || newest == "" && !last.Valid {
		return err == nil, err
	}
	switch {
	case newest != "":
		before = newest + "0" // the next text
	default:
		before = earlier(before, string(AppendCallTime(nil, time.UnixMicro((last.Int64+1)*microsPerSpan).Add(idSlack))))
	}
	f.Before = earlier(f.Before, before)
	if first.Valid {
		f.After = max(f.After, string(AppendCallTime(nil, time.UnixMicro(first.Int64*microsPerSpan).Add(-idSlack))))
	} else {
		f.After = max(f.After, end)
	}
	return false, nil
}

// earlier is the lower of two upper bounds; "" is none.
func earlier(x, y string) string {
	if x == "" || y == "" {
		return max(x, y)
	}
	return min(x, y)
}

// timeOfID is the time in a call's id, or in the beginning of one.
func timeOfID(id string) (time.Time, bool) {
	if len(id) < len("c_")+timeDigits {
		return time.Time{}, false
	}
	var us int64
	for _, c := range []byte(id[len("c_") : len("c_")+timeDigits]) {
		digit := strings.IndexByte(digits, c)
		if digit < 0 {
			return time.Time{}, false
		}
		us = us<<5 | int64(digit)
	}
	return time.UnixMicro(us), true
}
