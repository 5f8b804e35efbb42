package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// bar is one line of a chart.
type bar struct {
	name  string
	value float64
	label string
	ours  bool
}

// panel is bars with a heading.
type panel struct {
	title string
	bars  []bar
}

// The measures of a chart, in pixels.
const (
	chartWidth = 860
	nameWidth  = 210
	labelWidth = 90
	rowHeight  = 22
	headHeight = 34
)

// style has the colours, which follow the reader's light or dark setting.
const style = `<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}.h{font-weight:600}.b{fill:#8c959f}.o{fill:#0969da}.l{stroke:#8c959f;stroke-dasharray:3 3}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{fill:#6e7681}.o{fill:#4493f8}.l{stroke:#6e7681}}
</style>
`

// chart draws panels below each other. In a logarithmic one a line marks 1.
func chart(title string, panels []panel, logarithmic bool) string {
	least, most := math.Inf(1), 0.0
	height := 10
	for _, p := range panels {
		height += headHeight + rowHeight*len(p.bars)
		for _, b := range p.bars {
			least, most = min(least, b.value), max(most, b.value)
		}
	}
	room := float64(chartWidth - nameWidth - labelWidth)
	width := func(v float64) float64 { return room * v / most }
	if logarithmic {
		from, to := math.Log10(min(least, 1)/2), math.Log10(max(most, 1))
		width = func(v float64) float64 { return room * (math.Log10(v) - from) / (to - from) }
	}
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n%s",
		chartWidth, height, html.EscapeString(title), style)
	y := 0
	for _, p := range panels {
		fmt.Fprintf(&s, `<text class="h" x="0" y="%d">%s</text>`+"\n", y+headHeight-12, html.EscapeString(p.title))
		y += headHeight
		if logarithmic {
			x := nameWidth + width(1)
			fmt.Fprintf(&s, `<line class="l" x1="%.0f" y1="%d" x2="%.0f" y2="%d"/>`+"\n", x, y-4, x, y+rowHeight*len(p.bars))
		}
		for _, b := range p.bars {
			class := "b"
			if b.ours {
				class = "o"
			}
			w := max(1, width(b.value))
			fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+
				`<text x="%.1f" y="%d">%s</text>`+"\n",
				nameWidth-8, y+15, html.EscapeString(b.name), class, nameWidth, y+3, w, rowHeight-6, nameWidth+w+6, y+15, html.EscapeString(b.label))
			y += rowHeight
		}
	}
	return s.String() + "</svg>\n"
}

// charts are the pictures of the page, by file.
func (r *report) charts() map[string]string {
	var cpu []panel
	for _, s := range scenarios {
		p := panel{title: s.name + ", legacy"}
		for _, one := range r.Peers {
			if v := r.ratio(one.Name, eras[0], s.name); v > 0 {
				p.bars = append(p.bars, bar{one.Name, v, figures(v) + " ×", ours(one.Name)})
			}
		}
		cpu = append(cpu, p)
	}
	whole := panel{title: "checks that came through unchanged"}
	for _, l := range r.lossOf(eras[0]) {
		n := l.kept()
		whole.bars = append(whole.bars, bar{l.Peer, float64(n), fmt.Sprintf("%d of %d", n, len(l.Verdicts)), ours(l.Peer)})
	}
	var memory []panel
	for _, g := range r.Growth {
		if title := fmt.Sprintf("memory with %d tools", g.Tools); len(memory) == 0 || memory[len(memory)-1].title != title {
			memory = append(memory, panel{title: title})
		}
		last := &memory[len(memory)-1]
		last.bars = append(last.bars, bar{g.Peer, g.Memory, fmt.Sprintf("%.0f MB", g.Memory), ours(g.Peer)})
	}
	return map[string]string{
		axesChartFile:        r.axesChart(),
		"compare-growth.svg": chart("Memory by the number of tools", memory, false),
		"compare-cpu.svg":    chart("CPU per call as a multiple of a bare reverse proxy, on a logarithmic scale", cpu, true),
		"compare-lost.svg":   chart("What came through each gateway unchanged", []panel{whole}, false),
	}
}
