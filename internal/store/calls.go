package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
)

// Call is the record of one tool call.
type Call struct {
	ID         string    // sorts by time as text
	At         time.Time // when it began; kept to the microsecond
	Principal  string
	Profile    string
	Session    string
	Agent      string
	MCPSession string
	Server     tool.ServerID
	Tool       tool.Name // canonical
	Upstream   string    // the server's own name for the tool
	Outcome    string    // ok, tool_error, error or canceled
	Code       string    // the fault's code, where there is one
	Message    string
	Level      string        // error, warn or info
	Duration   time.Duration // kept to the microsecond
	BytesIn    int64         // arguments
	BytesFull  int64         // the upstream's result
	BytesSent  int64         // what the caller got of it
}

// CallFilter chooses calls; a zero field does not filter.
type CallFilter struct {
	Principal string
	Server    string
	Tool      string // canonical
	Outcome   string
	After     string // only the call with this id and younger ones
	Before    string // only calls older than the one with this id
	Limit     int    // 0 means 100; at most 1000
}

// Calls returns the calls that match, the newest first. The last one's id is the
// Before of the next page.
func (s *Store) Calls(ctx context.Context, f CallFilter) ([]Call, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	query, args := f.query()
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.explain("read calls", err)
	}
	defer rows.Close()
	var calls []Call
	for rows.Next() {
		c, err := scanCall(rows.Scan)
		if err != nil {
			return nil, s.explain("read calls", err)
		}
		calls = append(calls, c)
	}
	return calls, s.explain("read calls", rows.Err())
}

// query writes only the conditions that are asked for, so that the index fits.
func (f CallFilter) query() (string, []any) {
	var where []string
	var args []any
	add := func(condition, value string) {
		if value != "" {
			args = append(args, value)
			where = append(where, fmt.Sprintf("%s $%d", condition, len(args)))
		}
	}
	add("principal =", f.Principal)
	add("server =", f.Server)
	add("tool =", f.Tool)
	add("outcome =", f.Outcome)
	add("id >=", f.After)
	add("id <", f.Before)
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	args = append(args, min(limit, 1000))
	query := "SELECT " + callColumns + " FROM calls"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	return query + fmt.Sprintf(" ORDER BY id DESC LIMIT $%d", len(args)), args
}

// Call returns one call; an unknown id is a fault.NotFound.
func (s *Store) Call(ctx context.Context, id string) (Call, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	row := s.read.QueryRowContext(ctx, "SELECT "+callColumns+" FROM calls WHERE id = $1", id)
	c, err := scanCall(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return Call{}, fault.New(fault.NotFound, "no call has the id %q", id)
	}
	return c, s.explain("read call "+id, err)
}

func scanCall(scan func(...any) error) (Call, error) {
	var c Call
	var at, duration int64
	err := scan(&c.ID, &at, &c.Principal, &c.Profile, &c.Session, &c.Agent, &c.MCPSession,
		(*string)(&c.Server), (*string)(&c.Tool), &c.Upstream, &c.Outcome, &c.Code, &c.Message, &c.Level,
		&duration, &c.BytesIn, &c.BytesFull, &c.BytesSent)
	c.At, c.Duration = fromMicros(at), time.Duration(duration)*time.Microsecond
	return c, err
}
