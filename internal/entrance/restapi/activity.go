package restapi

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ActivityQuery asks what was called in the time up to now.
type ActivityQuery struct {
	Range string // one of ActivityRanges; "": 1h
	By    string // what the series are of: one of ActivityKeys; "": server
	Sort  string // which tools come first: one of ActivitySorts; "": calls
	Limit int    // how many tools; 0: 10
}

// activityRange is a time up to now, and how long the spans are by which its calls are counted.
type activityRange struct{ length, step time.Duration }

var activityRanges = map[string]activityRange{
	"15m": {15 * time.Minute, 15 * time.Second}, "1h": {time.Hour, time.Minute}, "6h": {6 * time.Hour, 5 * time.Minute},
	"24h": {24 * time.Hour, 20 * time.Minute}, "7d": {7 * 24 * time.Hour, 2 * time.Hour}, "30d": {30 * 24 * time.Hour, 8 * time.Hour},
}

// The values of an ActivityQuery, in the order in which people choose.
var (
	ActivityRanges = []string{"15m", "1h", "6h", "24h", "7d", "30d"}
	ActivityKeys   = []string{"server", "outcome"}
	ActivitySorts  = []string{"calls", "errors", "tokens", "time"}
)

// maxOwn is how many of its own calls are counted for a caller: they are read one by one.
const maxOwn = 20_000

// Activity is what was called in the time up to now. A caller sees its own calls.
type Activity struct {
	Range  string           `json:"range"`
	By     string           `json:"by"`
	Since  time.Time        `json:"since"`
	Until  time.Time        `json:"until"`
	Step   int              `json:"step_s"`                // the length of a span; the last one is not over
	From   time.Time        `json:"counted_from,omitzero"` // earlier calls are not counted, since the caller has too many
	Total  ActivityCounts   `json:"total"`
	Spans  []ActivitySpan   `json:"spans"`  // all of them, the oldest first
	Series []ActivitySeries `json:"series"` // with the most calls first
	Tools  []ToolActivity   `json:"tools"`
}

// ActivityCounts count calls.
type ActivityCounts struct {
	Calls      int64   `json:"calls"`
	Errors     int64   `json:"errors"`
	TokensFull int64   `json:"tokens_full"` // estimates
	TokensSent int64   `json:"tokens_sent"`
	P50        float64 `json:"p50_ms,omitempty"` // an estimate of how long half of the calls took at most; left out without calls
	P95        float64 `json:"p95_ms,omitempty"`
	under      [11]int64
}

// ActivitySpan counts the calls that began in one span.
type ActivitySpan struct {
	At time.Time `json:"at"`
	ActivityCounts
}

// ActivitySeries counts the calls of one server, or with one outcome, span by span.
type ActivitySeries struct {
	Key    string  `json:"key"` // "": of no server
	Calls  []int64 `json:"calls"`
	Errors []int64 `json:"errors"`
	total  int64
}

// ToolActivity counts the calls of a tool.
type ToolActivity struct {
	Tool       tool.Name `json:"tool"` // "": unknown tools
	Calls      int64     `json:"calls"`
	Errors     int64     `json:"errors"`
	TokensFull int64     `json:"tokens_full"`
	TokensSent int64     `json:"tokens_sent"`
	TimeMS     float64   `json:"time_ms"` // of all calls together
}

// Activity counts calls in the time up to now: those of everybody, or of a caller its own.
func (a *API) Activity(ctx context.Context, who access.Principal, q ActivityQuery) (Activity, error) {
	r, err := q.fill()
	if err != nil {
		return Activity{}, err
	}
	a.flush(ctx)
	until := time.Now().UTC()
	n := int(r.length / r.step)
	since := until.Truncate(r.step).Add(time.Duration(1-n) * r.step)
	f := store.ActivityFilter{Since: since, Step: r.step, Most: maxOwn}
	if !who.MayRead() {
		f.Principal = who.ID
	}
	found, err := a.Store.Activity(ctx, f)
	if err != nil {
		return Activity{}, err
	}
	out := Activity{
		Range: q.Range, By: q.By, Since: since, Until: until, Step: int(r.step / time.Second), From: found.From,
		Spans: make([]ActivitySpan, n), Tools: topTools(found.Tools, q),
	}
	for i := range out.Spans {
		out.Spans[i].At = since.Add(time.Duration(i) * r.step)
	}
	out.addUp(found.Spans, r.step)
	return out, nil
}

// fill puts the values in place that are not given.
func (q *ActivityQuery) fill() (activityRange, error) {
	q.Range = cmp.Or(q.Range, "1h")
	q.By = cmp.Or(q.By, ActivityKeys[0])
	q.Sort = cmp.Or(q.Sort, ActivitySorts[0])
	q.Limit = cmp.Or(q.Limit, 10)
	for _, v := range []struct {
		name, value string
		known       []string
	}{{"range", q.Range, ActivityRanges}, {"by", q.By, ActivityKeys}, {"sort", q.Sort, ActivitySorts}} {
		if !slices.Contains(v.known, v.value) {
			return activityRange{}, fault.New(fault.BadRequest, "the parameter %s has the unknown value %.40q", v.name, v.value).
				WithHint("use %s", strings.Join(v.known, ", "))
		}
	}
	return activityRanges[q.Range], nil
}

// addUp adds what the store has counted to the spans and the series.
func (a *Activity) addUp(found []store.Span, step time.Duration) {
	series := map[string]*ActivitySeries{}
	for i := range found {
		v := &found[i]
		at := min(max(int(v.At.Sub(a.Since)/step), 0), len(a.Spans)-1) // a clock of another gateway may be ahead
		key := string(v.Server)
		if a.By == "outcome" {
			key = v.Outcome
		}
		s := series[key]
		if s == nil {
			s = &ActivitySeries{Key: key, Calls: make([]int64, len(a.Spans)), Errors: make([]int64, len(a.Spans))}
			series[key] = s
		}
		s.Calls[at] += v.Calls
		s.total += v.Calls
		if v.Failed() {
			s.Errors[at] += v.Calls
		}
		a.Spans[at].add(v)
		a.Total.add(v)
	}
	a.Series = []ActivitySeries{}
	for _, s := range series {
		a.Series = append(a.Series, *s)
	}
	slices.SortFunc(a.Series, func(x, y ActivitySeries) int { return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(x.Key, y.Key)) })
	a.Total.estimate()
	for i := range a.Spans {
		a.Spans[i].estimate()
	}
}

func (c *ActivityCounts) add(s *store.Span) {
	c.Calls += s.Calls
	c.TokensFull += s.TokensFull
	c.TokensSent += s.TokensSent
	if s.Failed() {
		c.Errors += s.Calls
	}
	for i, n := range s.Under {
		c.under[i] += n
	}
}

func (c *ActivityCounts) estimate() {
	c.P50 = quantile(c.Calls, c.under[:], 0.5)
	c.P95 = quantile(c.Calls, c.under[:], 0.95)
}

// quantile estimates, in milliseconds, how long a share of the calls took at most. It is the lowest or the highest duration that is
// told apart where they took less or more.
func quantile(calls int64, under []int64, share float64) float64 {
	if calls == 0 {
		return 0
	}
	edges := store.Under()
	want := share * float64(calls)
	at := slices.IndexFunc(under, func(n int64) bool { return float64(n) >= want })
	switch {
	case at < 0:
		at = len(edges) - 1
		fallthrough
	case at == 0:
		return float64(edges[at].Milliseconds())
	}
	low, high := float64(edges[at-1].Milliseconds()), float64(edges[at].Milliseconds())
	part := (want - float64(under[at-1])) / float64(under[at]-under[at-1])
	return math.Round(low * math.Pow(high/low, part))
}

// topTools are the tools that the query wants first.
func topTools(found []store.ToolCount, q ActivityQuery) []ToolActivity {
	by := map[string]func(n *store.ToolCount) int64{
		"calls":  func(n *store.ToolCount) int64 { return n.Calls },
		"errors": func(n *store.ToolCount) int64 { return n.Errors },
		"tokens": func(n *store.ToolCount) int64 { return n.TokensSent },
		"time":   func(n *store.ToolCount) int64 { return int64(n.Duration) },
	}[q.Sort]
	slices.SortStableFunc(found, func(x, y store.ToolCount) int {
		return cmp.Or(cmp.Compare(by(&y), by(&x)), cmp.Compare(y.Calls, x.Calls))
	})
	top := []ToolActivity{}
	for _, n := range found[:min(len(found), q.Limit)] {
		top = append(top, ToolActivity{
			Tool: n.Tool, Calls: n.Calls, Errors: n.Errors, TokensFull: n.TokensFull, TokensSent: n.TokensSent,
			TimeMS: float64(n.Duration.Microseconds()) / 1000,
		})
	}
	return top
}

func (a *API) activity(q *request) (any, error) {
	limit, err := number(q.query, "limit", 1, maxPage)
	if err != nil {
		return nil, err
	}
	ask := ActivityQuery{Range: q.query.Get("range"), By: q.query.Get("by"), Sort: q.query.Get("sort"), Limit: limit}
	return a.Activity(q.Context(), q.who, ask)
}
