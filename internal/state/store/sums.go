package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

const (
	// sumAge is how old calls are when they are summed, lateAge how old the id of one that comes now must be
	// to be among these. Between the two is more time than a method has.
	sumAge  = 2 * time.Minute
	lateAge = time.Minute
	// sumPage is how many calls one transaction sums, so that appending does not wait long.
	sumPage = 5000

	// A span is what is summed to one row. There are few enough in a month, and few enough calls in one.
	sumSpan       = 20 * time.Minute
	microsPerSpan = int64(sumSpan / time.Microsecond)
	spansPerDay   = int64(24 * time.Hour / sumSpan)
)

var (
	sumKeys   = []string{"tool", "profile", "rule", "shadow"}
	sumValues = []string{"bytes_in", "bytes_full", "bytes_sent", "tokens_in", "tokens_full", "tokens_sent", "tokens_shadow"}
)

// sumSQL adds calls to the sums, or takes them out: sign is +1 or -1.
func sumSQL(sign, condition string) string {
	columns := "span, " + strings.Join(sumKeys, ", ")
	from := fmt.Sprint("at / ", microsPerSpan, ", ", strings.Join(sumKeys, ", "))
	add := "calls = savings.calls + excluded.calls"
	values := ", " + sign + " * count(*)"
	for _, name := range sumValues {
		values += ", " + sign + " * sum(" + name + ")"
		add += ", " + name + " = savings." + name + " + excluded." + name
	}
	return "INSERT INTO savings (" + columns + ", calls, " + strings.Join(sumValues, ", ") + ") SELECT " + from + values +
		" FROM calls WHERE " + condition + " GROUP BY 1, 2, 3, 4, 5 ON CONFLICT (" + columns + ") DO UPDATE SET " + add
}

// lockSums keeps others from changing the sums until the transaction ends, and returns where they end.
func (s *Store) lockSums(ctx context.Context, tx *sql.Tx) (end string, err error) {
	err = tx.QueryRowContext(ctx, "UPDATE sums_end SET id = id RETURNING id").Scan(&end)
	if at, ok := timeOfID(end); ok {
		s.summedUpTo.Store(micros(at))
	}
	return end, err
}

// SumCalls adds the calls that have come since to the sums from which Savings and Activity are read.
func (s *Store) SumCalls(ctx context.Context) error {
	young := string(AppendCallTime(nil, s.opts.Now().Add(-sumAge)))
	for {
		var n int64
		err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
			end, err := s.lockSums(ctx, tx)
			if err != nil {
				return err
			}
			const page = `SELECT count(*), coalesce(max(id), '') FROM
				(SELECT id FROM calls WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS page`
			var last string
			if err := tx.QueryRowContext(ctx, page, end, young, sumPage).Scan(&n, &last); err != nil || n == 0 {
				return err
			}
			if _, err := tx.ExecContext(ctx, sumSQL("1", "id > $1 AND id <= $2"), end, last); err != nil {
				return err
			}
			if err := s.countSpans(ctx, tx, "", "id > $1 AND id <= $2", end, last); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "UPDATE sums_end SET id = $1", last)
			return err
		})
		if err != nil || n < sumPage {
			return s.explain("sum calls", err)
		}
	}
}

// countSpans adds calls to the counts of Activity, or takes them out: sign is "" or "-".
func (s *Store) countSpans(ctx context.Context, tx *sql.Tx, sign, condition string, args ...any) error {
	for _, t := range []countTable{activityTable, toolTable} {
		query, args := t.addSQL(sign, condition, args, s.opts.Now())
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// lateCalls are the ids of calls that may be among those that are summed already. Where the clock of another gateway is ahead, or ours
// was, the sums reach further than our clock says; they were looked at a minute ago at most, and have grown by no more since.
func (s *Store) lateCalls(calls []Call) (ids []any) {
	var b [len("c_") + timeDigits]byte
	from := s.opts.Now().Add(-lateAge)
	if summed := time.UnixMicro(s.summedUpTo.Load()).Add(lateAge); summed.After(from) {
		from = summed
	}
	young := AppendCallTime(b[:0], from)
	for i := range calls {
		if calls[i].ID < string(young) {
			ids = append(ids, calls[i].ID)
		}
	}
	return ids
}

// insertLate inserts calls of which some are late. What is there of these already is taken out of the sums
// and added again with them.
func (s *Store) insertLate(ctx context.Context, tx *sql.Tx, late []any, insert func() error) error {
	end, err := s.lockSums(ctx, tx)
	if err != nil {
		return err
	}
	var summed []any
	for _, id := range late {
		if id.(string) <= end {
			summed = append(summed, id)
		}
	}
	if err := s.addSums(ctx, tx, "-", summed); err != nil {
		return err
	}
	if err := insert(); err != nil {
		return err
	}
	return s.addSums(ctx, tx, "", summed)
}

func (s *Store) addSums(ctx context.Context, tx *sql.Tx, sign string, ids []any) error {
	for len(ids) > 0 {
		var w where
		var places []string
		for _, id := range ids[:min(len(ids), 500)] {
			places = append(places, w.value(id))
		}
		ids = ids[len(places):]
		condition := "id IN (" + strings.Join(places, ", ") + ")"
		if _, err := tx.ExecContext(ctx, sumSQL(sign+"1", condition), w.args...); err != nil {
			return err
		}
		if err := s.countSpans(ctx, tx, sign, condition, w.args...); err != nil {
			return err
		}
	}
	return nil
}

// deleteCalls deletes calls, and takes them out of the savings. They stay in the counts of Activity.
func (s *Store) deleteCalls(ctx context.Context, condition string, args ...any) (deleted int64, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		end, err := s.lockSums(ctx, tx)
		if err != nil {
			return err
		}
		sums := sumSQL("-1", fmt.Sprintf("%s AND id <= $%d", condition, len(args)+1))
		if _, err := tx.ExecContext(ctx, sums, append(args[:len(args):len(args)], end)...); err != nil {
			return err
		}
		const old = "DELETE FROM savings WHERE calls = 0 AND span <= (SELECT at / %d FROM calls ORDER BY id LIMIT 1)"
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(old, microsPerSpan)); err != nil {
			return err
		}
		deleted, err = affected(tx.ExecContext(ctx, "DELETE FROM calls WHERE "+condition, args...))
		return err
	})
	return deleted, err
}
