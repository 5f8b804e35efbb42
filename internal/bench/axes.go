package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// axis is something that grows behind or before a gateway, and what is measured of it.
type axis struct {
	name     string // what there are more and more of
	title    string // of the page's part
	unit     string // what is counted, if not the name
	intro    string // how it is measured, for the page
	rows     string // what the first column says; "" if all rows are toolfit's own
	sizes    []int
	quick    []int
	measures []measure
	run      func(l *lab, ctx context.Context, sizes []int, add adder) error
}

// measure is a column of an axis.
type measure struct {
	key  string
	head string // of the column
	says string // what it is in the sentence about growth; "" leaves it out
}

// figuresOf are values by the key of their measure.
type figuresOf map[string]float64

// adder takes what was measured of a row at one size.
type adder func(row string, at int, values figuresOf)

// axes are all that grows, but for tools, which other gateways are measured with, too.
var axes = []*axis{
	{name: "servers", title: "the number of servers", sizes: []int{1, 10, 100, 1000}, quick: []int{1, 100}, run: (*lab).growServers,
		intro: fmt.Sprintf("%s tools in all, one page of a list (`budget: 0`, `detach: off`), on more and more servers, which are paths of "+
			"one address. Ready is when all are listed; a list is the whole list, for 4 clients; "+
			"calls are made by 16, to one server after the other.", number(axisTools)),
		measures: []measure{
			{"ready", "ready s", "time until ready"},
			{"start", "CPU s", "CPU until then"},
			{"settled", "CPU s settled", ""},
			{"memory", "memory MB", "memory"},
			{"call", "call µs CPU", "CPU of a call"},
			{"list", "list µs CPU", "CPU of a list"},
		}},
	{name: "profiles", title: "the number of profiles", sizes: []int{1, 10, 50}, quick: []int{1, 10}, run: (*lab).growProfiles,
		intro: fmt.Sprintf("%s tools on %d servers, one page of a list. Each profile leaves out a tool of its own. Memory is read after the "+
			"start, after a client of each profile has listed its tools, and after one server has changed its list %d times; "+
			"CPU is that of one such change, of the list that each profile's client then asks for, and of a call.",
			number(axisTools), servers, changes),
		measures: []measure{
			{"start", "CPU s of the start", "CPU of the start"},
			{"memory", "memory MB", "memory"},
			{"listed", "listed MB", "memory after lists"},
			{"changed", "changed MB", "memory after changes"},
			{"change", "change ms CPU", "CPU of a change"},
			{"list", "list ms CPU", "CPU of a list after it"},
			{"call", "call µs CPU", "CPU of a call"},
		}},
	{name: "records", title: "the number of records",
		sizes: []int{10_000, 100_000, 1_000_000}, quick: []int{10_000, 100_000}, run: (*lab).growRecords,
		intro: "In the SQLite store when the gateway starts, written by the store's own code. Time is that of `GET /api/v1/calls`, of an " +
			"administrator, for 100 calls: the newest, those with `level=error` (every 100th, by an index), and those with a `tool` " +
			"that no record has, which the counts of calls by tool tell.",
		measures: []measure{
			{"ready", "ready s", "time until ready"},
			{"memory", "memory MB", "memory"},
			{"store", "store MB", "size of the store"},
			{"call", "call µs CPU", "CPU of a call"},
			{"newest", "newest ms", "newest page"},
			{"errors", "errors ms", "errors"},
			{"none", "no such tool ms", "a tool without records"},
		}},
	{name: "sessions", title: "the number of sessions", rows: "gateway",
		sizes: []int{0, 1000, 5000}, quick: []int{100, 500}, run: (*lab).growSessions,
		intro: "Legacy sessions that have made a call and hold their stream open, and 16 more that call. KB are what each adds to the memory " +
			"without any. Files are what the gateway has open; toolfit leaves a quarter of the limit on them for other things than clients. " +
			"The proxy's clients have no stream, as the server behind it offers none.",
		measures: []measure{
			{"memory", "memory MB", ""},
			{"each", "KB each", "memory of each"},
			{"files", "open files", ""},
			{"call", "call µs CPU", "CPU of a call"},
		}},
	{name: "payloads", title: "the size of results", unit: "bytes", rows: "era",
		sizes: []int{1000, 50_000, 1_000_000, 10_000_000}, quick: []int{1000, 1_000_000}, run: (*lab).growPayloads,
		intro: "Text of a result, for 4 clients. Toolfit passes it on whole (`budget: 0`), so that both do the same; " +
			"*cut* is what it does with a profile as it comes, where a model gets 25,000 tokens of it and the rest is kept. " +
			"Peak is the most memory while calls were made.",
		measures: []measure{
			{"proxy", "reverse proxy µs CPU", "CPU of a call through the reverse proxy"},
			{"call", "toolfit µs CPU", "CPU of a call"},
			{"ratio", "ratio", "ratio to the reverse proxy"},
			{"cut", "cut µs CPU", "CPU of a call that is cut"},
			{"proxyPeak", "reverse proxy peak MB", ""},
			{"callPeak", "toolfit peak MB", "peak memory"},
			{"cutPeak", "cut peak MB", "peak memory with cuts"},
		}},
}

// toolsAxis is the one that other gateways have a table of, too.
var toolsAxis = &axis{name: "tools", measures: []measure{
	{"ready", "", "time until ready"}, {"settled", "", "CPU until settled"}, {"memory", "", "memory"},
	{"list", "", "time of a list"}, {"search", "", "time of a search"}}}

// toolPoints are the rows of that table as points.
func (r *report) toolPoints() []reportPoint {
	var all []reportPoint
	for _, g := range r.Growth {
		all = append(all, reportPoint{toolsAxis.name, g.Peer, g.Tools, figuresOf{
			"ready": g.Start, "settled": g.SettledCPU, "memory": g.Memory, "list": g.List, "search": g.Search}})
	}
	return all
}

// axesNamed reads names of axes with commas between.
func axesNamed(text string) (map[string]bool, error) {
	known := []string{everyAxis}
	for _, a := range axes {
		known = append(known, a.name)
	}
	all := map[string]bool{}
	for name := range strings.SplitSeq(text, ",") {
		if name != "" && !slices.Contains(known, name) {
			return nil, fmt.Errorf("-only: nothing is called %q; it is one of: %s", name, strings.Join(known, ", "))
		} else if name != "" {
			all[name] = true
		}
	}
	return all, nil
}

const everyAxis = "growth"

// chosen are the axes of a run: all, or those that were named.
func (o *options) chosen() []*axis {
	var all []*axis
	for _, a := range axes {
		if len(o.only) == 0 || o.only[a.name] || o.only[everyAxis] {
			all = append(all, a)
		}
	}
	return all
}

// grown tells how a value grows with what there is of something: how many times it is at the end, and a word for that. The word
// comes from the last step: what is constant at first hides how the rest grows, and least at the end.
func grown(at, values []float64) (times float64, word string) {
	last := len(values) - 1
	times = values[last] / values[0]
	step := math.Log(values[last]/values[last-1]) / math.Log(at[last]/at[last-1])
	switch {
	case times < 0.8:
		return times, "falls"
	case times <= 1.25: // as much as figures move from run to run
		return times, "flat"
	case step > 1.15:
		return times, "more than linear"
	case step > 0.85:
		return times, "linear"
	}
	return times, "less than linear"
}

// growth says of each measure how it grows in one row; "" where one size is all there is.
func (a *axis) growth(points []reportPoint, row string) string {
	var all []string
	from, to := math.Inf(1), 0.0
	for _, m := range a.measures {
		var at, values []float64
		for _, p := range points {
			if v := p.Values[m.key]; p.Row == row && p.At > 0 && v > 0 {
				at, values = append(at, float64(p.At)), append(values, v)
			}
		}
		if m.says == "" || len(values) < 2 {
			continue
		}
		from, to = min(from, at[0]), max(to, at[len(at)-1])
		times, word := grown(at, values)
		all = append(all, fmt.Sprintf("%s %s × (%s)", m.says, figures(times), word))
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("From %s to %s %s: %s.", number(from), number(to), cmp.Or(a.unit, a.name), strings.Join(all, ", "))
}

// number writes a count with its thousands apart.
func number(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// axesChart shows what a call costs with more and more of everything but bytes.
func (r *report) axesChart() string {
	var panels []panel
	for _, a := range axes {
		p := panel{title: "CPU of a call by " + a.title}
		for _, point := range r.Points {
			if v := point.Values["call"]; point.Axis == a.name && point.Row == toolfit && v > 0 {
				p.bars = append(p.bars, bar{number(float64(point.At)), v, figures(v) + " µs", true})
			}
		}
		if len(p.bars) > 0 {
			panels = append(panels, p)
		}
	}
	return chart("What a call costs with more and more of everything", panels, false)
}

// axesPage is the part of the page about growth.
func (r *report) axesPage() string {
	p := &page{report: r}
	p.axes()
	return p.text.String()
}

func (p *page) axes() {
	if len(p.Points) == 0 {
		return
	}
	p.say("### Growth that must stay as it is\n\n"+
		"The next tables are of toolfit, with the reverse proxy as the mark where it can do the same. "+
		"How a figure grows is computed from them: how many times it is at the end, *flat* up to 1.25 ×, else by the last step. "+
		"The chart is the CPU time of a call.\n\n![CPU of a call with more and more of everything](images/%s)\n\n", axesChartFile)
	for _, a := range axes {
		p.axis(a)
	}
}

const axesChartFile = "compare-scale.svg"

// axis writes what was measured of one.
func (p *page) axis(a *axis) {
	var points []reportPoint
	var order []string // of rows
	for _, point := range p.Points {
		if point.Axis == a.name {
			points = append(points, point)
			if len(order) == 0 || order[len(order)-1] != point.Row {
				order = append(order, point.Row)
			}
		}
	}
	if len(points) == 0 {
		return
	}
	p.say("#### Growth with %s\n\n%s\n\n", a.title, a.intro)
	for _, row := range order {
		if text := a.growth(points, row); text != "" && a.rows != "" {
			p.say("- %s. %s\n", row, text)
		} else if text != "" {
			p.say("%s\n", text)
		}
	}
	var head []string
	if a.rows != "" {
		head = append(head, a.rows)
	}
	head = append(head, cmp.Or(a.unit, a.name))
	for _, m := range a.measures {
		head = append(head, m.head)
	}
	var rows [][]string
	for _, point := range points {
		var row []string
		if a.rows != "" {
			row = append(row, point.Row)
		}
		row = append(row, number(float64(point.At)))
		for _, m := range a.measures {
			if v, has := point.Values[m.key]; has {
				row = append(row, figures(v))
			} else {
				row = append(row, "–")
			}
		}
		rows = append(rows, row)
	}
	p.say("\n")
	p.table(head, rows)
}
