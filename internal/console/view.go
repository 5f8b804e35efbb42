package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"time"
)

// maxCalls is how many calls the page shows.
const maxCalls = 50

// Page is what the page shows. Everything is shown in the order given.
type Page struct {
	Version string
	MCPURL  string // what an agent connects to
	Servers []Server
	Tools   []Tool
	Calls   []Call // the newest first; the first 50 are shown
}

// Server is one upstream server.
type Server struct {
	Name      string
	Kind      string    // how it is reached: "stdio", "http", "builtin", "api"
	State     string    // one word, shown as it is; "up" and "ready" are shown as good, "down" as bad
	Tools     int       // tools in the catalogue
	Held      int       // tools held back until someone approves them
	LastCheck time.Time // zero: never
	Reason    string    // why it is down; "" when it is not
}

// Tool is one tool as models see it.
type Tool struct {
	Name        string
	Server      string
	Description string
	InputSchema string // JSON; shown indented
}

// Call is one call of a tool.
type Call struct {
	Time      time.Time // shown in its own zone
	Tool      string
	Principal string
	Outcome   string // one word, shown as it is; "ok" is shown as good, all others as bad
	Code      string // "" when there was no fault
	Duration  time.Duration
	Bytes     int64
}

// view is the page in the form that the template walks.
type view struct {
	Page
	Groups []group
	Open   bool // few enough tools to show them all at once
}

// group is the tools of one server.
type group struct {
	Server string
	Tools  []Tool
}

func newView(p Page) view {
	v := view{Page: p, Open: len(p.Tools) <= 12}
	v.Calls = p.Calls[:min(maxCalls, len(p.Calls))]
	at := map[string]int{}
	for _, t := range p.Tools {
		i, ok := at[t.Server]
		if !ok {
			i = len(v.Groups)
			at[t.Server] = i
			v.Groups = append(v.Groups, group{Server: t.Server})
		}
		t.InputSchema = indent(t.InputSchema)
		v.Groups[i].Tools = append(v.Groups[i].Tools, t)
	}
	return v
}

// indent makes JSON readable and keeps its order; what is no JSON stays as it is.
func indent(s string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(s), "", "  ") != nil {
		return s
	}
	return b.String()
}

// words are the functions that the template calls.
func words() template.FuncMap {
	return template.FuncMap{
		"clock": clock, "moment": moment, "took": took, "size": size,
		"serverTone": serverTone, "callTone": callTone, "count": count,
	}
}

// clock is the time as a person reads it.
func clock(t time.Time) string { return t.Format("2006-01-02 15:04:05") }

// moment is the time with its zone, for programs and for those who hover.
func moment(t time.Time) string { return t.Format(time.RFC3339) }

func took(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1000_000)
}

// count writes a number with its noun: "1 tool", "3 tools".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// serverTone names the class that colours a server's state.
func serverTone(s Server) string {
	switch {
	case s.Reason != "" || s.State == "down":
		return "bad"
	case s.State == "up" || s.State == "ready":
		return "good"
	}
	return "calm"
}

func callTone(c Call) string {
	if c.Outcome == "ok" {
		return "good"
	}
	return "bad"
}
