package console

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Activity counts the calls of the last hour.
type Activity interface {
	Pulse(who access.Principal) ([]record.Minute, error)
}

func (c *Console) overviewSection() section {
	return section{name: "overview", path: "/", key: "o", routes: map[string]handler{
		"GET /{$}":           page("overview", whole, c.overview),
		"GET /overview/live": page("overview", "live", c.overview),
	}}
}

type overviewPage struct {
	MCPURL  string
	Live    string // path of the live updates
	At      time.Time
	Tiles   []tile // empty if the person may not read all calls
	Servers []restapi.Server
	Down    int
	Calls   []restapi.Call // the last few
}

// tile is a number about the last hour, with a chart.
type tile struct {
	Name  string // a key: console.tile.NAME
	Value string
	Note  string
	Tone  string
	Spark spark
}

func (c *Console) overview(v *visit) (overviewPage, error) {
	p := overviewPage{MCPURL: c.base(v) + "/mcp", Live: c.at("/overview/live"), At: time.Now(), Servers: c.Servers.SeenServers(v.who)}
	if minutes, err := c.Activity.Pulse(v.who); err == nil {
		counted := "calls"
		if time.Since(c.began) < time.Hour {
			counted = "begun" // earlier calls are listed below but not counted
		}
		p.Tiles = tilesOf(v.lang, counted, minutes)
	}
	for _, s := range p.Servers {
		if tone("server", s.State) == "bad" {
			p.Down++
		}
	}
	last, err := c.Calls.ListCalls(v.Context(), v.who, url.Values{"limit": {"8"}}, 0)
	p.Calls = last.Calls
	return p, err
}

// tilesOf are the tiles of the overview; counted names the first.
func tilesOf(lang locale.Language, counted string, minutes []record.Minute) []tile {
	var calls, errs, full, sent int64
	var slowest time.Duration
	series := [4][]float64{}
	for _, m := range minutes {
		calls += m.Calls
		errs += m.Errors
		full += m.TokensFull
		sent += m.TokensSent
		slowest = max(slowest, m.P95)
		for i, v := range []float64{float64(m.Calls), float64(m.Errors), m.P95.Seconds(), float64(m.TokensFull - m.TokensSent)} {
			series[i] = append(series[i], v)
		}
	}
	last := minutes[len(minutes)-1]
	tiles := []tile{
		{Name: counted, Value: number(calls), Note: text(lang, "tile.calls.note", number(last.Calls))},
		{Name: "errors", Value: number(errs), Note: text(lang, "tile.errors.note", share(ratio(errs, calls)))},
		{Name: "latency", Value: "–", Note: text(lang, "tile.latency.note")},
		{Name: "saved", Value: number(full - sent), Note: text(lang, "tile.saved.note", share(ratio(full-sent, full)))},
	}
	if errs > 0 {
		tiles[1].Tone = "bad"
	}
	if calls > 0 {
		tiles[2].Value = took(slowest)
	}
	for i := range tiles {
		label := text(lang, "tile."+tiles[i].Name) + ": " + tiles[i].Value
		tiles[i].Spark = newSpark(label, series[i])
	}
	return tiles
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// spark is a small chart of the last hour, with a value for each minute. The current minute is
// incomplete and drawn separately, so that it does not look like a drop.
type spark struct {
	Label   string // for screen readers
	Line    string // points of the line
	Area    string // the line, closed at the bottom
	Running string // from the last point to that of the current minute
}

const (
	sparkWidth  = 240
	sparkHeight = 40
)

// newSpark draws the values, the last of which is the current minute's.
func newSpark(label string, values []float64) spark {
	highest := 0.0
	for _, v := range values {
		highest = max(highest, v)
	}
	if highest == 0 {
		highest = 1
	}
	step := float64(sparkWidth) / float64(max(len(values)-1, 1))
	points := make([]string, len(values))
	for i, v := range values {
		points[i] = fmt.Sprintf("%.1f,%.1f", float64(i)*step, sparkHeight-1-max(v, 0)/highest*(sparkHeight-3))
	}
	whole := max(len(points)-1, 0)
	line := strings.Join(points[:whole], " ")
	end := float64(max(whole-1, 0)) * step
	return spark{label, line, fmt.Sprintf("0,%d %s %.1f,%d", sparkHeight, line, end, sparkHeight), strings.Join(points[max(whole-1, 0):], " ")}
}
