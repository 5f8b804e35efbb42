package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/core/policy"
)

// holdLimit locks what is remembered for a key until the transaction ends, and reads it, with the time after it was locked.
// Loosely is as for takeTokens.
func holdLimit(clock, loosely string) string {
	return "INSERT INTO limits (key, same, times, until) SELECT $1, '', $2, 0 " + loosely +
		" ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING same, times, " + clock
}

var errReached = errors.New("a limit is reached")

// CountCall counts a call for each limit, or for none if one is reached: then it returns the one with the longest wait. Else
// over is -1. The clock is the database's.
func (s *Store) CountCall(ctx context.Context, counts []policy.Count) (over int, wait time.Duration, err error) {
	counts = slices.Clone(counts)
	places := make(map[string]int, len(counts))
	for i, c := range counts {
		places[c.Key] = i
	}
	slices.SortFunc(counts, func(a, b policy.Count) int { return cmp.Compare(a.Key, b.Key) }) // who locks in one order never waits in a circle
	err = s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		held := make([]policy.Counted, len(counts))
		var now int64
		for i := range counts {
			var times []byte
			if err := tx.QueryRowContext(ctx, s.dialect.holdLimit, counts[i].Key, []byte{}).Scan(&held[i].Same, &times, &now); err != nil {
				return err
			}
			for ; len(times) >= 8; times = times[8:] {
				held[i].Times = append(held[i].Times, int64(binary.BigEndian.Uint64(times)))
			}
		}
		over, wait = policy.CountCall(counts, held, now)
		if over >= 0 {
			return errReached
		}
		for i := range counts {
			times := make([]byte, 0, 8*len(held[i].Times))
			for _, t := range held[i].Times {
				times = binary.BigEndian.AppendUint64(times, uint64(t))
			}
			const update = "UPDATE limits SET same = $1, times = $2, until = $3 WHERE key = $4"
			if _, err := tx.ExecContext(ctx, update, held[i].Same, times, held[i].Until, counts[i].Key); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errReached) {
		return places[counts[over].Key], wait, nil
	}
	return -1, 0, s.explain("count a call", err)
}

// TrimLimits deletes what no longer counts.
func (s *Store) TrimLimits(ctx context.Context) (deleted int64, err error) {
	deleted, err = s.exec(ctx, "DELETE FROM limits WHERE until <= "+s.dialect.now)
	return deleted, s.explain("trim limits", err)
}
