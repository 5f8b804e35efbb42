package steps

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads a test file with its includes: YAML, JSON, or Markdown for .md. Its error is of type
// Problems.
func Load(path string, read func(path string) ([]byte, error)) (*Suite, error) {
	data, err := read(path)
	if err != nil {
		return nil, Problems{{Code: invalid, File: path, Text: "cannot be read: " + err.Error()}}
	}
	return Parse(path, data, read)
}

// Parse reads a test file from memory. It calls read for includes.
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

// add adds a problem from another parser.
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
		{"steps", func(n *node) {
			single.Steps = d.steps(n)
			single.Line = n.Line
			hasSteps = true
		}},
		{"cases", func(n *node) { s.Cases = append(s.Cases, d.cases(n)...) }},
	})
	if hasSteps {
		s.Cases = append([]Case{single}, s.Cases...)
		return
	}
	for i := range s.Cases { // the settings of the file are defaults
		c := &s.Cases[i]
		c.Retries = max(c.Retries, single.Retries)
		c.Skip = cmp.Or(c.Skip, single.Skip)
		if c.Data == nil {
			c.Data = single.Data
		}
	}
}

func (d *decoder) cases(n *node) (out []Case) {
	for _, item := range d.items(n, "cases") {
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
	var head []string
	for i, item := range d.items(n, "rows") {
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

// finish sets default names and refuses what cannot be run.
func (d *decoder) finish(s *Suite, at *node) {
	s.Name = cmp.Or(s.Name, strings.TrimSuffix(filepath.Base(d.file), filepath.Ext(d.file)))
	if len(s.Cases) == 0 && len(d.problems) == 0 {
		d.fail(at, "has no steps; write them under steps:")
	}
	names := map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		at := &node{Line: c.Line}
		c.Name = cmp.Or(c.Name, s.Name)
		if names[c.Name] {
			d.fail(at, "two cases are called %s; give each its own name", c.Name)
		}
		names[c.Name] = true
		if len(c.Steps) == 0 && c.Skip == "" && len(d.problems) == 0 {
			d.fail(at, "the case %s has no steps", c.Name)
		}
		c.Tags = append(slices.Clone(s.Tags), c.Tags...)
	}
}
