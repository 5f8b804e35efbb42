package main

import (
	"fmt"
	"html"
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
	nameWidth  = 310
	labelWidth = 90
	rowHeight  = 22
	headHeight = 34
)

// style has the colours of make compare's charts, which follow the reader's light or dark setting.
const style = `<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}.h{font-weight:600}.b{fill:#8c959f}.o{fill:#0969da}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{fill:#6e7681}.o{fill:#4493f8}}
</style>
`

// chart draws panels below each other, all to the same scale.
func chart(title string, panels []panel) string {
	most := 0.0
	height := 10
	for _, p := range panels {
		height += headHeight + rowHeight*len(p.bars)
		for _, b := range p.bars {
			most = max(most, b.value)
		}
	}
	scale := float64(chartWidth-nameWidth-labelWidth) / max(most, 1e-9)
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n%s",
		chartWidth, height, html.EscapeString(title), style)
	y := 0
	for _, p := range panels {
		fmt.Fprintf(&s, `<text class="h" x="0" y="%d">%s</text>`+"\n", y+headHeight-12, html.EscapeString(p.title))
		y += headHeight
		for _, b := range p.bars {
			class := "b"
			if b.ours {
				class = "o"
			}
			w := max(1, b.value*scale)
			fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+
				`<text x="%.1f" y="%d">%s</text>`+"\n",
				nameWidth-8, y+15, html.EscapeString(b.name), class, nameWidth, y+3, w, rowHeight-6, nameWidth+w+6, y+15, html.EscapeString(b.label))
			y += rowHeight
		}
	}
	return s.String() + "</svg>\n"
}

// beside draws columns of a table, one panel for each row: how toolfit stands beside something plain.
func (r *report) beside(table string, columns ...string) (panels []panel) {
	for _, row := range r.table(table) {
		p := panel{title: label(row)}
		for _, c := range columns {
			if v, known := figure(row, c); known {
				p.bars = append(p.bars, bar{c, v, percent(v), c != "plain BM25F" && c != "plain cut"})
			}
		}
		panels = append(panels, p)
	}
	return panels
}

// mended draws what becomes of mistakes in keys.
func (r *report) mended() panel {
	p := panel{title: "mended, on servers that rules were not tuned on"}
	for _, row := range r.table("keys") {
		v, _ := figure(row, "mended")
		p.bars = append(p.bars, bar{label(row), v, percent(v), true})
	}
	return p
}

// lost draws how much of the sound values a dialect gives up beyond what the originals miss themselves.
func (r *report) lost() (panels []panel) {
	for _, t := range tables[:3] {
		p := panel{title: t.title}
		for _, row := range r.table(t.id) {
			v, _ := figure(row, "sound")
			best, _ := figure(row, "at best")
			d := max(0, best-v)
			p.bars = append(p.bars, bar{label(row), d, fmt.Sprintf("%.2f points", d), true})
		}
		panels = append(panels, p)
	}
	return panels
}

// charts are the pictures of the page, by file.
func (r *report) charts() map[string]string {
	return map[string]string{
		"fit-schema.svg":  chart("Values of a fitted schema that the original does not take, in points", r.lost()),
		"fit-search.svg":  chart("Needed tools among the first ten", r.beside("search", "plain BM25F", "toolfit")),
		"fit-budgets.svg": chart("Needed values that are still there", r.beside("budgets", "plain cut", "still there")),
		"fit-keys.svg":    chart("Mistakes in keys that are mended", []panel{r.mended()}),
	}
}
