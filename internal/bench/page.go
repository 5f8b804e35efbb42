package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/bench/upstream"
)

// The page has parts of other commands, too: this one keeps to its own.
const (
	begin = "<!-- make compare: begin -->\n"
	end   = "<!-- make compare: end -->\n"
)

const opening = `# Benchmarks

Every figure here was written by a command that you can run. The figures that are bad for us are on the same page.

`

// write puts the report into docs/benchmarks.md, between its marks, and draws the charts.
func (r *report) write(docs string) error {
	file := filepath.Join(docs, "benchmarks.md")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(opening+begin+end), nil
	}
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s does not have the lines %q and %q to write between", file, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	images := filepath.Join(docs, "images")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	for name, svg := range r.charts() {
		if err := os.WriteFile(filepath.Join(images, name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(before+begin+r.page()+end+after), 0o644)
}

// page is the part of docs/benchmarks.md.
func (r *report) page() string {
	p := &page{report: r}
	p.head()
	p.calls()
	p.memory()
	p.growth()
	p.axes()
	p.loss()
	p.behind()
	p.ran()
	return p.text.String()
}

// page is text that grows.
type page struct {
	*report
	text strings.Builder
}

func (p *page) say(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

// table writes a table whose first column is text and whose others are figures.
func (p *page) table(head []string, rows [][]string) {
	p.say("| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("--:|", len(head)-1))
	for _, row := range rows {
		p.say("| %s |\n", strings.Join(row, " | "))
	}
	p.say("\n")
}

func (p *page) head() {
	p.say("## Beside other gateways\n\n")
	p.say("`make compare` runs toolfit, a bare reverse proxy and the gateways that can be had by package name on the same server, "+
		"with the same work, in turns, in one run. These figures: %s, toolfit at commit `%s`, %s.", p.Date, p.Commit, p.Machine)
	if p.Quick {
		p.say(" They are from the quick form, one short round: take them as a sketch.")
	}
	p.say("\n\nRun it yourself, on Linux with Go and npm: `make compare`, or `make compare QUICK=1` for a few minutes. " +
		"It needs the network once, for the packages. CPU time is user and system time of the gateway's processes, " +
		"without the server behind it, unless the gateway starts and ends one for each call. " +
		"On a shared machine absolute figures move by a quarter and more between runs; ratios within a run move less.\n\n" +
		"The gateways do different jobs: some only carry one server from one transport to another, and look at little. " +
		"[What ran](#what-ran-and-what-did-not) says which does what.\n\n")
}

// peer's rows are in the order of the peers.
func (p *page) each(do func(name string)) {
	for _, one := range p.Peers {
		if one.Missing == "" {
			do(one.Name)
		}
	}
}

func (r *report) call(name, era, scenario string) *reportCall {
	for i, c := range r.Calls {
		if c.Peer == name && c.Era == era && c.Scenario == scenario {
			return &r.Calls[i]
		}
	}
	return nil
}

// ratio is CPU per call as a multiple of the reverse proxy's, 0 if it was not measured.
func (r *report) ratio(name, era, scenario string) float64 {
	c, base := r.call(name, era, scenario), r.call(peers[0].name, era, scenario)
	if c == nil || base == nil {
		return 0
	}
	return c.CPU / base.CPU
}

var eras = []string{"legacy", "modern"}

func (p *page) calls() {
	p.say("### CPU per call\n\nAs a multiple of the reverse proxy's for the same call, and in µs. " +
		"Less is better; the chart is logarithmic. " +
		"*Legacy* is MCP with `initialize`, *modern* is 2026-07-28; " +
		"– was not measured: by its documentation the gateway does not serve it over HTTP, or another row does. " +
		"Echo has 16 clients at once, the others 4.\n\n" +
		"![CPU per call, as a multiple of a bare reverse proxy](images/compare-cpu.svg)\n\n")
	cells := func(name string, of func(*reportCall, float64) string) []string {
		row := []string{name}
		for _, era := range eras {
			for _, s := range scenarios {
				if c := p.call(name, era, s.name); c != nil {
					row = append(row, of(c, p.ratio(name, era, s.name)))
				} else {
					row = append(row, "–")
				}
			}
		}
		return row
	}
	head := []string{"gateway"}
	for _, era := range eras {
		for _, s := range scenarios {
			head = append(head, era+" "+s.name)
		}
	}
	all := func(of func(*reportCall, float64) string) {
		var rows [][]string
		p.each(func(name string) { rows = append(rows, cells(name, of)) })
		p.table(head, rows)
	}
	all(func(c *reportCall, ratio float64) string { return fmt.Sprintf("%s × (%.0f)", figures(ratio), c.CPU) })
	p.say("Calls per second, and the 50th and 99th percentile of their time in ms. Everything shares the machine, clients and server too, " +
		"so that these say less than CPU time:\n\n")
	all(func(c *reportCall, _ float64) string {
		return fmt.Sprintf("%.0f · %s · %s", c.PerSecond, figures(c.P50), figures(c.P99))
	})
	p.say("Messages that the server behind got for each call. 1 is the least for a call; a list may come from memory:\n\n")
	all(func(c *reportCall, _ float64) string { return fmt.Sprintf("%.2f", c.Upstream) })
}

// figures writes a number with two or three digits that count.
func figures(v float64) string {
	switch {
	case v >= 99.5:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func (p *page) memory() {
	p.say("### Start-up and memory\n\nFrom the start of the process until it has listed 200 tools of one server, the CPU time until then, "+
		"the memory when idle, and what each of the second half of %d sessions adds (legacy; a call made, its stream open). "+
		"On standard input and output each client has a process. All processes of a gateway count, the servers that it starts do not.\n\n",
		p.sessions())
	var rows [][]string
	for _, m := range p.Memory {
		processes := "–"
		if m.Processes > 0 {
			processes = fmt.Sprintf("%.0f", m.Processes)
		}
		rows = append(rows, []string{
			m.Peer, figures(m.Start), figures(m.StartCPU), fmt.Sprintf("%.0f", m.Idle), atLeast1(m.PerSession), processes,
		})
	}
	p.table([]string{"gateway", "ready s", "CPU s", "idle MB", "per session KB", "processes per session"}, rows)
}

// atLeast1 writes memory that may be below what can be seen.
func atLeast1(kb float64) string {
	if kb < 1 {
		return "≤ 1"
	}
	return fmt.Sprintf("%.0f", kb)
}

func (p *page) sessions() int {
	most := 0
	for _, m := range p.Memory {
		most = max(most, m.Sessions)
	}
	return most
}

func (p *page) growth() {
	p.say("### Growth with the number of tools\n\nOver %d servers, for gateways that take several. Ready is when all tools are listed, "+
		"settled when it has been quiet for %d s. A list is all tools, as JSON that the client has read; "+
		"TBXark/mcp-proxy is asked at each of its %d paths. "+
		"A search asks for a tool by the words of its name (limit 5), %d times; found is how often the tool was among the answers.\n\n",
		servers, settle, servers, queries)
	if text := toolsAxis.growth(p.toolPoints(), toolfit); text != "" {
		p.say("Toolfit. %s\n\n", text)
	}
	p.say("![Memory by the number of tools](images/compare-growth.svg)\n\n")
	var rows [][]string
	for _, g := range p.Growth {
		search, found := "–", "–"
		if g.Search > 0 {
			search, found = figures(g.Search), fmt.Sprintf("%d of %d", g.Found, queries)
		}
		rows = append(rows, []string{g.Peer, fmt.Sprint(g.Tools), figures(g.Start), figures(g.StartCPU), figures(g.SettledCPU),
			fmt.Sprintf("%.0f", g.Memory), figures(g.List), fmt.Sprintf("%.1f", float64(g.ListBytes)/1e6), search, found})
	}
	p.table([]string{"gateway", "tools", "ready s", "CPU s", "CPU s settled", "memory MB", "list ms", "list MB", "search ms", "found"}, rows)
}

func (p *page) loss() {
	p.say("### What is lost\n\nA server sends what the protocol allows and what a later version may bring, and tells what reached it. " +
		"Everything is compared byte by byte, but for blanks. ✓ is unchanged. A number like 2^53+1 is an id in many systems; " +
		"a gateway that changes it changes which record is meant. With legacy clients:\n\n" +
		"![How many of the checks came through unchanged](images/compare-lost.svg)\n\n")
	legacy := p.lossOf(eras[0])
	head, sum := []string{"what"}, []string{"**unchanged**"}
	for _, l := range legacy {
		head = append(head, l.Peer)
		sum = append(sum, fmt.Sprintf("**%d of %d**", l.kept(), len(l.Verdicts)))
	}
	var rows [][]string
	for _, tool := range upstream.OddTools {
		for _, check := range tool.Checks {
			row := []string{checkName(check)}
			for _, l := range legacy {
				verdict := l.Verdicts[checkName(check)].Verdict
				if verdict == kept {
					verdict = "✓"
				}
				row = append(row, verdict)
			}
			rows = append(rows, row)
		}
	}
	p.table(head, append(rows, sum))
	p.say("With modern clients, what did not come through unchanged:\n\n")
	for _, l := range p.lossOf(eras[1]) {
		var not []string
		for what, v := range l.Verdicts {
			if v.Verdict != kept {
				not = append(not, what+" ("+v.Verdict+")")
			}
		}
		slices.Sort(not)
		p.say("- %s, %d of %d unchanged", l.Peer, l.kept(), len(l.Verdicts))
		if len(not) > 0 {
			p.say("; not: %s", strings.Join(not, ", "))
		}
		p.say("\n")
	}
	p.say("\n")
}

// lossOf is what was lost in one era.
func (r *report) lossOf(era string) []reportLoss {
	var all []reportLoss
	for _, l := range r.Loss {
		if l.Era == era {
			all = append(all, l)
		}
	}
	return all
}

func (l *reportLoss) kept() int {
	n := 0
	for _, v := range l.Verdicts {
		if v.Verdict == kept {
			n++
		}
	}
	return n
}

// behind names every figure in which somebody is ahead of toolfit.
func (p *page) behind() {
	p.say("### Where toolfit is not ahead\n\nEvery time, CPU time and memory above in which another is better, found by the command itself. " +
		"The reverse proxy does nothing of a gateway's work; it is here as the mark to reach.\n\n")
	lines := p.report.behind()
	for _, line := range lines {
		p.say("- %s\n", line)
	}
	if len(lines) == 0 {
		p.say("- None in this run.\n")
	}
	p.say("\n")
}

func (p *page) ran() {
	p.say("### What ran, and what did not\n\n| gateway | version | what it does | how it ran |\n|---|---|---|---|\n")
	for _, one := range p.Peers {
		if one.Missing == "" {
			p.say("| %s | %s | %s | %s |\n", one.Name, one.Version, one.Does, one.How)
		}
	}
	p.say("\nEach gateway runs as its documentation says, with a home folder of its own, and listens on loopback only: "+
		"those on Node, which is %s here, are made to by a file that is loaded before them (`internal/bench/loopback.cjs`). "+
		"What the npm packages need is pinned in `internal/bench/npm/package-lock.json`.\n\nNot measured:\n\n", p.Node)
	for _, one := range p.Peers {
		if one.Missing != "" {
			p.say("- %s: %s.\n", one.Name, one.Missing)
		}
	}
	for _, t := range p.Troubles {
		p.say("- %s, %s: %s\n", t.Peer, t.At, strings.ReplaceAll(t.Why, "|", "\\|"))
	}
	p.say("\n")
}
