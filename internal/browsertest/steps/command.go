package steps

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// commandActions are the words of the command form.
var commandActions = func() map[string]Action {
	m := map[string]Action{}
	for _, v := range verbs {
		for _, w := range words(v.command) {
			m[w] = v.action
		}
	}
	return m
}()

// command reads the old form into the step. It reports whether that was possible.
func (d *decoder) command(n *node, s *Step) bool {
	before := len(d.problems)
	word := ""
	d.text(n.Find("action"), &word)
	action, known := commandActions[strings.ToLower(word)]
	if !known {
		d.fail(n.Find("action"), "unknown action %q%s", word, doctree.DidYouMean(word, slices.Sorted(maps.Keys(commandActions))))
		return false
	}
	s.Action = action
	if n.Find("parameters") != nil { // {action, parameters: {…}}
		parameters := field{"parameters", func(n *node) { d.parameters(n, s) }}
		d.object(n, "a command", append(d.aboutCommand(s), field{"action", ignored}, parameters))
	} else {
		d.parameters(n, s)
	}
	s.Text = describeStep(s)
	if given, err := json.Marshal(plainValue(n)); err == nil {
		s.Given = string(given)
	}
	d.check(n, s)
	return len(d.problems) == before
}

func ignored(*node) {} // a key that is read elsewhere

// aboutCommand are the keys that any step may have, with times in milliseconds.
func (d *decoder) aboutCommand(s *Step) []field {
	fields := d.about(s)
	i := slices.IndexFunc(fields, func(f field) bool { return f.key == "timeout" })
	fields[i].read = func(n *node) { d.milliseconds(n, &s.Timeout) }
	return fields
}

// parameters reads what stands beside the action.
func (d *decoder) parameters(n *node, s *Step) {
	target := &Target{}
	value := func(n *node) { d.text(n, &s.Value) }
	fields := append(d.targetFields(target), field{"action", ignored}, field{"value", value}, field{"text", value})
	switch s.Action {
	case Navigate:
		fields = append(fields, field{"url", value})
	case Press:
		fields = append(fields, field{"key", value})
	case WaitFor:
		s.Wait = &Wait{}
		timeout := field{"timeout", func(n *node) { d.milliseconds(n, &s.Wait.Time) }}
		fields = append(fields, timeout, field{"time", func(n *node) { d.duration(n, &s.Wait.Time) }})
	case Expect:
		own := func(e entry) bool { return e.Key == "action" || e.Key == "timeout" }
		rest := slices.DeleteFunc(slices.Clone(n.Entries), own)
		s.Expect = d.expects(&node{Kind: mapping, Line: n.Line, Column: n.Column, Entries: rest})
		fields = append(fields, field{"condition", ignored}, field{"count", ignored})
	}
	for _, f := range d.aboutCommand(s) {
		if !slices.ContainsFunc(fields, func(g field) bool { return g.key == f.key }) {
			fields = append(fields, f)
		}
	}
	d.object(n, "a command", fields)
	if *target != (Target{}) && s.Action != Expect {
		s.Target = target
	}
	d.placeValue(n, s)
}

// placeValue puts the value where the action looks for it.
func (d *decoder) placeValue(n *node, s *Step) {
	switch s.Action {
	case Expect:
		s.Value = ""
	case WaitFor:
		if s.Value != "" {
			s.Wait.Text = s.Value
			s.Value = ""
		} else if s.Target != nil {
			s.Wait.Text = s.Target.Text
			s.Target = nil
		}
	case Select, Upload:
		if s.Value != "" {
			s.Values = []string{s.Value}
			s.Value = ""
		}
	case Press:
		name, known := keyName(s.Value)
		if !known {
			d.fail(n, "unknown key %q", s.Value)
		}
		s.Value = name
	}
}
