package console

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// callFilters are the query parameters that select calls: those of the API, and last, which is how long ago a call began at most.
var callFilters = []string{
	"tool", "server", "outcome", "last", "since", "until", "agent", "session", "parent", "principal", "profile", "mcp_session", "code",
	"level", "rule", "policy", "trace", "repaired", "cut", "slower", "larger",
}

// named are the filters that take any text, readNamed those that only people have who may read everything.
var (
	named     = []string{"agent", "session", "parent", "profile", "mcp_session", "code", "rule", "trace"}
	readNamed = []string{"principal", "policy"}
)

var (
	levels    = []string{"info", "warn", "error"}
	lastSpans = []string{"15m", "1h", "24h", "7d", "30d"}
)

// callFilter is what the form above the calls shows.
type callFilter struct {
	list
	Chips    []chip
	Ready    []readyFilter
	Fault    *fault.Error // what is wrong with the filter; nil: nothing
	Named    []string     // filters that take any text
	Outcomes []string
	Levels   []string
	Lasts    []string
	ask      url.Values // the filter and the cursor as the API understands them
}

// Cleared is the address of the page without any filter.
func (f callFilter) Cleared() string { return f.path }

// chip is a filter that is set.
type chip struct {
	Name    string // the text of its name is console.by.NAME
	Value   string
	At      time.Time // the value, if it is a time
	Without string    // the address of the page without it
}

// readyFilter is one that many ask for.
type readyFilter struct{ Name, Address string }

// callFilterOf reads the filter of a page about calls.
func (c *Console) callFilterOf(v *visit, path string) callFilter {
	f := callFilter{list: c.listOf(v, path, callFilters...), Named: named, Outcomes: restapi.Outcomes, Levels: levels, Lasts: lastSpans}
	if v.who.MayRead() {
		f.Named = slices.Concat(named, readNamed)
	}
	for _, name := range callFilters {
		if value := f.Filter[name]; value != "" {
			f.Chips = append(f.Chips, chipOf(v.lang, name, value, with(f.path, f.query, name, "")))
		}
	}
	f.Ready = readyFilters(c.at("/calls"), v.who)
	var err error
	f.ask, err = callQuery(f.list.ask(), time.Now())
	if err != nil {
		f.Fault = fault.As(err)
	}
	return f
}

// callQuery is the query of the API for that of a page: times as forms send them, or how long ago.
func callQuery(q url.Values, now time.Time) (url.Values, error) {
	q = maps.Clone(q)
	since, until, err := rangeOf(q)
	if err != nil {
		return nil, err
	}
	if text := q.Get("last"); text != "" {
		d, ok := config.ParseDuration(text)
		if !ok || d <= 0 {
			return nil, fault.New(fault.BadRequest, "last must be a duration such as 15m or 7d, got %.40q", text)
		}
		if from := now.Add(-d); from.After(since) {
			since = from
		}
		q.Del("last")
	}
	for name, t := range map[string]time.Time{"since": since, "until": until} {
		if !t.IsZero() {
			q.Set(name, t.Format(time.RFC3339Nano))
		}
	}
	return q, nil
}

// chipOf shows a filter for people.
func chipOf(lang locale.Language, name, value, without string) chip {
	c := chip{Name: name, Without: without}
	known := ""
	switch name {
	case "outcome":
		known = text(lang, "outcome."+value)
	case "level":
		known = text(lang, "level."+value)
	case "last":
		known = text(lang, "last."+value)
	case "repaired", "cut":
		known = text(lang, "whether."+value)
	case "slower", "larger":
		known = "≥ " + value
	case "since", "until":
		c.At, _ = timeOf(value) // what is no time is shown as it is
	}
	c.Value = plain(cmp.Or(known, value))
	return c
}

// readyFilters are offered to everybody. Callers see only their own calls anyway.
func readyFilters(path string, who access.Principal) []readyFilter {
	of := func(name, key, value string) readyFilter {
		return readyFilter{name, with(path, url.Values{}, key, value)}
	}
	ready := []readyFilter{
		of("errors", "level", "error"), of("repaired", "repaired", "true"), of("cut", "cut", "true"), of("slow", "slower", "2s"),
		of("hour", "last", "1h"),
	}
	if who.MayRead() {
		ready = append(ready, of("mine", "principal", who.ID))
	}
	return ready
}
