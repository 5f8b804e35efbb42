package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ours tells whether a row is one of toolfit's own.
func ours(name string) bool { return strings.HasPrefix(name, toolfit) }

// behind are sentences about figures in which another is better than toolfit, by more than 2 %.
func (r *report) behind() []string {
	var all []string
	add := func(what string, mine float64, others map[string]float64, unit string) {
		var better []string
		for name, v := range others {
			if !ours(name) && v > 0 && mine > 0 && mine > v*1.02 {
				better = append(better, name)
			}
		}
		if len(better) == 0 {
			return
		}
		slices.SortFunc(better, func(a, b string) int { return cmp.Compare(others[a], others[b]) })
		for i, name := range better {
			better[i] = fmt.Sprintf("%s %s", name, figures(others[name]))
		}
		all = append(all, fmt.Sprintf("%s: toolfit %s %s; %s", what, figures(mine), unit, strings.Join(better, ", ")))
	}
	calls := func(what, unit string, of func(*reportCall) float64) {
		for _, era := range eras {
			for _, s := range scenarios {
				others := map[string]float64{}
				for i, c := range r.Calls {
					if c.Era == era && c.Scenario == s.name {
						others[c.Peer] = of(&r.Calls[i])
					}
				}
				add(fmt.Sprintf("%s, %s, %s", what, s.name, era), others[toolfit], others, unit)
			}
		}
	}
	calls("CPU", "µs", func(c *reportCall) float64 { return c.CPU })
	calls("median time", "ms", func(c *reportCall) float64 { return c.P50 })
	calls("99th percentile of the time", "ms", func(c *reportCall) float64 { return c.P99 })
	memory := func(what, unit string, of func(*reportMemory) float64) {
		others := map[string]float64{}
		for i := range r.Memory {
			others[r.Memory[i].Peer] = max(of(&r.Memory[i]), 0.001)
		}
		add(what, others[toolfit], others, unit)
	}
	memory("start-up", "s", func(m *reportMemory) float64 { return m.Start })
	memory("CPU of a start", "s", func(m *reportMemory) float64 { return m.StartCPU })
	memory("memory when idle", "MB", func(m *reportMemory) float64 { return m.Idle })
	memory("memory per session", "KB", func(m *reportMemory) float64 { return max(m.PerSession, 1) })
	r.growthBehind(add)
	r.markBehind(add)
	return all
}

// markBehind adds where the reverse proxy is better with many sessions and large results.
func (r *report) markBehind(add func(what string, mine float64, others map[string]float64, unit string)) {
	for _, p := range r.Points {
		if p.Values["proxy"] > 0 {
			add(fmt.Sprintf("CPU with %s bytes, %s", number(float64(p.At)), p.Row), p.Values["call"],
				map[string]float64{peers[0].name: p.Values["proxy"]}, "µs")
		}
		for _, q := range r.Points {
			if p.Row == toolfit && q.Row == peers[0].name && p.Axis == q.Axis && p.At == q.At {
				add(fmt.Sprintf("CPU with %s %s", number(float64(p.At)), p.Axis), p.Values["call"],
					map[string]float64{q.Row: q.Values["call"]}, "µs")
				add(fmt.Sprintf("memory with %s %s", number(float64(p.At)), p.Axis), p.Values["memory"],
					map[string]float64{q.Row: q.Values["memory"]}, "MB")
			}
		}
	}
}

// growthBehind adds what is worse with many tools.
func (r *report) growthBehind(add func(what string, mine float64, others map[string]float64, unit string)) {
	var sizes []int
	for _, g := range r.Growth {
		if !slices.Contains(sizes, g.Tools) {
			sizes = append(sizes, g.Tools)
		}
	}
	for _, tools := range sizes {
		for _, m := range []struct {
			what, unit string
			of         func(*reportGrowth) float64
		}{
			{"ready", "s", func(g *reportGrowth) float64 { return g.Start }},
			{"CPU when settled", "s", func(g *reportGrowth) float64 { return g.SettledCPU }},
			{"memory", "MB", func(g *reportGrowth) float64 { return g.Memory }},
			{"list", "ms", func(g *reportGrowth) float64 { return g.List }},
			{"search", "ms", func(g *reportGrowth) float64 { return g.Search }},
		} {
			others := map[string]float64{}
			for i := range r.Growth {
				if r.Growth[i].Tools == tools {
					others[r.Growth[i].Peer] = m.of(&r.Growth[i])
				}
			}
			add(fmt.Sprintf("%s with %d tools", m.what, tools), others[toolfit], others, m.unit)
		}
	}
}
