package store

import (
	"context"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
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
	Outcome    string    // ok, tool_error, question, error or canceled
	Code       string    // the fault's code, where there is one
	Message    string
	Level      string        // error, warn or info
	Duration   time.Duration // kept to the microsecond
	BytesIn    int64         // arguments
	BytesFull  int64         // the upstream's result
	BytesSent  int64         // what the caller got of it
	Repairs    string        // what was changed in the arguments, as a JSON list; "" when nothing was
	Arguments  *Arguments    // as they were sent and as the tool got them; nil when the two are the same, and in most lists
	Rule       string        // the rule that cut the result; "" when none did
	Ref        string        // where the whole result is; "" when it was sent
	Trace      string        // the trace that the call is part of; "" when none
	TokensIn   int64         // estimates, as are the next two: of the arguments,
	TokensFull int64         // of the upstream's result,
	TokensSent int64         // and of what the caller got of it

	Shadow       string // the rule in shadow that would have cut the result; "" when none would
	TokensShadow int64  // an estimate of what the caller would have got then
	Policy       string // which rules of the policy applied, such as "deny no-prod, watch nights"; "" when none did
	Parent       string // the id of the call whose script made this one; "" when none did
}

// CallFilter chooses calls; a zero field does not filter.
type CallFilter struct {
	Principal string
	Session   string
	Agent     string
	Server    string
	Tool      string // canonical
	Rule      string
	Policy    string // the name of a rule of the policy that applied
	Parent    string
	Outcome   string
	Level     string // debug, info, warn or error: this one and the graver ones

	// No index has these.
	Profile    string
	MCPSession string
	Code       string
	Trace      string
	Repaired   *bool         // whether something was changed in the arguments
	Cut        *bool         // whether the caller got less than the whole result
	Slower     time.Duration // took so long or longer
	Larger     int64         // the whole result has so many tokens or more

	Since     time.Time // began then or later
	Until     time.Time // began then or earlier
	After     string    // only calls younger than the one with this id
	Before    string    // only calls older than the one with this id
	Oldest    bool      // the oldest first; false means the newest
	Limit     int       // 0 means 100; at most 1000
	Arguments bool      // with the arguments, which may be large; false leaves them out
}

// Calls returns the matching calls, the newest first. The last one's id is the Before of the next
// page, or its After if the oldest come first.
func (s *Store) Calls(ctx context.Context, f CallFilter) ([]Call, error) {
	query, args, err := f.query(&s.dialect)
	if err != nil {
		return nil, err
	}
	row := newCallRow()
	read := func(scan scanner, c *Call) error { return row.scan(scan, &s.opts, c) }
	return list(ctx, s, "read calls", read, query, args...)
}

// levels are the conditions for a filter's level, worded like those of the partial indexes.
var levels = map[string]string{
	"": "", "debug": "", "info": "level IN ('info', 'warn', 'error')", "warn": warned, "error": "level = 'error'",
}

// warned is worded like the condition of the indexes on warnings and errors.
const warned = "level IN ('warn', 'error')"

// index is the index that leaves the fewest calls to read; "" leaves the choice to the database. Lead is the part of the filter by
// which it is read.
func (f *CallFilter) index() (name string, lead CallFilter) {
	grave := f.Level == "warn" || f.Level == "error"
	switch {
	case f.Parent != "":
		return "calls_by_parent", CallFilter{Parent: f.Parent}
	case f.Session != "":
		return "calls_by_session", CallFilter{Session: f.Session}
	case f.Rule != "":
		return "calls_by_rule", CallFilter{Rule: f.Rule}
	case f.Policy != "":
		return "calls_by_policy", CallFilter{} // it is not in the order of these rules
	case grave && f.Agent != "":
		return "calls_warned_by_agent", CallFilter{Agent: f.Agent, Level: "warn"}
	case grave && f.Principal != "":
		return "calls_warned_by_principal", CallFilter{Principal: f.Principal, Level: "warn"}
	case f.Level == "error":
		return "calls_with_errors", CallFilter{Level: f.Level}
	case f.Level == "warn":
		return "calls_with_warnings", CallFilter{Level: f.Level}
	case f.Agent != "" && f.Principal != "":
		return "calls_by_own_agent", CallFilter{Agent: f.Agent, Principal: f.Principal}
	case f.Agent != "":
		return "calls_by_agent", CallFilter{Agent: f.Agent}
	case f.Server != "":
		return "calls_by_server", CallFilter{Server: f.Server}
	case f.Principal != "":
		return "calls_by_principal", CallFilter{Principal: f.Principal}
	}
	return "", CallFilter{}
}

// Sparse tells whether the calls that match may be few among those that are read to find them.
func (f *CallFilter) Sparse() bool {
	index, _ := f.index()
	return f.Tool != "" || f.Outcome != "" || f.Policy != "" || f.Server != "" && index != "calls_by_server" || f.reads()
}

// reads tells whether the filter has something that only the calls themselves tell.
func (f *CallFilter) reads() bool {
	return f.Profile != "" || f.MCPSession != "" || f.Code != "" || f.Trace != "" || f.Repaired != nil || f.Cut != nil || f.Slower > 0 ||
		f.Larger > 0
}

func (f *CallFilter) query(d *dialect) (string, []any, error) {
	w, err := f.conditions()
	if err != nil {
		return "", nil, err
	}
	order := " ORDER BY id DESC"
	if f.Oldest {
		order = " ORDER BY id"
	}
	columns := briefColumns
	if f.Arguments {
		columns = callColumns
	}
	index, _ := f.index()
	return "SELECT " + columns + " FROM calls" + d.by(index) + w.String() + order + w.limit(f.Limit), w.args, nil
}

func (f *CallFilter) conditions() (w where, err error) {
	level, known := levels[f.Level]
	if !known {
		return w, fault.New(fault.BadRequest, "unknown level %q", f.Level).WithHint("use debug, info, warn or error")
	}
	for _, c := range []struct{ column, value string }{
		{"parent", f.Parent}, {"session", f.Session}, {"rule", f.Rule}, {"agent", f.Agent}, {"server", f.Server},
	} {
		if c.value != "" {
			w.equals(c.column, c.value)
			w.is(c.column + " <> ''") // as the indexes say it
		}
	}
	if f.Policy != "" {
		w.is("policy <> ''")
		w.is("replace(policy || ',', " + w.value(" "+f.Policy+",") + ", '') <> policy || ','") // LIKE ignores case in SQLite alone
	}
	if level != "" {
		w.is(level)
	}
	if f.Level == "error" {
		w.is(warned)
	}
	w.equals("principal", f.Principal)
	w.equals("tool", f.Tool)
	w.equals("outcome", f.Outcome)
	w.equals("profile", f.Profile)
	w.equals("mcp_session", f.MCPSession)
	w.equals("code", f.Code)
	w.equals("trace", f.Trace)
	w.either(f.Repaired, "repairs <> ''", "repairs = ''")
	w.either(f.Cut, "bytes_sent < bytes_full", "bytes_sent >= bytes_full")
	if f.Slower > 0 {
		w.has("duration >=", f.Slower.Microseconds())
	}
	if f.Larger > 0 {
		w.has("tokens_full >=", f.Larger)
	}
	w.span(f)
	return w, nil
}

// Call returns one call; an unknown id is a fault.NotFound.
func (s *Store) Call(ctx context.Context, id string) (c Call, err error) {
	scan := func(into ...any) error {
		missing := fault.New(fault.NotFound, "no call has the id %q", id)
		return s.readOne(ctx, "read call "+id, missing, "SELECT "+callColumns+" FROM calls WHERE id = $1", []any{id}, into)
	}
	err = newCallRow().scan(scan, &s.opts, &c)
	return c, err
}

// CallsByID returns those calls that there are, without their arguments, ordered by id.
func (s *Store) CallsByID(ctx context.Context, ids []string) ([]Call, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places := make([]string, len(ids))
	args := make([]any, len(ids))
	for i, id := range ids {
		places[i] = s.dialect.place(i + 1)
		args[i] = id
	}
	row := newCallRow()
	read := func(scan scanner, c *Call) error { return row.scan(scan, &s.opts, c) }
	query := "SELECT " + briefColumns + " FROM calls WHERE id IN (" + strings.Join(places, ", ") + ") ORDER BY id"
	return list(ctx, s, "read calls", read, query, args...)
}

// CallAt is the id of the n-th newest call of those that are read to find the calls of a filter; "" if there are fewer. It reads
// only an index.
func (s *Store) CallAt(ctx context.Context, f CallFilter, n int) (id string, err error) {
	query, args, err := f.leadQuery(&s.dialect, n)
	if err == nil {
		err = s.readOne(ctx, "count calls", nil, query, args, []any{&id})
	}
	return id, err
}

func (f *CallFilter) leadQuery(d *dialect, n int) (string, []any, error) {
	_, lead := f.index()
	index, _ := lead.index()
	lead.After, lead.Before = f.IDs()
	w, err := lead.conditions()
	query := "SELECT id FROM calls" + d.by(index) + w.String() + " ORDER BY id DESC LIMIT 1 OFFSET " + w.value(max(n, 1)-1)
	return query, w.args, err
}
