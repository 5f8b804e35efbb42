package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// LeaseSink makes a gateway the one that sends to a sink, for so long. It returns the number of the last record that
// the sink has acknowledged. False: it is another gateway's turn.
func (s *Store) LeaseSink(ctx context.Context, sink, gateway string, lease time.Duration) (position int64, ok bool, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	now := s.opts.Now()
	const take = `INSERT INTO audit_sinks (name, position, lease_by, lease_until) VALUES ($1, 0, $2, $3)
		ON CONFLICT (name) DO UPDATE SET lease_by = excluded.lease_by, lease_until = excluded.lease_until
			WHERE audit_sinks.lease_by = excluded.lease_by OR audit_sinks.lease_until <= $4
		RETURNING position`
	err = s.write.QueryRowContext(ctx, take, sink, gateway, micros(now.Add(lease)), micros(now)).Scan(&position)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return position, err == nil, s.explain("lease a sink", err)
}

// SentTo stores that a sink has acknowledged the records up to a number, and ends the turn of the gateway, if it has
// not ended before.
func (s *Store) SentTo(ctx context.Context, sink, gateway string, position int64) error {
	const end = "UPDATE audit_sinks SET position = $1, lease_until = 0 WHERE name = $2 AND lease_by = $3"
	_, err := s.exec(ctx, end, position, sink, gateway)
	return s.explain("store what was sent to a sink", err)
}
