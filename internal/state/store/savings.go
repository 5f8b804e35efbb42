package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// SavingKey is what calls are summed by.
type SavingKey string

const (
	ByTool    SavingKey = "tool"
	ByProfile SavingKey = "profile"
	ByRule    SavingKey = "rule"
	ByDay     SavingKey = "day" // in UTC, such as 2026-01-31
)

// Saving is the sum over the calls that have one key. Tokens are estimates.
type Saving struct {
	Key                              string
	Calls                            int64
	BytesIn, BytesFull, BytesSent    int64
	TokensIn, TokensFull, TokensSent int64
	Shadow                           bool // the key is of a rule in shadow, and sent is what it would have left
}

// savingColumns are the expressions to sum by.
var savingColumns = map[SavingKey]string{ByTool: "tool", ByProfile: "profile", ByRule: "rule", ByDay: fmt.Sprint("span / ", spansPerDay)}

// Savings sums the calls since the given time, ordered by key. By rule there are also rows for rules
// in shadow, whose calls are in other rows too. It reads the sums of whole spans, and only those calls
// that make a difference to them.
func (s *Store) Savings(ctx context.Context, by SavingKey, since time.Time) ([]Saving, error) {
	column := savingColumns[by]
	if column == "" {
		return nil, fault.New(fault.BadRequest, "calls are not summed by %q", string(by)).WithHint("use tool, profile, rule or day")
	}
	shadow := "''"
	if by == ByRule {
		shadow = "shadow"
	}
	parts, args := sumParts(since)
	query := "SELECT " + column + ", " + shadow + ", CAST(sum(calls) AS BIGINT)"
	for _, name := range sumValues {
		query += ", CAST(sum(" + name + ") AS BIGINT)"
	}
	query += " FROM (" + parts + ") AS parts GROUP BY 1, 2 HAVING sum(calls) > 0"
	sums := map[Saving]*Saving{} // by key and shadow
	read := func(scan scanner, v *Saving) error {
		var day, left int64
		var shadow string
		key := any(&v.Key)
		if by == ByDay {
			key = &day
		}
		err := scan(key, &shadow, &v.Calls, &v.BytesIn, &v.BytesFull, &v.BytesSent, &v.TokensIn, &v.TokensFull, &v.TokensSent, &left)
		if by == ByDay {
			v.Key = time.UnixMicro(day * spansPerDay * microsPerSpan).UTC().Format(time.DateOnly)
		}
		v.addTo(sums)
		if shadow != "" {
			v.Key = shadow
			v.Shadow = true
			v.TokensSent = left
			v.addTo(sums)
		}
		return err
	}
	if _, err := list(ctx, s, "sum calls", read, query, args...); err != nil {
		return nil, err
	}
	return sorted(sums), nil
}

// addTo adds the sum to that of the same key.
func (v *Saving) addTo(sums map[Saving]*Saving) {
	at := Saving{Key: v.Key, Shadow: v.Shadow}
	sum := sums[at]
	if sum == nil {
		sum = &Saving{Key: v.Key, Shadow: v.Shadow}
		sums[at] = sum
	}
	sum.Calls += v.Calls
	sum.BytesIn += v.BytesIn
	sum.BytesFull += v.BytesFull
	sum.BytesSent += v.BytesSent
	sum.TokensIn += v.TokensIn
	sum.TokensFull += v.TokensFull
	sum.TokensSent += v.TokensSent
}

// sorted are the sums by key, those of rules in shadow last.
func sorted(sums map[Saving]*Saving) []Saving {
	var all []Saving
	for _, sum := range sums {
		all = append(all, *sum)
	}
	slices.SortFunc(all, func(x, y Saving) int {
		switch {
		case x.Shadow == y.Shadow:
			return strings.Compare(x.Key, y.Key)
		case y.Shadow:
			return -1
		}
		return 1
	})
	return all
}

// sumParts are the sums of the spans since a time, the calls after the sums, and the summed calls between
// the time and the nearer end of its span.
func sumParts(since time.Time) (query string, args []any) {
	const summed = "(SELECT id FROM sums_end)"
	columns := strings.Join(sumKeys, ", ")
	calls := func(sign string) string {
		text := fmt.Sprint(" UNION ALL SELECT at / ", microsPerSpan, ", ", sign, "1, ", columns)
		for _, name := range sumValues {
			text += ", " + sign + name
		}
		return text + " FROM calls"
	}
	var w where
	begin := since.Truncate(sumSpan)
	end := begin.Add(sumSpan)
	first := micros(begin) / microsPerSpan
	less := since.Sub(begin) <= sumSpan/2 // there is less to take out of the span than to add from it
	if !less {
		first++
	}
	if !since.IsZero() {
		w.has("span >=", first)
	}
	query = "SELECT span, calls, " + columns + ", " + strings.Join(sumValues, ", ") + " FROM savings" + w.next()
	w.is("id > " + summed)
	w.since("at", since)
	query += calls("") + w.next()
	if since.IsZero() || since.Equal(begin) {
		return query, w.args
	}
	w.is("NOT id > " + summed) // as no bound of the index: SQLite would take only this one
	if less {
		w.has("at <", micros(since))
		w.span(&CallFilter{Since: begin, Until: since})
		return query + calls("-") + w.next(), w.args
	}
	w.has("at <", micros(end))
	w.span(&CallFilter{Since: since, Until: end})
	return query + calls("") + w.next(), w.args
}
