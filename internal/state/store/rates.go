package store

import (
	"context"
	"time"
)

// Tokens are a bucket that gateways share: each request takes one, and each comes back after a while.
type Tokens struct {
	Every time.Duration // one comes back
	Burst int           // in a full bucket
}

// takeTokens takes from a caller's bucket, which is full when there is no row. Of the extra tokens it takes at most a
// quarter of what is left. The row has what was taken, since only a new row can be returned. Loosely is what makes
// the database not wait for its disk: after a crash all buckets may be full.
func takeTokens(now, loosely string) string {
	return `INSERT INTO rates (caller, full_at, taken)
		SELECT $1, ` + now + ` + (CAST($2 AS BIGINT) + CAST($3 AS BIGINT)) * CAST($4 AS BIGINT), $2 + $3 ` + loosely + `
		ON CONFLICT (caller) DO UPDATE SET (full_at, taken) = (SELECT start + got * $4, got FROM (
			SELECT start, CASE WHEN has < $2 THEN 0 WHEN (has - $2) / 4 < $3 THEN $2 + (has - $2) / 4 ELSE $2 + $3 END AS got FROM (
				SELECT start, CAST($5 AS BIGINT) - (start - ` + now + ` + $4 - 1) / $4 AS has FROM (
					SELECT CASE WHEN rates.full_at > ` + now + ` THEN rates.full_at ELSE ` + now + ` END AS start) AS a) AS b) AS c)
		RETURNING taken, full_at - ` + now
}

// TakeTokens takes need tokens of a caller, and up to so many extra ones if many are left; or none, if there are not
// enough. It also returns after which time all would be back. The clock is the database's.
func (s *Store) TakeTokens(ctx context.Context, caller string, of Tokens, need, extra int) (got int, full time.Duration, err error) {
	every := max(1, of.Every.Nanoseconds())
	extra = min(extra, (of.Burst-need)/4)
	row := s.write.QueryRowContext(ctx, s.dialect.takeTokens, caller, int64(need), int64(max(0, extra)), every, int64(of.Burst))
	err = row.Scan(&got, &full)
	if err == nil {
		err = s.intact()
	}
	return got, full, s.explain("take tokens", err)
}

// TrimRates deletes what is known of callers whose tokens are all back.
func (s *Store) TrimRates(ctx context.Context) (deleted int64, err error) {
	deleted, err = s.exec(ctx, "DELETE FROM rates WHERE full_at <= "+s.dialect.now)
	return deleted, s.explain("trim rates", err)
}
