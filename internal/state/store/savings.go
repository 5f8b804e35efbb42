package store

import (
	"context"
	"fmt"
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

// microsPerDay divides a time into days.
const microsPerDay = 24 * int64(time.Hour/time.Microsecond)

// savingColumns are the expressions to sum by.
var savingColumns = map[SavingKey]string{ByTool: "tool", ByProfile: "profile", ByRule: "rule", ByDay: fmt.Sprint("at / ", microsPerDay)}

// Savings sums the calls since the given time, ordered by key. By rule there are also rows for rules
// in shadow, whose calls are in other rows too. It reads all calls: it is for reports.
func (s *Store) Savings(ctx context.Context, by SavingKey, since time.Time) ([]Saving, error) {
	column := savingColumns[by]
	if column == "" {
		return nil, fault.New(fault.BadRequest, "calls are not summed by %q", string(by)).WithHint("use tool, profile, rule or day")
	}
	var w where
	w.span(&CallFilter{Since: since})
	savings, err := s.sum(ctx, by, column, "tokens_sent", &w)
	if err != nil || by != ByRule {
		return savings, err
	}
	w.is("shadow <> ''")
	shadows, err := s.sum(ctx, by, "shadow", "tokens_shadow", &w)
	for i := range shadows {
		shadows[i].Shadow = true
	}
	return append(savings, shadows...), err
}

// sum adds up the calls that have one key.
func (s *Store) sum(ctx context.Context, by SavingKey, column, sent string, w *where) ([]Saving, error) {
	query := "SELECT " + column + `, count(*), CAST(sum(bytes_in) AS BIGINT), CAST(sum(bytes_full) AS BIGINT), CAST(sum(bytes_sent) AS BIGINT),
		CAST(sum(tokens_in) AS BIGINT), CAST(sum(tokens_full) AS BIGINT), CAST(sum(` + sent + `) AS BIGINT)
		FROM calls` + w.String() + " GROUP BY 1 ORDER BY 1"
	read := func(scan scanner, v *Saving) error {
		var day int64
		key := any(&v.Key)
		if by == ByDay {
			key = &day
		}
		err := scan(key, &v.Calls, &v.BytesIn, &v.BytesFull, &v.BytesSent, &v.TokensIn, &v.TokensFull, &v.TokensSent)
		if by == ByDay {
			v.Key = time.UnixMicro(day * microsPerDay).UTC().Format(time.DateOnly)
		}
		return err
	}
	return list(ctx, s, "sum calls", read, query, w.args...)
}
