package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// result is all runs of one scenario against one target.
type result struct {
	scenario *scenario
	target   *target
	base     *result // what it is compared with; nil for nothing
	against  string  // its name
	limit    float64 // of the ratio to it
	runs     []*sample
}

// cpu is the median of CPU seconds per 1,000 good calls.
func (r *result) cpu() float64 {
	return r.median(func(s *sample) float64 { return s.cpu.Seconds() / float64(len(s.latencies)) * 1000 })
}

func (r *result) median(of func(*sample) float64) float64 {
	values := make([]float64, 0, len(r.runs))
	for _, s := range r.runs {
		values = append(values, of(s))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// ratio is the CPU of r as a multiple of its base.
func (r *result) ratio() float64 {
	if r.base == nil {
		return 1
	}
	return r.cpu() / r.base.cpu()
}

// printTable prints one line per scenario and target.
func printTable(out io.Writer, results []*result) {
	fmt.Fprintln(out, "| scenario | target | calls | errors | req/s | p50 ms | p99 ms | CPU s/1k | × base | upstream/call |")
	fmt.Fprintln(out, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range results {
		var all sample
		for _, s := range r.runs {
			all.add(s)
		}
		p50, p99 := all.percentiles()
		calls := len(all.latencies)
		fmt.Fprintf(out, "| %s | %s | %d | %d | %.0f | %.2f | %.2f | %.4f | %.2f | %.2f |\n",
			r.scenario.name, r.target.name, calls, all.errors,
			r.median(func(s *sample) float64 { return float64(len(s.latencies)) / s.took.Seconds() }),
			p50, p99, r.cpu(), r.ratio(), float64(all.posts)/float64(calls))
	}
}

// percentiles are the median and the 99th percentile in milliseconds.
func (s *sample) percentiles() (p50, p99 float64) {
	slices.Sort(s.latencies)
	return percentile(s.latencies, 50).Seconds() * 1000, percentile(s.latencies, 99).Seconds() * 1000
}

// percentile is the value that p percent of the sorted values do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[(len(sorted)*p+99)/100-1]
}

// printGoals compares with the limits of the project.
func printGoals(out io.Writer, results []*result, idle, perSession int64) {
	fmt.Fprintln(out, "\n| goal | limit | measured | |\n|---|--:|--:|---|")
	line := func(what, format string, limit, measured float64) {
		verdict := "ok"
		if measured > limit {
			verdict = "over"
		}
		fmt.Fprintf(out, "| %s | "+format+" | "+format+" | %s |\n", what, limit, measured, verdict)
	}
	for _, r := range results {
		if r.base != nil {
			line(r.scenario.name+", "+r.target.name+": CPU per call", "%.2f × "+r.against, r.limit, r.ratio())
		}
	}
	line("memory idle", "%.1f MB", 40, float64(idle)/1e6)
	line(fmt.Sprintf("memory per open session, of %d", openSessions), "%.1f KB", 50, float64(perSession)/1e3)
}
