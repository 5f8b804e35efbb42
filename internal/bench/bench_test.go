package main

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/bench/upstream"
	"github.com/toolfit/toolfit/internal/bench/wire"
)

func TestJudge(t *testing.T) {
	value := upstream.Check{In: upstream.Result, Path: []string{"a", "0"}, Want: `9007199254740993`}
	order := upstream.Check{In: upstream.Result, Path: []string{"o"}, Want: `{"b":0,"a":0}`, Order: true}
	for _, c := range []struct {
		name, part string
		check      upstream.Check
		want       string
	}{
		{"the same bytes are kept", `{"a":[9007199254740993]}`, value, kept},
		{"blanks do not count", `{ "a" : [ 9007199254740993 ] }`, value, kept},
		{"another number is a change", `{"a":[9007199254740992]}`, value, changed},
		{"the same number as a float is a change", `{"a":[9007199254740993.0]}`, value, changed},
		{"what is not there is lost", `{"a":[]}`, value, lost},
		{"a part of another kind has lost it", `{"a":{"0":1}}`, value, lost},
		{"no part at all is a failure", ``, value, failed},
		{"members in order, whatever their values", `{"o":{"b":{"x":[1]},"a":2}}`, order, kept},
		{"members in another order", `{"o":{"a":1,"b":2}}`, order, changed},
		{"a member less", `{"o":{"b":2}}`, order, changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var part json.RawMessage
			if c.part != "" {
				part = json.RawMessage(c.part)
			}
			if got := judge(c.check, part, "why"); got.Verdict != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// The checks must hold where nothing is between client and server, or they would blame gateways for nothing.
func TestNothingIsLostThroughAPlainProxy(t *testing.T) {
	for _, era := range []wire.Era{wire.Legacy, wire.Modern} {
		s, err := upstream.New(&upstream.Options{Set: upstream.SetOdd, Modern: true})
		if err != nil {
			t.Fatal(err)
		}
		back := httptest.NewServer(s)
		defer back.Close()
		behind, err := url.Parse(back.URL + "/0/mcp")
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(newProxy(behind))
		defer front.Close()
		to := &target{peer: peers[0], era: era, setting: setting{urls: []string{front.URL + "/mcp"}}}
		tools, err := to.list()
		if err != nil || len(tools) != len(upstream.OddTools) {
			t.Fatal(tools, err)
		}
		c, err := to.open()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, odd := range upstream.OddTools {
			parts, reason := through(c, tools, &odd)
			for _, check := range odd.Checks {
				if v := judge(check, parts[check.In], reason); v.Verdict != kept {
					t.Errorf("%s, %s: %v", era, checkName(check), v)
				}
			}
		}
	}
}

// small is a report with a little of everything.
func small() *report {
	r := &report{Date: "2026-01-02", Commit: "abc", Machine: "a machine"}
	r.Peers = []reportPeer{
		{Name: peers[0].name}, {Name: toolfit, Version: "commit abc"}, {Name: "other <&>", Version: "1"}, {Name: "absent", Missing: "no network"},
	}
	for i, name := range []string{peers[0].name, toolfit, "other <&>"} {
		for _, s := range scenarios {
			r.Calls = append(r.Calls, reportCall{Peer: name, Era: "legacy", Scenario: s.name, CPU: float64(100 * (i + 1)), Upstream: 1})
		}
		r.Memory = append(r.Memory, reportMemory{Peer: name, Start: 1, Idle: float64(50 - i), PerSession: 10, Sessions: 50})
		r.Loss = append(r.Loss, reportLoss{name, "legacy", map[string]reportVerdict{"error: code": {Verdict: kept}}})
	}
	r.Growth = []reportGrowth{
		{Peer: toolfit, Tools: 200, Start: 1, Memory: 50, Search: 2, Found: 20},
		{Peer: toolfit, Tools: 2000, Start: 10, Memory: 60, Search: 2, Found: 20},
	}
	for _, n := range []int{0, 1000, 5000} {
		r.Points = append(r.Points, reportPoint{"sessions", toolfit, n, figuresOf{"each": 60, "call": 100}})
	}
	for _, n := range []int{0, 1000, 5000} {
		r.Points = append(r.Points, reportPoint{"sessions", peers[0].name, n, figuresOf{"each": 20, "call": 50 + float64(n)}})
	}
	return r
}

func TestThePageKeepsWhatOthersWrote(t *testing.T) {
	docs := t.TempDir()
	file := filepath.Join(docs, "benchmarks.md")
	if err := os.WriteFile(file, []byte("above\n"+begin+"figures of last year\n"+end+"below\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // writing it again changes nothing
		if err := small().write(docs); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "above\n"+begin) || !strings.HasSuffix(got, end+"below\n") ||
		strings.Contains(got, "last year") || strings.Count(got, begin) != 1 {
		t.Errorf("got %s", got)
	}
	for _, want := range []string{
		"| toolfit | 2.00 × (200) |", "- absent: no network.",
		"memory when idle: toolfit 49.0 MB; other <&> 48.0",
		"Toolfit. From 200 to 2,000 tools: time until ready 10.0 × (linear), memory 1.20 × (flat), time of a search 1.00 × (flat).",
		"- toolfit. From 1,000 to 5,000 sessions: memory of each 1.00 × (flat), CPU of a call 1.00 × (flat).",
		"| toolfit | 5,000 | – | 60.0 | – | 100 |",
		"- CPU with 0 sessions: toolfit 100 µs; reverse proxy 50.0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestAPageWithoutItsMarksIsLeftAlone(t *testing.T) {
	docs := t.TempDir()
	file := filepath.Join(docs, "benchmarks.md")
	if err := os.WriteFile(file, []byte("somebody's own page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := small().write(docs); err == nil {
		t.Error("it was overwritten")
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	for name, svg := range small().charts() {
		in := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := in.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v in %s", name, err, svg)
			}
		}
		if !strings.Contains(svg, "prefers-color-scheme:dark") || strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: %s", name, svg)
		}
	}
}

func TestProgramsAndSourcesMustBeNamedAndThere(t *testing.T) {
	dir := t.TempDir()
	here, source := filepath.Join(dir, "program"), filepath.Join(dir, "source")
	err := os.WriteFile(here, nil, 0o700)
	if err == nil {
		err = os.Mkdir(source, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(source, "go.mod"), nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for args, good := range map[string]bool{
		"mcpproxy-go=" + here: true, "mcpproxy-go=" + here + "-not": false, "mcpproxy-go=" + dir: false, "mcpproxy-go=" + source: true,
		"nobody=" + here: false, "mcpproxy-go": false, "mcp-hub=" + here: false,
	} {
		if _, err := parse([]string{"-peers", args}); (err == nil) != good {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestGrowthIsNamedByItsLastStep(t *testing.T) {
	at := []float64{1, 10, 100}
	for want, values := range map[string][]float64{
		"flat":             {100, 90, 120},
		"falls":            {100, 90, 70},
		"linear":           {1, 10, 100},
		"less than linear": {100, 110, 200}, // a constant, and little besides
		"more than linear": {100, 110, 10_000},
	} {
		if times, got := grown(at, values); got != want || times != values[2]/values[0] {
			t.Errorf("%v: got %q, %v times, want %q", values, got, times, want)
		}
	}
}

func TestOnlyNamesWhatGrows(t *testing.T) {
	for names, want := range map[string]int{"growth": len(axes), "servers": 1, "servers,records": 2} {
		o, err := parse([]string{"-only", names})
		if err != nil || len(o.chosen()) != want {
			t.Errorf("%s: %v, %v", names, o, err)
		}
	}
	if _, err := parse([]string{"-only", "tools"}); err == nil {
		t.Error("an unknown name was taken")
	}
}

func TestEveryAxisCanBeWritten(t *testing.T) {
	for _, a := range axes {
		r := &report{}
		for i, n := range a.sizes {
			values := figuresOf{}
			for _, m := range a.measures {
				values[m.key] = float64(i + 1)
			}
			r.Points = append(r.Points, reportPoint{a.name, toolfit, n, values})
		}
		text := r.axesPage()
		if !strings.Contains(text, "Growth with "+a.title) || strings.Contains(text, "–") || !strings.Contains(text, "From ") {
			t.Errorf("%s: %s", a.name, text)
		}
	}
}
