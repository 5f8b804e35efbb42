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

// columns is the only list of the columns. A new one takes a migration, a field of Call and a line here.
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
		{"policy", &r.Policy},
		{"parent", &r.Parent},
		{"arguments", &r.sealed}, // last: briefColumns leaves it out
	}
}

var (
	// callColumns are the columns of a SELECT or INSERT; briefColumns lacks the arguments, which may be large.
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

// set fills the row from a call.
func (r *callRow) set(c *Call, opts *Options) {
	r.Call = *c
	r.at = micros(c.At)
	r.duration = c.Duration.Microseconds()
	r.sealed = opts.sealArguments(c)
}

// scan reads the next row.
func (r *callRow) scan(scan scanner, opts *Options, into *Call) error {
	err := scan(r.values...)
	r.At = fromMicros(r.at)
	r.Duration = time.Duration(r.duration) * time.Microsecond
	r.Arguments = opts.openArguments(r.ID, r.sealed)
	*into = r.Call
	return err
}

// callBatch is the memory for a batch of calls, which Store.batches reuses.
type callBatch struct {
	row  *callRow
	args []any // SQLite: the values, row by row; PostgreSQL: a list for each column
}

// digits are in the order of their bytes, so that ids sort like their numbers.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// timeDigits hold 55 bits of microseconds, enough until the year 3111.
const timeDigits = 11

// AppendCallTime appends the beginning of a call's id. It sorts before the ids of all calls that
// began then or later, and after those of all earlier ones.
func AppendCallTime(b []byte, at time.Time) []byte {
	us := uint64(min(max(at.UnixMicro(), 0), 1<<(5*timeDigits)-1))
	b = append(b, "c_"...)
	for shift := 5 * (timeDigits - 1); shift >= 0; shift -= 5 {
		b = append(b, digits[us>>shift&31])
	}
	return b
}

// idSlack is how far the time in a call's id may be from its own.
const idSlack = time.Second

// IDs returns the exclusive bounds of the ids for the filter's cursors and times; "" is no bound.
// Near them there may be calls outside of the time.
func (f *CallFilter) IDs() (after, before string) {
	after = f.After
	before = f.Before
	if !f.Since.IsZero() {
		after = max(after, string(AppendCallTime(nil, f.Since.Add(-idSlack))))
	}
	if !f.Until.IsZero() {
		end := string(AppendCallTime(nil, f.Until.Add(idSlack)))
		if before == "" || end < before {
			before = end
		}
	}
	return after, before
}

// Began tells whether a call began in the filter's time, both ends included.
func (f *CallFilter) Began(at time.Time) bool {
	return !at.Before(f.Since) && (f.Until.IsZero() || !at.After(f.Until))
}

// span adds the filter's cursors and times. The ids use the index; the time decides at the edges.
func (w *where) span(f *CallFilter) {
	after, before := f.IDs()
	if after != "" {
		w.has("id >", after)
	}
	if before != "" {
		w.has("id <", before)
	}
	w.since("at", f.Since)
	w.until("at", f.Until)
}
