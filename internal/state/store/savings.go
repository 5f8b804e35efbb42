package store

import (
	"context"
	"fmt"
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

// hoursPerDay divides the hours of the sums into days.
const hoursPerDay = 24

// savingColumns are the expressions to sum by.
var savingColumns = map[SavingKey]string{ByTool: "tool", ByProfile: "profile", ByRule: "rule", ByDay: fmt.Sprint("hour / ", hoursPerDay)}

// Savings sums the calls since the given time, ordered by key. By rule there are also rows for rules
// in shadow, whose calls are in other rows too. It reads the sums of whole hours, and only the calls that
// are in none of these.
func (s *Store) Savings(ctx context.Context, by SavingKey, since time.Time) ([]Saving, error) {
	column := savingColumns[by]
	if column == "" {
		return nil, fault.New(fault.BadRequest, "calls are not summed by %q", string(by)).WithHint("use tool, profile, rule or day")
	}
	savings, err := s.sum(ctx, by, column, "tokens_sent", "", since)
	if err != nil || by != ByRule {
		return savings, err
	}
	shadows, err := s.sum(ctx, by, "shadow", "tokens_shadow", " WHERE shadow <> ''", since)
	for i := range shadows {
		shadows[i].Shadow = true
	}
	return append(savings, shadows...), err
}

// sum adds up the calls that have one key.
func (s *Store) sum(ctx context.Context, by SavingKey, column, sent, condition string, since time.Time) ([]Saving, error) {
	parts, args := sumParts(since)
	query := "SELECT " + column + `, CAST(sum(calls) AS BIGINT), CAST(sum(bytes_in) AS BIGINT), CAST(sum(bytes_full) AS BIGINT),
		CAST(sum(bytes_sent) AS BIGINT), CAST(sum(tokens_in) AS BIGINT), CAST(sum(tokens_full) AS BIGINT), CAST(sum(` + sent + `) AS BIGINT)
		FROM (` + parts + ") AS parts" + condition + " GROUP BY 1 HAVING sum(calls) > 0 ORDER BY 1"
	read := func(scan scanner, v *Saving) error {
		var day int64
		key := any(&v.Key)
		if by == ByDay {
			key = &day
		}
		err := scan(key, &v.Calls, &v.BytesIn, &v.BytesFull, &v.BytesSent, &v.TokensIn, &v.TokensFull, &v.TokensSent)
		if by == ByDay {
			v.Key = time.UnixMicro(day * hoursPerDay * microsPerHour).UTC().Format(time.DateOnly)
		}
		return err
	}
	return list(ctx, s, "sum calls", read, query, args...)
}

// sumParts are the sums of the whole hours since a time, the calls after the sums, and the summed ones of
// the hour in which the time is.
func sumParts(since time.Time) (query string, args []any) {
	const summed = "(SELECT id FROM savings_end)"
	hour := (micros(since) + microsPerHour - 1) / microsPerHour
	columns := strings.Join(sumKeys, ", ") + ", " + strings.Join(sumValues, ", ")
	calls := fmt.Sprint(" UNION ALL SELECT at / ", microsPerHour, ", 1, ", columns, " FROM calls")
	var w where
	if !since.IsZero() {
		w.has("hour >=", hour)
	}
	query = "SELECT hour, calls, " + columns + " FROM savings" + w.next()
	w.is("id > " + summed)
	w.span(&CallFilter{Since: since})
	query += calls + w.next()
	if end := fromMicros(hour * microsPerHour); end.After(since) && !since.IsZero() {
		w.is("id <= " + summed)
		w.has("at <", micros(end))
		w.span(&CallFilter{Since: since, Until: end})
		query += calls + w.next()
	}
	return query, w.args
}
