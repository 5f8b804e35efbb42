package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// result is all runs of one scenario against one target.
type result struct {
	scenario *scenario
	target   *target
	runs     []*sample
}

// cpu is seconds of CPU per 1,000 good calls: the middle one of the runs.
func (r *result) cpu() float64 {
	return r.median(func(s *sample) float64 { return s.cpu.Seconds() / float64(len(s.latencies)) * 1000 })
}

// goal is the most that the pair of eras may cost.
func (r *result) goal() float64 {
	if strings.Contains(r.target.name, modern) {
		return r.scenario.modern
	}
	return r.scenario.goal
}

// isProxy tells whether the target is one that the others are compared with.
func (t *target) isProxy() bool { return t.prefix == "" }

func (r *result) median(of func(*sample) float64) float64 {
	values := make([]float64, 0, len(r.runs))
	for _, s := range r.runs {
		values = append(values, of(s))
	}
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}

// ratio is the CPU of r as a multiple of that of the proxy for the same clients, which did
// the same calls.
func ratio(results []*result, r *result) float64 {
	for _, base := range results {
		if base.target.isProxy() && base.target.era == r.target.era && base.scenario.name == r.scenario.name {
			return r.cpu() / base.cpu()
		}
	}
	return 0
}

// printTable prints one line per scenario and target.
func printTable(out io.Writer, results []*result) {
	fmt.Fprintln(out, "| scenario | target | calls | errors | req/s | p50 ms | p99 ms | CPU s/1k | × proxy | upstream/call |")
	fmt.Fprintln(out, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range results {
		var all sample
		var posts int64
		for _, s := range r.runs {
			all.add(s)
			posts += s.posts
		}
		slices.Sort(all.latencies)
		calls := len(all.latencies)
		fmt.Fprintf(out, "| %s | %s | %d | %d | %.0f | %.2f | %.2f | %.4f | %.2f | %.2f |\n",
			r.scenario.name, r.target.name, calls, all.errors,
			r.median(func(s *sample) float64 { return float64(len(s.latencies)) / s.took.Seconds() }),
			milliseconds(percentile(all.latencies, 50)), milliseconds(percentile(all.latencies, 99)),
			r.cpu(), ratio(results, r), float64(posts)/float64(calls))
	}
}

// percentile is the value that p percent of the sorted values do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[(len(sorted)*p+99)/100-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// printGoals compares with what the project wants to hold.
func printGoals(out io.Writer, results []*result, idle, perSession int64) {
	fmt.Fprintln(out, "\n| goal | limit | measured | |")
	fmt.Fprintln(out, "|---|--:|--:|---|")
	line := func(what, format string, limit, measured float64) {
		verdict := "ok"
		if measured > limit {
			verdict = "over"
		}
		fmt.Fprintf(out, "| %s | "+format+" | "+format+" | %s |\n", what, limit, measured, verdict)
	}
	for _, r := range results {
		if !r.target.isProxy() {
			line(r.scenario.name+", "+r.target.name+": CPU per call", "%.2f × proxy", r.goal(), ratio(results, r))
		}
	}
	line("memory idle", "%.1f MB", 40, float64(idle)/1e6)
	line(fmt.Sprintf("memory per open session, of %d", openSessions), "%.1f KB", 60, float64(perSession)/1e3)
}
