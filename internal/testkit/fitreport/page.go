package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// The page has parts of other commands, too: this one keeps to its own, after that of make compare.
const (
	begin = "<!-- make fit-report: begin -->\n"
	end   = "<!-- make fit-report: end -->\n"
	after = "<!-- make compare: end -->\n"
)

// write puts the report into docs/benchmarks.md, between its marks, and draws the charts.
func (r *report) write(docs string) error {
	file := filepath.Join(docs, "benchmarks.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	page := string(text)
	if !strings.Contains(page, begin) {
		page = strings.Replace(page, after, after+"\n"+begin+end, 1)
	}
	before, rest, found := strings.Cut(page, begin)
	_, below, ended := strings.Cut(rest, end)
	if !found || !ended {
		return errors.New(file + " has neither the marks of make fit-report nor the end of make compare's part to write after")
	}
	for name, svg := range r.charts() {
		if err := os.WriteFile(filepath.Join(docs, "images", name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(before+begin+r.page()+end+below), 0o644)
}

// table is the rows of one kind.
func (r *report) table(id string) (rows []corpora.Row) {
	for _, row := range r.Rows {
		if row.Table == id {
			rows = append(rows, row)
		}
	}
	return rows
}

// label is the name of a row, with a mark if the figures are of data that rules were tuned on.
func label(row corpora.Row) string {
	if row.Tuned {
		return row.Name + " †"
	}
	return row.Name
}

// figure is a cell as a number: shares in percent.
func figure(row corpora.Row, column string) (v float64, known bool) {
	for _, c := range row.Cells {
		switch {
		case c.Name == column && c.Of > 0:
			return 100 * c.Held / c.Of, true
		case c.Name == column:
			return c.Held, true
		}
	}
	return 0, false
}

// percent never rounds up to all, or down to nothing.
func percent(v float64) string {
	switch {
	case v == 100 || v == 0:
		return fmt.Sprintf("%.0f %%", v)
	case v > 99 && v < 100 || v < 1 && v > 0:
		return fmt.Sprintf("%.2f %%", min(max(math.Round(v*100)/100, .01), 99.99))
	}
	return fmt.Sprintf("%.1f %%", v)
}

// cell is a figure as the page shows it.
func cell(row corpora.Row, column string) string {
	for _, c := range row.Cells {
		if c.Name == column {
			v, _ := figure(row, column)
			if c.Of > 0 {
				return percent(v)
			}
			return thousands(int(c.Held))
		}
	}
	return "–"
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func (r *report) page() string {
	p := &page{report: r}
	p.head()
	for _, s := range sections {
		p.say("### %s\n\n%s\n\n", s.title, s.say)
		if s.chart != "" {
			p.say("![%s](images/%s)\n\n", s.title, s.chart)
		}
		for _, t := range s.tables {
			p.table(t)
		}
	}
	p.short()
	p.sets()
	return p.text.String()
}

// page is text that grows.
type page struct {
	*report
	text strings.Builder
}

func (p *page) say(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

func (p *page) head() {
	p.say("## How well it fits\n\n`make fit-report` runs the labs of the packages that fit schemas, arguments and results, on whole public sets. "+
		"These figures: %s, toolfit at commit `%s`, %s. None is a time.\n\n", p.Date, p.Commit, p.Machine)
	p.say("Run it yourself, offline: `make fit-report SETS=\"tau2=FOLDER nestful=FOLDER mcpproxy=FOLDER\"`, with the sets of " +
		"`internal/testkit/corpora` whole in the folder that `TOOLFIT_DATA` names, and [the open sets](#sets-and-what-was-not-measured) " +
		"as git repositories, bare or not. It takes two minutes on two cores.\n\n")
	p.say("**†** marks data that were looked at while rules were written or weights chosen: these figures say that the rules work, " +
		"not what to expect elsewhere. Figures without it are of data on which nothing was tuned.\n\n")
}

func (p *page) table(t table) {
	rows := p.report.table(t.id)
	if len(rows) == 0 {
		p.say("%s: not measured in this run.\n\n", t.title)
		return
	}
	var columns []string
	for _, row := range rows {
		for _, c := range row.Cells {
			if !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	p.say("| %s | %s |\n|---|%s\n", t.title, strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	for _, row := range rows {
		p.say("| %s", label(row))
		for _, c := range columns {
			p.say(" | %s", cell(row, c))
		}
		p.say(" |\n")
	}
	p.say("\n")
}

// short names every figure that misses its mark.
func (p *page) short() {
	p.say("### Where it falls short\n\nEvery figure above that misses the mark named here, found by the command itself.\n\n")
	lines := p.shortfalls()
	for _, f := range p.Fails {
		lines = append(lines, "a law that the lab holds on a sample does not hold on the whole set: "+f)
	}
	for _, line := range lines {
		p.say("- %s\n", line)
	}
	if len(lines) == 0 {
		p.say("- None in this run.\n")
	}
	p.say("\n")
}

// shortfalls are sentences about figures that miss their marks.
func (r *report) shortfalls() (lines []string) {
	for _, s := range sections {
		for _, t := range s.tables {
			for _, m := range t.marks {
				if bad := r.missing(t, m); len(bad) > 0 {
					lines = append(lines, fmt.Sprintf("%s, %s: %s: %s", s.title, t.title, m.say, strings.Join(bad, "; ")))
				}
			}
		}
	}
	return lines
}

// missing are the figures of a table that miss a mark.
func (r *report) missing(t table, m mark) (bad []string) {
	for _, row := range r.table(t.id) {
		for _, c := range row.Cells {
			if m.column != "" && m.column != c.Name {
				continue
			}
			one := m
			one.column = c.Name
			if !one.missed(row) {
				continue
			}
			name := label(row)
			if m.column == "" {
				name += ", " + c.Name + ":"
			}
			bad = append(bad, name+" "+one.show(row))
		}
	}
	return bad
}

func (p *page) sets() {
	p.say("### Sets, and what was not measured\n\n| set | repository | licence | commit |\n|---|---|---|---|\n")
	for _, s := range p.Sets {
		used := "not measured"
		switch {
		case s.Used == s.Commit:
			used = "`" + s.Commit[:12] + "`"
		case s.Used != "":
			used = fmt.Sprintf("`%s`, where `%s` is meant", s.Used[:12], s.Commit[:12])
		}
		p.say("| %s | %s | %s | %s |\n", s.Title, s.Repo, s.License, used)
	}
	p.say("\nThe sets of `TOOLFIT_DATA` and their licences are in `internal/testkit/corpora/testdata/LICENSES.md`. Not measured:\n\n")
	for _, s := range p.Sets {
		for _, m := range s.Missing {
			p.say("- %s: %s.\n", s.Title, m)
		}
	}
	for _, m := range unmeasured {
		p.say("- %s\n", m)
	}
	p.say("\n")
}
