package console

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// shownSeries is how many series have a layer of their own; the others share one.
const shownSeries = 5

// chartsOf draws what was called, and gives the numbers from which it is drawn.
func chartsOf(lang locale.Language, a *restapi.Activity) (charts []chart, rows []chartRow) {
	calls, errs := seriesOf(lang, a)
	latency := stack{
		name: "latency", classes: []string{"c-median", "c-tail"}, names: []string{text(lang, "chart.half"), text(lang, "chart.p95")},
		paths: []string{"", ""}, values: make([][]float64, 2), show: axisTime,
	}
	tokens := stack{
		name: "tokens", classes: []string{"c-sent", "c-left"}, names: []string{text(lang, "chart.sent"), text(lang, "chart.left")},
		paths: []string{"", ""}, values: make([][]float64, 2), show: short, whole: true,
	}
	for _, s := range a.Spans {
		latency.values[0] = append(latency.values[0], s.P50)
		latency.values[1] = append(latency.values[1], s.P95-s.P50)
		tokens.values[0] = append(tokens.values[0], float64(s.TokensSent))
		tokens.values[1] = append(tokens.values[1], float64(max(s.TokensFull-s.TokensSent, 0)))
	}
	for _, s := range []*stack{&calls, &errs, &latency, &tokens} {
		charts = append(charts, s.draw(lang, len(a.Spans)))
	}
	for i := range charts {
		charts[i].Ticks, charts[i].Days = axisOf(lang, a)
	}
	sum := &a.Total
	busiest := 0.0
	for i := range a.Spans {
		busiest = max(busiest, calls.total(i))
	}
	charts[0].Value = number(sum.Calls)
	charts[0].Note = text(lang, "chart.calls.note", number(int64(busiest)), stepText(lang, a.Step))
	charts[1].Value = number(sum.Errors)
	charts[1].Note = text(lang, "chart.errors.note", share(ratio(sum.Errors, sum.Calls)))
	if sum.Errors > 0 {
		charts[1].Tone = "bad"
	}
	charts[2].Value = tookAbout(sum.P95)
	charts[2].Note = text(lang, "chart.latency.note", tookAbout(sum.P50))
	charts[3].Value = number(sum.TokensSent)
	left := max(sum.TokensFull-sum.TokensSent, 0)
	charts[3].Note = text(lang, "chart.tokens.note", number(left), share(ratio(left, sum.TokensFull)))
	return charts, numbersOf(lang, a, charts, []*stack{&calls, &errs})
}

// seriesOf are the calls and the errors of the series.
func seriesOf(lang locale.Language, a *restapi.Activity) (calls, errs stack) {
	calls = stack{name: "calls", show: short, whole: true}
	errs = stack{name: "errors", show: short, whole: true}
	add := func(class, name, path string, s *restapi.ActivitySeries) {
		for _, to := range []*stack{&calls, &errs} {
			counts := s.Calls
			if to == &errs {
				counts = s.Errors
			}
			values := make([]float64, len(counts))
			for i, n := range counts {
				values[i] = float64(n)
			}
			to.classes = append(to.classes, class)
			to.names = append(to.names, name)
			to.paths = append(to.paths, path)
			to.values = append(to.values, values)
		}
	}
	shown := len(a.Series)
	if shown > shownSeries+1 {
		shown = shownSeries
	}
	if a.By == "server" { // those with the most calls change places; colors should not
		slices.SortFunc(a.Series[:shown], func(x, y restapi.ActivitySeries) int { return cmp.Compare(x.Key, y.Key) })
	}
	for i := range a.Series[:shown] {
		s := &a.Series[i]
		class, name := seriesClass(a.By, s.Key, i), plain(s.Key)
		path := "/calls?" + url.Values{a.By: {s.Key}}.Encode()
		switch {
		case a.By == "outcome":
			name = word(lang, "outcome.", s.Key)
		case s.Key == "":
			name = text(lang, "chart.noServer")
			path = ""
		}
		add(class, name, path, s)
	}
	if others := a.Series[shown:]; len(others) > 0 {
		rest := restapi.ActivitySeries{Calls: make([]int64, len(a.Spans)), Errors: make([]int64, len(a.Spans))}
		for _, s := range others {
			for at := range rest.Calls {
				rest.Calls[at] += s.Calls[at]
				rest.Errors[at] += s.Errors[at]
			}
		}
		add("c-others", text(lang, "chart.others", len(others)), "", &rest)
	}
	return calls, errs
}

// outcomeClasses are the colors of outcomes; those of servers are by their place.
var outcomeClasses = map[string]string{
	"ok": "c-ok", "error": "c-error", "tool_error": "c-tool-error", "question": "c-question", "canceled": "c-canceled",
}

func seriesClass(by, key string, at int) string {
	if by == "server" {
		return []string{"c-one", "c-two", "c-three", "c-four", "c-five", "c-others"}[at]
	}
	if class := outcomeClasses[key]; class != "" {
		return class
	}
	return "c-others"
}

// numbersOf are the numbers of the charts, and the columns that they stand in: of calls and errors the sum and the layers, of latency the
// two quantiles, of tokens what was sent and what there was.
func numbersOf(lang locale.Language, a *restapi.Activity, charts []chart, stacks []*stack) []chartRow {
	rows := make([]chartRow, len(a.Spans))
	for i := range rows {
		rows[i].At = a.Spans[i].At
	}
	fill := func(c *chart, name, class string, cell func(at int) string) {
		c.Columns = append(c.Columns, column{name, class})
		for i := range rows {
			rows[i].Cells = append(rows[i].Cells, cell(i))
		}
	}
	for n, s := range stacks {
		c := &charts[n]
		fill(c, text(lang, "chart."+s.name), "", func(at int) string { return number(int64(s.total(at))) })
		for l := range s.values {
			if len(c.Layers) > 1 && slices.ContainsFunc(c.Layers, func(drawn layer) bool { return drawn.Class == s.classes[l] }) {
				fill(c, s.names[l], s.classes[l], func(at int) string { return number(int64(s.values[l][at])) })
			}
		}
	}
	fill(&charts[2], text(lang, "chart.p95"), "c-tail", func(at int) string { return tookAbout(a.Spans[at].P95) })
	fill(&charts[2], text(lang, "chart.half"), "c-median", func(at int) string { return tookAbout(a.Spans[at].P50) })
	fill(&charts[3], text(lang, "chart.sent"), "c-sent", func(at int) string { return number(a.Spans[at].TokensSent) })
	fill(&charts[3], text(lang, "chart.full"), "", func(at int) string { return number(a.Spans[at].TokensFull) })
	return rows
}

// axisTime is a time at an axis, in milliseconds.
func axisTime(ms float64) string {
	if ms == 0 {
		return "0"
	}
	return millis(ms)
}

// tookAbout is an estimate of how long calls took; shorter and longer ones are not told apart.
func tookAbout(ms float64) string {
	switch {
	case ms == 0:
		return "–"
	case ms <= 10:
		return "<10 ms"
	case ms >= 30_000:
		return ">30 s"
	}
	return took(duration(ms).Round(roundTo(ms)))
}

// roundTo leaves two digits, which is more than the estimate is good for.
func roundTo(ms float64) time.Duration {
	unit := time.Millisecond
	for ; ms >= 100; ms /= 10 {
		unit *= 10
	}
	return unit
}

// stepText is the length of a span.
func stepText(lang locale.Language, seconds int) string {
	switch {
	case seconds < 60:
		return text(lang, "chart.seconds", seconds)
	case seconds == 60:
		return text(lang, "chart.minute")
	case seconds < 3600:
		return text(lang, "chart.minutes", seconds/60)
	}
	return text(lang, "chart.hours", seconds/3600)
}
