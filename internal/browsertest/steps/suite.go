package steps

import (
	"path/filepath"
	"slices"
	"strings"
)

// Load reads a test file with all that it includes: YAML or JSON, or Markdown for .md. The
// error is of type Problems.
func Load(path string, read func(path string) ([]byte, error)) (*Suite, error) {
	data, err := read(path)
	if err != nil {
		return nil, Problems{{Code: invalid, File: path, Text: "cannot be read: " + err.Error()}}
	}
	return Parse(path, data, read)
}

// Parse reads a test file from memory. Read is asked for what it includes.
func Parse(path string, data []byte, read func(path string) ([]byte, error)) (*Suite, error) {
	d := &decoder{file: path, read: read, open: []string{filepath.Clean(path)}, env: envNames(nil, data)}
	var s *Suite
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".md" || ext == ".markdown" {
		s = d.markdown(data)
	} else {
		s = d.yaml(data)
	}
	if err := d.problems.err(); err != nil {
		return nil, err
	}
	s.Env = d.env
	return s, nil
}

func (d *decoder) yaml(data []byte) *Suite {
	root := d.parse(data)
	if root == nil {
		return nil
	}
	s := &Suite{File: d.file}
	if root.Kind == list { // a bare list of steps
		s.Cases = []Case{{Line: root.Line, Steps: d.steps(root)}}
	} else {
		d.suite(root, s)
	}
	d.finish(s, root)
	return s
}

// add keeps a problem that another reader found.
func (d *decoder) add(err error, line int) {
	p, ok := err.(Problem)
	if !ok {
		p = Problem{Code: invalid, Text: err.Error()}
	}
	p.File = d.file
	if p.Line == 0 {
		p.Line = line
	}
	d.problems = append(d.problems, p)
}

// suite reads the keys of a file.
func (d *decoder) suite(n *node, s *Suite) {
	var single Case
	hasSteps := false
	d.object(n, "a test file", []field{
		{"name", func(n *node) { d.text(n, &s.Name) }},
		{"base", func(n *node) { d.text(n, &s.Base) }},
		{"serve", func(n *node) { d.text(n, &s.Serve) }},
		{"tags", func(n *node) { d.texts(n, &s.Tags) }},
		{"vars", func(n *node) { d.textMap(n, &s.Vars) }},
		{"dialogs", func(n *node) { d.choice(n, &s.Dialogs, "accept", "dismiss", "fail") }},
		{"timeout", func(n *node) { d.duration(n, &s.Timeout) }},
		{"setup", func(n *node) { s.Setup = d.steps(n) }},
		{"teardown", func(n *node) { s.Teardown = d.steps(n) }},
		{"retries", func(n *node) { d.count(n, &single.Retries, 0) }},
		{"skip", func(n *node) { d.text(n, &single.Skip) }},
		{"data", func(n *node) { single.Data = d.data(n) }},
		{"steps", func(n *node) { single.Steps, single.Line, hasSteps = d.steps(n), n.Line, true }},
		{"cases", func(n *node) { s.Cases = append(s.Cases, d.cases(n)...) }},
	})
	if hasSteps {
		s.Cases = append([]Case{single}, s.Cases...)
		return
	}
	for i := range s.Cases { // what stands at the top holds for each
		c := &s.Cases[i]
		c.Retries = max(c.Retries, single.Retries)
		if c.Skip == "" {
			c.Skip = single.Skip
		}
		if c.Data == nil {
			c.Data = single.Data
		}
	}
}

func (d *decoder) cases(n *node) (out []Case) {
	if n.Kind != list {
		d.fail(n, "expected a list of cases, got %s", n.Kind)
		return nil
	}
	for _, item := range n.Items {
		c := Case{Line: item.Line}
		d.object(item, "a case", []field{
			{"name", func(n *node) { d.text(n, &c.Name) }},
			{"tags", func(n *node) { d.texts(n, &c.Tags) }},
			{"retries", func(n *node) { d.count(n, &c.Retries, 0) }},
			{"skip", func(n *node) { d.text(n, &c.Skip) }},
			{"data", func(n *node) { c.Data = d.data(n) }},
			{"steps", func(n *node) { c.Steps = d.steps(n) }},
		})
		out = append(out, c)
	}
	return out
}

// data reads a table: one mapping per row, or a list of names and then lists of values.
func (d *decoder) data(n *node) (rows []map[string]string) {
	if n.Kind != list {
		d.fail(n, "expected a list of rows, got %s", n.Kind)
		return nil
	}
	var head []string
	for i, item := range n.Items {
		switch {
		case item.Kind == mapping:
			var row map[string]string
			d.textMap(item, &row)
			rows = append(rows, row)
		case item.Kind == list && i == 0:
			d.texts(item, &head)
		case item.Kind == list && len(item.Items) == len(head):
			var values []string
			d.texts(item, &values)
			row := map[string]string{}
			for i, name := range head {
				row[name] = values[i]
			}
			rows = append(rows, row)
		default:
			d.fail(item, "expected a row with %d values or a mapping", len(head))
		}
	}
	return rows
}

// finish names what has no name and refuses what cannot be run.
func (d *decoder) finish(s *Suite, at *node) {
	if s.Name == "" {
		s.Name = strings.TrimSuffix(filepath.Base(d.file), filepath.Ext(d.file))
	}
	if len(s.Cases) == 0 && len(d.problems) == 0 {
		d.fail(at, "has no steps; write them under steps:")
	}
	names := map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.Name == "" {
			c.Name = s.Name
		}
		if names[c.Name] {
			d.problems = append(d.problems, Problem{Code: invalid, File: d.file, Line: c.Line, Text: "two cases are called " + c.Name + "; give each its own name"})
		}
		names[c.Name] = true
		if len(c.Steps) == 0 && c.Skip == "" && len(d.problems) == 0 {
			d.problems = append(d.problems, Problem{Code: invalid, File: d.file, Line: c.Line, Text: "the case " + c.Name + " has no steps"})
		}
		c.Tags = append(slices.Clone(s.Tags), c.Tags...)
	}
}
