package console

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// waterfall shows calls on a common axis of time, each below the call that made it.
type waterfall struct {
	Rows   []fallRow
	Took   time.Duration // that the axis has
	Before int           // rows that are left out above
	After  int           // and below
	More   bool          // there are calls that were not even read
	List   string        // the address of all of them as a list
	Open   bool          // more may come
}

// fallRow is a call on the axis: what the log of its script says, and the record where there is one.
type fallRow struct {
	restapi.Call        // without an id: there is no record of this run
	Name         string // as the script wrote it; "": it is in no log
	Log          restapi.ScriptCall
	Depth        int  // in how many of the calls it is, at most maxFallDepth
	Here         bool // it is the call of the page
	Start        time.Duration
	Bar          bar
	Note         string // what its record says beside the outcome, such as why it failed or was made again
}

// bar is a rectangle on an axis of axisWidth units.
type bar struct{ X, Width int }

const (
	axisWidth = 1000
	// maxRowsOfFall is how many rows a waterfall has, and maxRowsAround how many around the call of a page; the list has the others.
	maxRowsOfFall = 150
	maxRowsAround = 40
	maxFallDepth  = 4
	// maxFallNote is how many letters of a message a row has; the call's page has all.
	maxFallNote = 200
)

// waterfallOf puts calls on the axis, which goes at least from one time to another. Here is the id of the call that is marked,
// and shown in any case.
func waterfallOf(lang locale.Language, rows []fallRow, here string, from, to time.Time) *waterfall {
	w := &waterfall{Rows: nestedRows(rows)}
	w.draw(from, to)
	most := maxRowsOfFall
	if here != "" {
		most = maxRowsAround
	}
	at := max(0, slices.IndexFunc(w.Rows, func(r fallRow) bool { return r.ID == here && here != "" }))
	first := max(0, min(at-most/2, len(w.Rows)-most))
	last := min(len(w.Rows), first+most)
	w.Before, w.After = first, len(w.Rows)-last
	w.Rows = w.Rows[first:last]
	for i := range w.Rows {
		r := &w.Rows[i]
		r.Here = r.ID == here && here != ""
		r.Note = shortened(say(lang, r.told()))
	}
	return w
}

// nestedRows are the rows in the order in which they began, those that a call made right below it.
func nestedRows(rows []fallRow) (nested []fallRow) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b fallRow) int { return a.At.Compare(b.At) })
	known := map[string]bool{}
	for _, r := range rows {
		known[r.ID] = r.ID != ""
	}
	inner := map[string][]fallRow{}
	for _, r := range rows {
		made := r.Parent
		if !known[made] {
			made = ""
		}
		inner[made] = append(inner[made], r)
	}
	var add func(made string, depth int)
	add = func(made string, depth int) {
		for _, r := range inner[made] {
			r.Depth = min(depth, maxFallDepth)
			nested = append(nested, r)
			if r.ID != "" {
				add(r.ID, depth+1)
			}
		}
	}
	add("", 0)
	return nested
}

// draw places the rows that have records.
func (w *waterfall) draw(from, to time.Time) {
	for _, r := range w.Rows {
		if r.ID == "" {
			continue
		}
		if from.IsZero() || r.At.Before(from) {
			from = r.At
		}
		if end := r.end(); end.After(to) {
			to = end
		}
	}
	w.Took = max(to.Sub(from), 1)
	for i := range w.Rows {
		r := &w.Rows[i]
		if r.ID == "" {
			continue
		}
		r.Start = r.At.Sub(from)
		width := max(w.units(r.end().Sub(r.At)), 4) // so that it can be seen
		r.Bar = bar{min(w.units(r.Start), axisWidth-width), width}
	}
}

func (w *waterfall) units(d time.Duration) int { return int(axisWidth * float64(d) / float64(w.Took)) }

// Half is the time in the middle of the axis.
func (w *waterfall) Half() time.Duration { return w.Took / 2 }

// end is when the call has ended; of one that goes on, now.
func (r *fallRow) end() time.Time {
	if r.Open() {
		return time.Now()
	}
	return r.At.Add(duration(r.DurationMS))
}

// Shown is the call's name: as the script wrote it, or else the tool's.
func (r fallRow) Shown() string { return cmp.Or(r.Name, r.Tool, r.Upstream) }

// Link is the id of the call's record; "": it has none.
func (r fallRow) Link() string { return cmp.Or(r.ID, r.Log.Call) }

// Ended is how the call ended as far as it is known; "": it has not, or nobody waited for it.
func (r fallRow) Ended() string {
	switch {
	case r.Outcome != "":
		return r.Outcome
	case r.Log.Error != "":
		return "error"
	case r.Log.Done:
		return "ok"
	}
	return ""
}

// told is what went wrong, or what else is to be known, such as that the call was made again.
func (r *fallRow) told() string {
	if r.Ended() == "ok" {
		return r.Message
	}
	return cmp.Or(r.Log.Error, r.Message)
}

func shortened(text string) string {
	if utf8.RuneCountInString(text) <= maxFallNote {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:maxFallNote])) + "…"
}

// fallRows are the rows of calls of which nothing but the records is known.
func fallRows(calls []restapi.Call) (rows []fallRow) {
	for _, one := range calls {
		rows = append(rows, fallRow{Call: one})
	}
	return rows
}

// within is the waterfall of what a call belongs to: the call that made it with all that this one made, or else what its session
// did without a long pause. Nil: it stands alone.
func (c *Console) within(v *visit, one restapi.Call) (*waterfall, error) {
	switch {
	case one.Outcome == "":
		return nil, nil // it goes on, and its page is asked for again and again
	case one.Parent != "":
		return c.besideIn(v, one)
	case one.Session != "":
		return c.stretchOf(v, one)
	}
	return nil, nil
}

// besideIn is the waterfall of the call that made this one.
func (c *Console) besideIn(v *visit, one restapi.Call) (*waterfall, error) {
	parent, err := c.Calls.ReadCall(v.Context(), v.who, one.Parent)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	rows, more, err := c.madeBy(v, one.Parent, parent.Script)
	if err != nil {
		return nil, err
	}
	if parent.ID != "" {
		rows = append(rows, fallRow{Call: parent})
	}
	w := waterfallOf(v.lang, rows, one.ID, time.Time{}, time.Time{})
	w.More = more
	w.Open = parent.Open()
	w.List = with(c.at("/calls"), url.Values{}, "parent", one.Parent)
	return w, nil
}

const (
	// pause is how long a session does nothing before what comes next counts as something else.
	pause = 2 * time.Minute
	// maxStretch is how many calls before, and after, a call of a session are read.
	maxStretch = 200
)

// stretchOf is the waterfall of what a session did around a call; nil if that was this call alone.
func (c *Console) stretchOf(v *visit, one restapi.Call) (*waterfall, error) {
	around := url.Values{"session": {one.Session}, "cursor": {one.ID}, "limit": {strconv.Itoa(maxStretch)}}
	earlier, err := c.Calls.ListCalls(v.Context(), v.who, around, 0)
	if err != nil {
		return nil, err
	}
	around.Set("oldest", "true")
	later, err := c.Calls.ListCalls(v.Context(), v.who, around, 0)
	if err != nil {
		return nil, err
	}
	rows := []fallRow{{Call: one}}
	begin, end := one.At, rows[0].end()
	before, after := 0, 0
	for _, r := range fallRows(earlier.Calls) {
		if begin.Sub(r.end()) > pause {
			break
		}
		rows, begin, before = append(rows, r), r.At, before+1
	}
	for _, r := range fallRows(later.Calls) {
		if r.At.Sub(end) > pause {
			break
		}
		rows, after = append(rows, r), after+1
		if r.end().After(end) {
			end = r.end()
		}
	}
	if len(rows) == 1 {
		return nil, nil
	}
	w := waterfallOf(v.lang, rows, one.ID, begin, end)
	w.More = earlier.Next != "" && before == len(earlier.Calls) || later.Next != "" && after == len(later.Calls)
	w.List = with(c.at("/calls"), url.Values{}, "session", one.Session)
	return w, nil
}

type timelinePage struct {
	callFilter
	*waterfall
}

// timeline shows the calls that a filter chooses on a common axis.
func (c *Console) timeline(v *visit) (timelinePage, error) {
	p := timelinePage{callFilter: c.callFilterOf(v, "/calls/timeline")}
	if p.Fault != nil {
		return p, p.Fault
	}
	p.callFilter.ask.Set("limit", strconv.Itoa(maxRowsOfFall))
	found, err := c.Calls.ListCalls(v.Context(), v.who, p.callFilter.ask, lookAt)
	if err != nil {
		return p, err
	}
	p.waterfall = waterfallOf(v.lang, fallRows(found.Calls), "", time.Time{}, time.Time{})
	p.waterfall.List = with(c.at("/calls"), p.query, "", "")
	p.older(found.Next)
	return p, nil
}
