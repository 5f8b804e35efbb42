package store

import (
	"strings"
	"time"
)

// callRow is a call as the table calls has it.
type callRow struct {
	Call
	at       int64  // microseconds
	duration int64  // microseconds
	sealed   []byte // the arguments; nil is NULL
	values   []any  // where the value of each column is, in their order
}

// callColumn is a column of calls. Its value is a *string, an *int64 or a *[]byte.
type callColumn struct {
	name  string
	value any
}

// columns is the only list of the columns: statements, inserts and scans follow it. A new
// column takes a migration, a field of Call and a line here.
func (r *callRow) columns() []callColumn {
	return []callColumn{
		{"id", &r.ID},
		{"at", &r.at},
		{"principal", &r.Principal},
		{"profile", &r.Profile},
		{"session", &r.Session},
		{"agent", &r.Agent},
		{"mcp_session", &r.MCPSession},
		{"server", (*string)(&r.Server)},
		{"tool", (*string)(&r.Tool)},
		{"upstream", &r.Upstream},
		{"outcome", &r.Outcome},
		{"code", &r.Code},
		{"message", &r.Message},
		{"level", &r.Level},
		{"duration", &r.duration},
		{"bytes_in", &r.BytesIn},
		{"bytes_full", &r.BytesFull},
		{"bytes_sent", &r.BytesSent},
		{"repairs", &r.Repairs},
		{"rule", &r.Rule},
		{"ref", &r.Ref},
		{"trace", &r.Trace},
		{"shadow", &r.Shadow},
		{"tokens_in", &r.TokensIn},
		{"tokens_full", &r.TokensFull},
		{"tokens_sent", &r.TokensSent},
		{"tokens_shadow", &r.TokensShadow},
		{"arguments", &r.sealed}, // last: briefColumns leaves it out
	}
}

// callColumns are the columns for a SELECT or an INSERT; briefColumns has no arguments, which
// may be large.
var (
	callColumns  = callNames()
	briefColumns = strings.TrimSuffix(callColumns, "arguments") + "NULL"
)

func callNames() string {
	var names []string
	for _, column := range new(callRow).columns() {
		names = append(names, column.name)
	}
	return strings.Join(names, ", ")
}

func newCallRow() *callRow {
	r := new(callRow)
	for _, column := range r.columns() {
		r.values = append(r.values, column.value)
	}
	return r
}

// set makes it the row of a call.
func (r *callRow) set(c *Call, opts *Options) {
	r.Call = *c
	r.at = micros(c.At)
	r.duration = c.Duration.Microseconds()
	r.sealed = opts.sealArguments(c)
}

// scan reads the next row.
func (r *callRow) scan(scan scanner, opts *Options) (Call, error) {
	err := scan(r.values...)
	r.At = fromMicros(r.at)
	r.Duration = time.Duration(r.duration) * time.Microsecond
	r.Arguments = opts.openArguments(r.ID, r.sealed)
	return r.Call, err
}

// callBatch is the room for a batch of calls. It is used again: see Store.batches.
type callBatch struct {
	row  *callRow
	args []any // SQLite: the values, row by row; PostgreSQL: a list for each column
}
