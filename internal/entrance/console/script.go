package console

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// scriptPart is the script that a call ran, and what it called.
type scriptPart struct {
	Code, Input block
	Calls       []scriptCall  // in the order in which they began
	Took        time.Duration // that the common axis of their bars has
}

// scriptCall is a call of a script: what its log says, and the record where there is one.
type scriptCall struct {
	restapi.Call        // without an id: there is no record of this run
	Name         string // as the script wrote it; "": it is in no log
	Log          restapi.ScriptCall
	Start        time.Duration // after the script began
	Bar          bar
}

// bar is a rectangle on an axis of axisWidth units.
type bar struct{ X, Width int }

const axisWidth = 1000

// maxScriptCalls is how many calls of a script are shown; one pass makes fewer.
const maxScriptCalls = 1000

// scriptOf is the script of a call; nil if it ran none. The log knows the names, the records the times; each may lack some.
func (c *Console) scriptOf(v *visit, one restapi.Call) (*scriptPart, error) {
	if one.Script == nil {
		return nil, nil
	}
	records, err := c.Calls.ListCalls(v.Context(), v.who, url.Values{"parent": {one.ID}, "limit": {strconv.Itoa(maxScriptCalls)}}, 0)
	if err != nil {
		return nil, err
	}
	p := &scriptPart{Code: listing(text(v.lang, "script.title"), one.Script.Code)}
	if one.Script.Input != nil {
		p.Input = code(text(v.lang, "script.input"), one.Script.Input)
	}
	p.Calls = joined(one.Script.Log, records.Calls)
	end := one.At.Add(duration(one.DurationMS))
	if one.Open() {
		end = time.Now()
	}
	p.draw(one.At, end)
	return p, nil
}

// joined are the calls of the log with their records, and the records that are in no log, in the order in which they began. What
// has no record stays behind what the script called before it.
func joined(log []restapi.ScriptCall, records []restapi.Call) (calls []scriptCall) {
	var last time.Time
	for _, e := range log {
		one := scriptCall{Name: e.Name, Log: e}
		if i := slices.IndexFunc(records, func(r restapi.Call) bool { return r.ID == e.Call && e.Call != "" }); i >= 0 {
			one.Call = records[i]
			records = slices.Delete(records, i, i+1)
		}
		if one.ID == "" {
			one.At = last
		}
		last = one.At
		calls = append(calls, one)
	}
	for _, r := range slices.Backward(records) {
		calls = append(calls, scriptCall{Call: r})
	}
	slices.SortStableFunc(calls, func(a, b scriptCall) int { return a.At.Compare(b.At) })
	return calls
}

// draw puts the calls with records on the axis from one time to another, and further where a call is not within.
func (p *scriptPart) draw(from, to time.Time) {
	for _, one := range p.Calls {
		if one.ID == "" {
			continue
		}
		if one.At.Before(from) {
			from = one.At
		}
		if end := one.At.Add(duration(one.DurationMS)); end.After(to) {
			to = end
		}
	}
	p.Took = max(to.Sub(from), 1)
	for i := range p.Calls {
		one := &p.Calls[i]
		if one.ID == "" {
			continue
		}
		one.Start = one.At.Sub(from)
		width := max(p.units(duration(one.DurationMS)), 4) // so that it can be seen
		one.Bar = bar{min(p.units(one.Start), axisWidth-width), width}
	}
}

func (p *scriptPart) units(d time.Duration) int { return int(axisWidth * d / p.Took) }

// Shown is the call's name: as the script wrote it, or else the tool's.
func (s scriptCall) Shown() string { return cmp.Or(s.Name, s.Tool, s.Upstream) }

// Link is the id of the call's record; "": it has none.
func (s scriptCall) Link() string { return cmp.Or(s.ID, s.Log.Call) }

// Ended is how the call ended as far as it is known; "": it has not, or nobody waited for it.
func (s scriptCall) Ended() string {
	switch {
	case s.Outcome != "":
		return s.Outcome
	case s.Log.Error != "":
		return "error"
	case s.Log.Done:
		return "ok"
	}
	return ""
}

// Why is what went wrong; "": nothing did.
func (s scriptCall) Why() string {
	if s.Ended() == "ok" {
		return ""
	}
	return cmp.Or(s.Log.Error, s.Message)
}

// listing is a block of text with a number before each line.
func listing(label, text string) block {
	return newBlock(label, []byte(text), maxCode, func(shown string) template.HTML {
		var b strings.Builder
		for line := range strings.Lines(plain(shown)) {
			b.WriteString(`<span class="line">` + template.HTMLEscapeString(line) + "</span>")
		}
		return template.HTML(b.String())
	})
}
