package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// A spanLevel is a length of spans, and how long those are kept: as long as somebody may ask for them.
type spanLevel struct{ step, keep time.Duration }

const day = 24 * time.Hour

// spanLevels are lengths of spans, each a multiple of the one before. There are few of each in the time that they are kept, and the
// rest of a long time up to the next longer span is a few shorter ones.
var spanLevels = []spanLevel{
	{15 * time.Second, time.Hour},
	{time.Minute, 2 * time.Hour},
	{5 * time.Minute, 8 * time.Hour},
	{20 * time.Minute, 2 * day},
	{2 * time.Hour, 8 * day},
	{8 * time.Hour, 32 * day},
	{day, 32 * day},
	{7 * day, 40 * day},
}

// under are the durations below which calls are counted, in milliseconds.
var under = [...]int{10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000}

// Under are the durations for which a Span tells how many calls took less.
func Under() (all []time.Duration) {
	for _, ms := range under {
		all = append(all, time.Duration(ms)*time.Millisecond)
	}
	return all
}

// Span counts the calls of one server with one outcome that began in a span of time.
type Span struct {
	At                     time.Time // its beginning
	Server                 tool.ServerID
	Outcome                string
	Calls                  int64
	Duration               time.Duration // of all calls together
	TokensFull, TokensSent int64
	Under                  [len(under)]int64 // how many took less than each of Under
}

// Failed tells whether the outcome is one of the two that are errors.
func (s *Span) Failed() bool { return s.Outcome == "error" || s.Outcome == "tool_error" }

// ToolCount counts the calls of a tool.
type ToolCount struct {
	Tool                   tool.Name // "": unknown tools
	Calls, Errors          int64
	Duration               time.Duration // of all calls together
	TokensFull, TokensSent int64
}

// Activity is what was called since a time.
type Activity struct {
	Spans []Span      // several may be of one time, server and outcome
	Tools []ToolCount // by name
	From  time.Time   // calls that began before are not counted, since there were too many; zero: all are
}

// ActivityFilter chooses calls.
type ActivityFilter struct {
	Since     time.Time     // a multiple of the step
	Step      time.Duration // one of 15 s, 1 min, 5 min, 20 min, 2 h and 8 h
	Principal string        // only this one's calls; "": everybody's
	Most      int           // how many calls of a principal are counted, the newest
}

// A countTable has counts of calls, a row for each span and whatever its keys tell apart.
type countTable struct {
	name   string
	keys   []string // columns of the table and of calls
	counts []countColumn
	levels []spanLevel
}

// A countColumn is a column, and what is summed in it.
type countColumn struct{ name, of string }

const failedSQL = "outcome IN ('error', 'tool_error')"

var (
	commonCounts = []countColumn{
		{"calls", "count(*)"}, {"duration", "sum(duration)"}, {"tokens_full", "sum(tokens_full)"}, {"tokens_sent", "sum(tokens_sent)"},
	}
	activityTable = countTable{"activity", []string{"server", "outcome"}, append(slices.Clone(commonCounts), undersOf()...), spanLevels[:6]}
	toolTable     = countTable{"tool_activity", []string{"tool"},
		append(slices.Clone(commonCounts), countColumn{"errors", "count(*) FILTER (WHERE " + failedSQL + ")"}), spanLevels}
)

func undersOf() (all []countColumn) {
	for _, ms := range under {
		all = append(all, countColumn{fmt.Sprint("under_", ms), fmt.Sprintf("count(*) FILTER (WHERE duration < %d)", ms*1000)})
	}
	return all
}

// addSQL adds calls to the counts of all levels that are kept so long, or takes them out: sign is "" or "-". The calls are read
// once, for the shortest spans.
func (t *countTable) addSQL(sign, condition string, args []any, now time.Time) (string, []any) {
	w := where{args: args[:len(args):len(args)]}
	keys := strings.Join(t.keys, ", ")
	inner, outer := "1", "1, 2" // what is grouped by, by its place
	var names, of, added, both []string
	for i := range t.keys {
		inner += fmt.Sprint(", ", i+2)
		outer += fmt.Sprint(", ", i+3)
	}
	for _, c := range t.counts {
		names = append(names, c.name)
		of = append(of, c.of+" AS "+c.name)
		added = append(added, sign+"sum("+c.name+")")
		both = append(both, c.name+" = "+t.name+"."+c.name+" + excluded."+c.name)
	}
	var kept []string
	for _, l := range t.levels {
		since := w.value(micros(now.Add(-l.keep)))
		kept = append(kept, fmt.Sprintf("SELECT CAST(%d AS BIGINT) AS step, CAST(%s AS BIGINT) AS since", l.step.Microseconds(), since))
	}
	fine := "SELECT " + spanSQL(t.levels[0].step) + " AS at, " + keys + ", " + strings.Join(of, ", ") + " FROM calls WHERE " + condition +
		" GROUP BY " + inner
	return "INSERT INTO " + t.name + " (step, at, " + keys + ", " + strings.Join(names, ", ") + ") SELECT step, at - at % step, " + keys + ", " +
		strings.Join(added, ", ") + " FROM (" + fine + ") AS fine, (" + strings.Join(kept, " UNION ALL ") + ") AS kept WHERE at >= since" +
		" GROUP BY " + outer + " ON CONFLICT (step, at, " + keys + ") DO UPDATE SET " + strings.Join(both, ", "), w.args
}

// spanSQL is the beginning of the span of a call.
func spanSQL(step time.Duration) string { return fmt.Sprintf("at - at %% %d", step.Microseconds()) }

// Activity counts the calls since a time: from the counts of whole spans, and what has come since these were made. Of a principal
// there are no such counts, so its calls are read.
func (s *Store) Activity(ctx context.Context, f ActivityFilter) (a Activity, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	tx, err := s.snapshot(ctx)
	if err != nil {
		return a, s.explain("count calls", err)
	}
	defer rollback(tx) // nothing to lose
	counts := map[tool.Name]*ToolCount{}
	if f.Principal != "" {
		err = s.countOwn(ctx, tx, f, &a, counts)
	} else {
		err = s.countAll(ctx, tx, f, &a, counts)
	}
	for _, n := range counts {
		a.Tools = append(a.Tools, *n)
	}
	slices.SortFunc(a.Tools, func(x, y ToolCount) int { return strings.Compare(string(x.Tool), string(y.Tool)) })
	return a, s.explain("count calls", err)
}

func (s *Store) countAll(ctx context.Context, tx *sql.Tx, f ActivityFilter, a *Activity, counts map[tool.Name]*ToolCount) error {
	var end string
	if err := tx.QueryRowContext(ctx, "SELECT id FROM sums_end").Scan(&end); err != nil {
		return err
	}
	spans, err := readRows(ctx, tx, func(scan scanner, v *Span) error { return scan(v.columns()...) },
		"SELECT at, server, outcome, "+activityTable.columns("")+" FROM activity WHERE step = $1 AND at >= $2 ORDER BY 1, 2, 3",
		f.Step.Microseconds(), micros(f.Since))
	if err != nil {
		return err
	}
	a.Spans = spans
	query, args := toolsSQL(f)
	tools, err := readRows(ctx, tx, func(scan scanner, n *ToolCount) error {
		return scan((*string)(&n.Tool), &n.Calls, storedDuration(&n.Duration), &n.TokensFull, &n.TokensSent, &n.Errors)
	}, query, args...)
	if err != nil {
		return err
	}
	for i := range tools {
		counts[tools[i].Tool] = &tools[i]
	}
	var w where
	w.has("id >", max(end, string(AppendCallTime(nil, f.Since.Add(-idSlack)))))
	found, err := countCalls(ctx, tx, f, "", &w, counts)
	a.Spans = append(a.Spans, found...)
	return err
}

// columns are those with counts; with sum, they are summed.
func (t *countTable) columns(sum string) string {
	var names []string
	for _, c := range t.counts {
		if sum != "" {
			names = append(names, "CAST(sum("+c.name+") AS BIGINT)")
		} else {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

// toolsSQL sums the counts of tools: of short spans up to the beginning of a longer one, and so on.
func toolsSQL(f ActivityFilter) (string, []any) {
	var w where
	var parts []string
	from := micros(f.Since)
	for i, l := range toolTable.levels {
		if l.step < f.Step {
			continue
		}
		w.has("step =", l.step.Microseconds())
		w.has("at >=", from)
		if i+1 < len(toolTable.levels) {
			next := toolTable.levels[i+1].step.Microseconds()
			from = (from + next - 1) / next * next
			w.has("at <", from)
		}
		parts = append(parts, "SELECT tool, "+toolTable.columns("")+" FROM tool_activity"+w.next())
	}
	return "SELECT tool, " + toolTable.columns("sum") + " FROM (" + strings.Join(parts, " UNION ALL ") + ") AS parts GROUP BY tool", w.args
}

// countOwn counts the newest calls of a principal.
func (s *Store) countOwn(ctx context.Context, tx *sql.Tx, f ActivityFilter, a *Activity, counts map[tool.Name]*ToolCount) error {
	const index = "calls_by_principal"
	floor := string(AppendCallTime(nil, f.Since.Add(-idSlack)))
	const past = " WHERE principal = $1 AND id > $2 ORDER BY id DESC LIMIT 1 OFFSET $3"
	var id string
	var at int64
	err := tx.QueryRowContext(ctx, "SELECT id, at FROM calls"+s.dialect.by(index)+past, f.Principal, floor, f.Most).Scan(&id, &at)
	switch {
	case err == nil:
		floor = id
		a.From = fromMicros(at)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	var w where
	w.has("principal =", f.Principal)
	w.has("id >", floor)
	found, err := countCalls(ctx, tx, f, s.dialect.by(index), &w, counts)
	a.Spans = append(a.Spans, found...)
	return err
}

// countCalls counts calls themselves, by span and by tool.
func countCalls(ctx context.Context, tx *sql.Tx, f ActivityFilter, by string, w *where, counts map[tool.Name]*ToolCount) ([]Span, error) {
	w.since("at", f.Since)
	var of []string
	for _, c := range activityTable.counts {
		of = append(of, "CAST("+c.of+" AS BIGINT)")
	}
	query := "SELECT tool, " + spanSQL(f.Step) + ", server, outcome, " + strings.Join(of, ", ") + " FROM calls" + by + w.String() +
		" GROUP BY 1, 2, 3, 4"
	return readRows(ctx, tx, func(scan scanner, v *Span) error {
		var name tool.Name
		err := scan(append([]any{(*string)(&name)}, v.columns()...)...)
		n := counts[name]
		if n == nil {
			n = &ToolCount{Tool: name}
			counts[name] = n
		}
		n.add(v)
		return err
	}, query, w.args...)
}

// columns are where the columns of a span go: its keys, and the counts in their order.
func (s *Span) columns() []any {
	into := []any{storedTime(&s.At), (*string)(&s.Server), &s.Outcome, &s.Calls, storedDuration(&s.Duration), &s.TokensFull, &s.TokensSent}
	for i := range s.Under {
		into = append(into, &s.Under[i])
	}
	return into
}

func (n *ToolCount) add(s *Span) {
	n.Calls += s.Calls
	n.Duration += s.Duration
	n.TokensFull += s.TokensFull
	n.TokensSent += s.TokensSent
	if s.Failed() {
		n.Errors += s.Calls
	}
}

// TrimActivity deletes counts of spans from before the given time, and of those that are no longer kept.
func (s *Store) TrimActivity(ctx context.Context, before time.Time) error {
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.lockSums(ctx, tx); err != nil {
			return err
		}
		for _, t := range []countTable{activityTable, toolTable} {
			for _, l := range t.levels {
				end := max(micros(before), micros(s.opts.Now().Add(-l.keep))) - l.step.Microseconds()
				const old = " WHERE step = $1 AND at < $2"
				if _, err := tx.ExecContext(ctx, "DELETE FROM "+t.name+old, l.step.Microseconds(), end); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return s.explain("trim activity", err)
}
