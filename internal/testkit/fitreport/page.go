package main

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

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
	part, err := r.page()
	if err != nil {
		return err
	}
	for name, svg := range r.charts() {
		if err := os.WriteFile(filepath.Join(docs, "images", name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(before+begin+part+end+below), 0o644)
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
	case math.Abs(v-100) < 1e-9 || v == 0:
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

//go:embed page.tmpl
var pageText string

// page is the part of docs/benchmarks.md.
func (r *report) page() (string, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"table": r.show}).Parse(pageText)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, r)
	return out.String(), err
}

// show writes a table. Its columns are those that any row has.
func (r *report) show(id string) string {
	i := slices.IndexFunc(tables, func(t table) bool { return t.id == id })
	rows := r.table(id)
	if len(rows) == 0 {
		return tables[i].title + ": not measured in this run.\n"
	}
	var columns []string
	for _, row := range rows {
		for _, c := range row.Cells {
			if !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "| %s | %s |\n|---|%s\n", tables[i].title, strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	for _, row := range rows {
		cells := []string{label(row)}
		for _, c := range columns {
			cells = append(cells, cell(row, c))
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
	}
	return out.String()
}

// Shortfalls are sentences about figures that miss their marks.
func (r *report) Shortfalls() (lines []string) {
	for _, t := range tables {
		for _, m := range t.marks {
			if bad := r.missing(t, m); len(bad) > 0 {
				lines = append(lines, fmt.Sprintf("%s: %s: %s", t.title, m.say, strings.Join(bad, "; ")))
			}
		}
	}
	for _, f := range r.Fails {
		lines = append(lines, "a law that the lab holds on a sample does not hold on the whole set: "+f)
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

// Which is the commit that was measured.
func (s *openSet) Which() string {
	switch s.Used {
	case "":
		return "not measured"
	case s.Commit:
		return "`" + s.Commit[:12] + "`"
	}
	return fmt.Sprintf("`%s`, where `%s` is meant", s.Used[:12], s.Commit[:12])
}
