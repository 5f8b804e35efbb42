package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

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

// appendSQL inserts n calls. Those already stored are skipped, so that a batch can be sent again.
func (s *Store) appendSQL(n int) string {
	return s.insertSQL("calls ("+callColumns+")", n, len(newCallRow().values)) + " ON CONFLICT (id) DO NOTHING"
}

// AppendCalls stores the calls, all or none. It is the hot path: callers should pass many at once.
func (s *Store) AppendCalls(ctx context.Context, calls []Call) error {
	if len(calls) == 0 {
		return nil
	}
	if err := s.dialect.appendCalls(s, ctx, calls, s.lateCalls(calls)); err != nil {
		return s.explain("append calls", err)
	}
	size := 0
	for i := range calls {
		size += calls[i].size()
	}
	s.recordsGrown.add(size)
	return nil
}

// appendSQLite stores a batch in one transaction.
func (s *Store) appendSQLite(ctx context.Context, calls []Call, late []any) error {
	return s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if len(late) == 0 {
			return s.insertCalls(ctx, tx, calls)
		}
		return s.insertLate(ctx, tx, late, func() error { return s.insertCalls(ctx, tx, calls) })
	})
}

// insertCalls puts the batch together from the prepared inserts.
func (s *Store) insertCalls(ctx context.Context, tx *sql.Tx, calls []Call) error {
	batch := s.batches.Get().(*callBatch)
	defer s.batches.Put(batch)
	defer func() { clear(batch.args) }() // keep the room, let go of the strings
	for _, a := range s.inserts {
		if len(calls) < a.rows {
			continue
		}
		stmt := tx.StmtContext(ctx, a.stmt)
		for ; len(calls) >= a.rows; calls = calls[a.rows:] {
			batch.args = batch.args[:0]
			for i := range a.rows {
				batch.row.set(&calls[i], &s.opts)
				batch.args = batch.row.appendTo(batch.args)
			}
			if _, err := stmt.ExecContext(ctx, batch.args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendTo appends the values themselves.
func (r *callRow) appendTo(args []any) []any {
	for _, value := range r.values {
		switch value := value.(type) {
		case *string:
			args = append(args, *value)
		case *int64:
			args = append(args, *value)
		case *[]byte:
			args = append(args, *value)
		}
	}
	return args
}

// appendTries is one more than the connections of its pool: each of them may be dead.
const appendTries = appendConns + 1

// appendUnnest sends a batch of any size as one list per column, in one round trip. Only where records
// are durable it waits for the disk. appendTold tells the others too, with one more parameter.
var (
	appendUnnest = map[bool]string{false: unnestSQL("off", ""), true: unnestSQL("on", "")}
	appendTold   = map[bool]string{false: unnestSQL("off", tellCalls), true: unnestSQL("on", tellCalls)}
	tellCalls    = fmt.Sprintf(", pg_notify(%s, $%d)", ourChannel, len(newCallRow().values)+1)
)

func unnestSQL(synchronous, tell string) string {
	var lists []string
	for i, value := range newCallRow().values {
		kind := "text"
		switch value.(type) {
		case *int64:
			kind = "bigint"
		case *[]byte:
			kind = "bytea"
		}
		lists = append(lists, fmt.Sprintf("$%d::%s[]", i+1, kind))
	}
	return "INSERT INTO calls (" + callColumns + ") SELECT given.* FROM unnest(" + strings.Join(lists, ", ") + ") AS given, " +
		"(SELECT set_config('synchronous_commit', '" + synchronous + "', true)" + tell + ") AS setting ON CONFLICT (id) DO NOTHING"
}

// appendPostgres sends the batch. Where records are durable, calls wait for it.
func (s *Store) appendPostgres(ctx context.Context, calls []Call, late []any) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	batch := s.batches.Get().(*callBatch)
	defer s.batches.Put(batch)
	defer batch.clearLists()
	for i := range calls {
		batch.row.set(&calls[i], &s.opts)
		batch.addToLists()
	}
	if s.opts.Durable {
		return s.whileCalled(ctx, 0, func(ctx context.Context) error { return s.appendAgain(ctx, batch, late) })
	}
	return s.appendAgain(ctx, batch, late)
}

// appendAgain retries on another connection when one is lost, as all are when the database
// restarts. Writing a batch twice does no harm.
func (s *Store) appendAgain(ctx context.Context, batch *callBatch, late []any) error {
	for try := 1; ; try++ {
		err := s.appendOnce(ctx, batch, late)
		if err == nil || try == appendTries || !lostConn(err) || ctx.Err() != nil {
			return err
		}
	}
}

func (s *Store) appendOnce(ctx context.Context, batch *callBatch, late []any) error {
	insert := appendUnnest[s.opts.Durable]
	args := batch.args
	if s.Wanted(CallsTable) {
		insert = appendTold[s.opts.Durable]
		args = append(args[:len(args):len(args)], CallsTable+" "+tellIDs(*args[0].(*[]string)))
	}
	if len(late) == 0 {
		_, err := s.append.ExecContext(ctx, insert, args...)
		return err
	}
	return s.transact(ctx, s.append, func(ctx context.Context, tx *sql.Tx) error {
		return s.insertLate(ctx, tx, late, func() error {
			_, err := tx.ExecContext(ctx, insert, args...)
			return err
		})
	})
}

// addToLists adds the row's values to the lists of their columns.
func (b *callBatch) addToLists() {
	if b.args == nil {
		b.args = make([]any, len(b.row.values))
	}
	for i, value := range b.row.values {
		switch value := value.(type) {
		case *string:
			addToList(&b.args[i], encodeText(*value))
		case *int64:
			addToList(&b.args[i], *value)
		case *[]byte:
			addToList(&b.args[i], *value)
		}
	}
}

func addToList[T any](to *any, value T) {
	list, _ := (*to).(*[]T)
	if list == nil {
		list = new([]T)
		*to = list
	}
	*list = append(*list, value)
}

// clearLists keeps the capacity and releases the values.
func (b *callBatch) clearLists() {
	for _, list := range b.args {
		switch list := list.(type) {
		case *[]string:
			clear(*list)
			*list = (*list)[:0]
		case *[]int64:
			*list = (*list)[:0]
		case *[][]byte:
			clear(*list)
			*list = (*list)[:0]
		}
	}
}
