package store

import (
	"context"
)

// appendTries is one more than the connections of its pool: each of them may turn out
// to be gone.
const appendTries = appendConns + 1

// appendUnnest sends a batch of any size as one list per column, in one round trip. The
// statement is a transaction of its own.
const appendUnnest = `INSERT INTO calls (` + callColumns + `) SELECT * FROM unnest(
	$1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
	$11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
	$19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[],
	$28::bytea[])
	ON CONFLICT (id) DO NOTHING`

// appendPostgres tries again on another connection when one is lost: after a restart of
// the database all that are open are. To write a batch twice does no harm.
func (s *Store) appendPostgres(ctx context.Context, calls []Call) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	columns, _ := s.columns.Get().(*callLists)
	if columns == nil {
		columns = new(callLists)
	}
	defer s.columns.Put(columns)
	defer columns.clear() // keep the room, let go of the strings
	for i := range calls {
		columns.add(&calls[i], &s.opts)
	}
	args := columns.args()
	for try := 1; ; try++ {
		_, err := s.append.ExecContext(ctx, appendUnnest, args...)
		if err == nil || try == appendTries || !lostConn(err) || ctx.Err() != nil {
			return err
		}
	}
}

// callLists are the columns of a batch.
type callLists struct {
	text   [18][]string
	number [9][]int64
	sealed [][]byte // nil is NULL
}

func (l *callLists) add(c *Call, opts *Options) {
	for i, v := range [...]string{c.ID, c.Principal, c.Profile, c.Session, c.Agent, c.MCPSession, string(c.Server), string(c.Tool),
		c.Upstream, c.Outcome, c.Code, c.Message, c.Level, c.Repairs, c.Rule, c.Ref, c.Trace, c.Shadow} {
		l.text[i] = append(l.text[i], encodeText(v))
	}
	for i, v := range [...]int64{micros(c.At), c.Duration.Microseconds(), c.BytesIn, c.BytesFull, c.BytesSent,
		c.TokensIn, c.TokensFull, c.TokensSent, c.TokensShadow} {
		l.number[i] = append(l.number[i], v)
	}
	l.sealed = append(l.sealed, opts.sealArguments(c))
}

// args are in the order of callColumns: a text and a number, twelve texts and four numbers,
// five texts and four numbers, and what is sealed.
func (l *callLists) args() []any {
	args := make([]any, 0, numCallColumns)
	text, number := l.text[:], l.number[:]
	for _, run := range [][2]int{{1, 1}, {12, 4}, {5, 4}} {
		for _, list := range text[:run[0]] {
			args = append(args, list)
		}
		for _, list := range number[:run[1]] {
			args = append(args, list)
		}
		text, number = text[run[0]:], number[run[1]:]
	}
	return append(args, l.sealed)
}

func (l *callLists) clear() {
	for i := range l.text {
		clear(l.text[i])
		l.text[i] = l.text[i][:0]
	}
	for i := range l.number {
		l.number[i] = l.number[i][:0]
	}
	clear(l.sealed)
	l.sealed = l.sealed[:0]
}
