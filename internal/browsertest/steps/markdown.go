package steps

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// markdown reads a plan: headings are cases, list items are steps, and so are the rows of tables with
// an operation and an expected result. Base, vars and tags are YAML at the top between lines of ---.
func (d *decoder) markdown(data []byte) *Suite {
	s := &Suite{File: d.file}
	p := &plan{d: d, suite: s}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	from := p.front(lines)
	fence := false
	for i := from; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			fence = !fence
		case fence:
		case strings.HasPrefix(line, "#"):
			p.heading(line, i+1)
		case strings.HasPrefix(line, "|"):
			p.row(line, i+1)
			continue // a table goes on
		case item.MatchString(line):
			p.step(item.ReplaceAllString(line, ""), i+1)
		}
		p.operation = -1
		p.expected = -1
	}
	p.end()
	d.finish(s, &node{Line: 1})
	return s
}

// plan is a Markdown file while it is read.
type plan struct {
	d     *decoder
	suite *Suite
	name  string // of the current part
	line  int    // where it begins
	part  string // case, setup or teardown

	operation, expected int // columns of the current table; -1 outside of one
	steps               []Step
}

var (
	item      = regexp.MustCompile(`^(?:[-*+]\s+(?:\[[ xX]\]\s*)?|\d+[.)、]\s*)`)
	headMarks = regexp.MustCompile(`^#+\s*|\s*#+$`)
	before    = regexp.MustCompile(`(?i)^(?:setup|set up|before|precondition|前置|前置条件|准备|前提)`)
	after     = regexp.MustCompile(`(?i)^(?:teardown|tear down|after|cleanup|clean up|后置|清理|收尾)`)
	skipped   = regexp.MustCompile(`(?i)^(?:notes?|background|说明|备注|背景|目的)`)
	opColumn  = regexp.MustCompile(`(?i)(?:操作|步骤|动作|operation|action|step)`)
	exColumn  = regexp.MustCompile(`(?i)(?:预期|期望|结果|expect|result)`)
	rule3     = regexp.MustCompile(`^\|?[\s:|-]+\|?$`)
)

// front reads the YAML at the top and returns the line after it.
func (p *plan) front(lines []string) int {
	p.operation = -1
	p.expected = -1
	p.part = "case"
	if len(lines) == 0 || strings.TrimSpace(lines[0]) != "---" {
		return 0
	}
	end := slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimSpace(l) == "---" })
	if end < 0 {
		return 0
	}
	root := p.d.parse([]byte("\n" + strings.Join(lines[1:end+1], "\n")))
	if root != nil && root.Kind == mapping {
		p.d.suite(root, p.suite)
	}
	return end + 2
}

func (p *plan) heading(line string, at int) {
	title := headMarks.ReplaceAllString(line, "")
	p.end()
	p.line = at
	switch {
	case before.MatchString(title):
		p.part = "setup"
	case after.MatchString(title):
		p.part = "teardown"
	case skipped.MatchString(title):
		p.part = "notes"
	case p.suite.Name == "" && strings.HasPrefix(line, "# "):
		p.suite.Name = title
		p.part = "case"
	default:
		p.name = title
		p.part = "case"
	}
}

// step reads one list item.
func (p *plan) step(text string, line int) {
	if p.part == "notes" {
		return
	}
	parsed := p.d.sentence(&node{Kind: doctree.Text, Text: strings.Trim(text, "*_ "), Line: line, Column: 1})
	p.steps = append(p.steps, parsed...)
}

// row reads a line of a table. The first says which column is which.
func (p *plan) row(line string, at int) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if rule3.MatchString(line) || p.part == "notes" {
		return
	}
	if p.operation < 0 {
		p.expected = slices.IndexFunc(cells, exColumn.MatchString)
		p.operation = slices.IndexFunc(cells, func(c string) bool { return opColumn.MatchString(c) && !exColumn.MatchString(c) })
		if p.operation < 0 {
			p.operation = len(cells) + 100 // a table of something else
		}
		return
	}
	if p.operation >= len(cells) {
		return
	}
	text := strings.TrimSpace(cells[p.operation])
	if p.expected >= 0 && p.expected < len(cells) {
		if e := strings.TrimSpace(cells[p.expected]); e != "" && e != "-" {
			text += " -> " + e
		}
	}
	if text != "" {
		p.step(text, at)
	}
}

// end closes the current part.
func (p *plan) end() {
	switch {
	case len(p.steps) == 0:
	case p.part == "setup":
		p.suite.Setup = append(p.suite.Setup, p.steps...)
	case p.part == "teardown":
		p.suite.Teardown = append(p.suite.Teardown, p.steps...)
	default:
		p.suite.Cases = append(p.suite.Cases, Case{Name: p.name, Line: p.line, Steps: p.steps})
	}
	p.steps = nil
	p.name = ""
}
