package console

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// chart is a bar for each span of a time, each a stack of layers. Bars are drawn in a box of 10 units for each span and chartHeight,
// which the browser stretches to the width that there is; texts stand beside it.
type chart struct {
	Name    string // console.chart.NAME
	Value   string
	Note    string
	Tone    string
	Label   string // for screen readers
	Box     string // the view box
	Layers  []layer
	Lines   []tick // across, with what they stand for
	Grid    string // those lines, as a path
	Ticks   []tick // along the time
	Days    bool   // those are days
	Bursts  []tick // bars that are cut off, with their values
	Breaks  string // the cuts through those
	Columns []column
}

// layer is one part of all bars.
type layer struct {
	Class string
	Name  string
	Path  string // where its calls are listed; "": nowhere
	Bars  string // a path
	Last  string // that of the span that is not over
}

// tick is a text at a place: percent from the left, or units from the top.
type tick struct {
	At   string
	Text string
	Time time.Time // so that the text can be that of the person's own zone
	End  bool      // the text ends there, where no room is left
}

// column is a column of the table with the numbers of all charts.
type column struct {
	Name  string
	Class string // of its layer; "": a sum
}

// chartRow is one span in that table.
type chartRow struct {
	At    time.Time
	Cells []string
}

const (
	chartHeight = 120
	// leastBar is the height of the smallest value that is not nothing.
	leastBar = 1.5
	// burstFactor is how many times as high as the rest bars must be to be cut off.
	burstFactor = 4
)

// stack is what a chart is drawn from.
type stack struct {
	name    string
	classes []string
	names   []string
	paths   []string
	values  [][]float64 // of each layer, span by span
	show    func(float64) string
	whole   bool // values are whole numbers
}

// total is the height of the whole bar of a span.
func (s *stack) total(at int) (sum float64) {
	for _, values := range s.values {
		sum += values[at]
	}
	return sum
}

// draw draws the stack; n is how many spans there are.
func (s *stack) draw(lang locale.Language, n int) chart {
	totals := make([]float64, n)
	for i := range totals {
		totals[i] = s.total(i)
	}
	top, step := scaleOf(totals, s.whole)
	c := chart{Name: s.name, Box: fmt.Sprintf("0 0 %d %d", 10*n, chartHeight)}
	for v := 0.0; v <= top+step/2; v += step {
		y := units(chartHeight * (1 - v/top))
		c.Lines = append(c.Lines, tick{At: y, Text: s.show(v)})
		c.Grid += fmt.Sprintf("M0 %sh%d", y, 10*n)
	}
	bars := make([]strings.Builder, len(s.values))
	last := make([]strings.Builder, len(s.values))
	var breaks strings.Builder
	for i := range n {
		y := float64(chartHeight)
		for l, h := range s.heights(i, totals[i], top) {
			into := &bars[l]
			if i == n-1 {
				into = &last[l]
			}
			if h > 0 {
				y -= h
				fmt.Fprintf(into, "M%d %sh8v%sh-8z", 10*i+1, units(y), units(h))
			}
		}
		if totals[i] > top {
			fmt.Fprintf(&breaks, "M%d 24l10-8v5l-10 8z", 10*i)
		}
	}
	for l := range s.values {
		if bars[l].Len()+last[l].Len() > 0 {
			c.Layers = append(c.Layers, layer{s.classes[l], s.names[l], s.paths[l], bars[l].String(), last[l].String()})
		}
	}
	c.Breaks = breaks.String()
	c.Bursts = s.bursts(totals, top)
	highest := slices.Max(totals)
	c.Label = text(lang, "chart.label", text(lang, "chart."+s.name), s.show(highest))
	return c
}

// heights are those of the layers of a bar, from the bottom up. Whatever is not nothing is seen; a bar that is cut off shows the
// shares of its layers.
func (s *stack) heights(at int, total, top float64) []float64 {
	all := make([]float64, len(s.values))
	sum := 0.0
	for l, values := range s.values {
		if values[at] > 0 {
			all[l] = max(values[at]/max(top, total)*chartHeight, leastBar)
			sum += all[l]
		}
	}
	if sum > chartHeight {
		for l := range all {
			all[l] *= chartHeight / sum
		}
	}
	return all
}

// bursts are the values of the bars that are cut off; of several close together only the highest.
func (s *stack) bursts(totals []float64, top float64) (all []tick) {
	n := len(totals)
	apart := max(n/10, 1)
	for i, v := range totals {
		if v <= top {
			continue
		}
		around := totals[max(i-apart, 0):min(i+apart+1, n)]
		if at := slices.Index(around, slices.Max(around)); max(i-apart, 0)+at == i {
			all = append(all, tick{At: percent(float64(i)+0.5, n), Text: s.show(v), End: 20*i > 19*n})
		}
	}
	return all
}

// scaleOf is where a scale ends and how far apart its lines are. A few bars that are much higher than all others do not count: they
// are cut off, so that the others can still be told apart.
func scaleOf(totals []float64, whole bool) (top, step float64) {
	sorted := slices.Clone(totals)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	highest := sorted[0]
	for k := 1; k <= max(len(sorted)/10, 1) && k < len(sorted); k++ {
		swells := k <= len(sorted)/20 && sorted[0] > 2*burstFactor*sorted[k] // a burst need not begin and end at once
		if sorted[k] > 0 && (swells || sorted[k-1] > burstFactor*sorted[k]) {
			highest = sorted[k] * 1.2 // so that the cut ones are higher
		}
	}
	if highest <= 0 {
		highest = 1
	}
	step = niceStep(highest / 3)
	if whole {
		step = max(step, 1)
	}
	return math.Ceil(highest/step) * step, step
}

// niceStep is the next number from v on that is 1, 2 or 5 with noughts.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*power*1.0001 {
			return f * power
		}
	}
	return 10 * power
}

// short is a number for an axis or a label, where there is little room.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 3, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func units(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func percent(at float64, n int) string { return units(100*at/float64(n)) + "%" }

// axisOf are times along an axis: round ones of this machine's zone, and whether they are days.
func axisOf(lang locale.Language, a *restapi.Activity) (all []tick, days bool) {
	every := map[string]time.Duration{
		"15m": 3 * time.Minute, "1h": 10 * time.Minute, "6h": time.Hour, "24h": 4 * time.Hour, "7d": 24 * time.Hour, "30d": 5 * 24 * time.Hour,
	}[a.Range]
	days = every >= 24*time.Hour
	form := "15:04"
	if days {
		form = text(lang, "chart.day")
	}
	step := time.Duration(a.Step) * time.Second
	y, m, d := a.Since.Local().Date()
	for i := 0; ; i++ {
		at := time.Date(y, m, d, 0, 0, i*int(every/time.Second), 0, time.Local)
		if days {
			at = time.Date(y, m, d+i*int(every/(24*time.Hour)), 0, 0, 0, 0, time.Local) // a day need not have 24 hours
		}
		place := float64(at.Sub(a.Since)) / float64(step) / float64(len(a.Spans))
		if place > 0.97 {
			return all, days
		}
		if place > 0.03 {
			all = append(all, tick{At: percent(place, 1), Text: at.Format(form), Time: at})
		}
	}
}
