package store

import (
	"context"
	"database/sql"
	"fmt"
)

// briefColumns are the columns of calls that every reader wants, callColumns are all, in the
// order of bindCall and scanCall.
const briefColumns = `id, at, principal, profile, session, agent, mcp_session, server, tool, upstream,
	outcome, code, message, level, duration, bytes_in, bytes_full, bytes_sent,
	repairs, rule, ref, trace, shadow, tokens_in, tokens_full, tokens_sent, tokens_shadow`

const callColumns = briefColumns + ", arguments"

const numCallColumns = 28

// insertStmt inserts a fixed number of calls at once.
type insertStmt struct {
	rows int
	stmt *sql.Stmt
}

// prepareAppend prepares the inserts that AppendCalls puts a batch together from.
func (s *Store) prepareAppend(ctx context.Context) error {
	for _, rows := range []int{64, 8, 1} {
		stmt, err := s.write.PrepareContext(ctx, s.appendSQL(rows))
		if err != nil {
			return fmt.Errorf("prepare insert of %d calls: %w", rows, err)
		}
		s.inserts = append(s.inserts, insertStmt{rows, stmt})
	}
	return nil
}

// appendSQL is the insert of n rows. A call that is stored already is left alone, so
// that a writer may send a batch again when it cannot know whether the first try was
// committed.
func (s *Store) appendSQL(n int) string {
	return s.insertSQL("calls ("+callColumns+")", n, numCallColumns) + " ON CONFLICT (id) DO NOTHING"
}

// AppendCalls stores the calls, all of them or none. It is the store's hot path:
// callers should bring many at once.
func (s *Store) AppendCalls(ctx context.Context, calls []Call) error {
	if len(calls) == 0 {
		return nil
	}
	if err := s.dialect.appendCalls(s, ctx, calls); err != nil {
		return s.explain("append calls", err)
	}
	size := 0
	for i := range calls {
		size += calls[i].size()
	}
	s.recordsGrown.add(size)
	return nil
}

// appendSQLite puts the batch together from the prepared inserts.
func (s *Store) appendSQLite(ctx context.Context, calls []Call) error {
	args, _ := s.args.Get().(*[]any)
	if args == nil {
		args = new([]any)
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		for _, a := range s.inserts {
			if len(calls) < a.rows {
				continue
			}
			stmt := tx.StmtContext(ctx, a.stmt)
			for ; len(calls) >= a.rows; calls = calls[a.rows:] {
				*args = (*args)[:0]
				for i := range a.rows {
					*args = s.bindCall(*args, &calls[i])
				}
				if _, err := stmt.ExecContext(ctx, *args...); err != nil {
					return err
				}
			}
		}
		return nil
	})
	clear(*args) // keep the room, let go of the strings
	s.args.Put(args)
	return err
}

func (s *Store) bindCall(args []any, c *Call) []any {
	return append(args, c.ID, micros(c.At), c.Principal, c.Profile, c.Session, c.Agent, c.MCPSession,
		string(c.Server), string(c.Tool), c.Upstream, c.Outcome, c.Code, c.Message, c.Level,
		c.Duration.Microseconds(), c.BytesIn, c.BytesFull, c.BytesSent,
		c.Repairs, c.Rule, c.Ref, c.Trace, c.Shadow, c.TokensIn, c.TokensFull, c.TokensSent, c.TokensShadow, s.opts.sealArguments(c))
}
