package store

import (
	"context"
	"fmt"
	"strings"
)

// appendTries is one more than the connections of its pool: each of them may turn out
// to be gone.
const appendTries = appendConns + 1

// appendUnnest sends a batch of any size as one list per column, in one round trip. The
// statement is a transaction of its own.
var appendUnnest = unnestSQL()

func unnestSQL() string {
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
	return "INSERT INTO calls (" + callColumns + ") SELECT * FROM unnest(" + strings.Join(lists, ", ") + ") ON CONFLICT (id) DO NOTHING"
}

// appendPostgres tries again on another connection when one is lost: after a restart of
// the database all that are open are. To write a batch twice does no harm.
func (s *Store) appendPostgres(ctx context.Context, calls []Call) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	batch := s.batches.Get().(*callBatch)
	defer s.batches.Put(batch)
	defer batch.clearLists()
	for i := range calls {
		batch.row.set(&calls[i], &s.opts)
		batch.addToLists()
	}
	for try := 1; ; try++ {
		_, err := s.append.ExecContext(ctx, appendUnnest, batch.args...)
		if err == nil || try == appendTries || !lostConn(err) || ctx.Err() != nil {
			return err
		}
	}
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

// clearLists keeps the room and lets go of the values.
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
