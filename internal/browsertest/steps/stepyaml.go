package steps

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/browsertest/find"
)

// steps reads a list of steps: sentences, mappings, and files to include.
func (d *decoder) steps(n *node) (out []Step) {
	for _, item := range d.items(n, "steps") {
		switch {
		case item.IsScalar():
			out = append(out, d.sentence(item)...)
		case item.Kind == mapping && item.Find("include") != nil:
			out = append(out, d.include(item)...)
		case item.Kind == mapping && item.Find("step") != nil:
			out = append(out, d.described(item)...)
		case item.Kind == mapping:
			if s, ok := d.step(item); ok {
				out = append(out, s)
			}
		default:
			d.fail(item, "expected a step: a sentence or a mapping, got %s", item.Kind)
		}
	}
	return out
}

// sentence reads a step that is one line.
func (d *decoder) sentence(n *node) []Step {
	parsed, err := ParseSentence(n.Text)
	if err != nil {
		d.add(err, n.Line)
		return nil
	}
	for i := range parsed {
		parsed[i].File = d.file
		parsed[i].Line = n.Line
		d.checkTarget(n, parsed[i].Target)
	}
	return parsed
}

// described reads {step: sentence, timeout: …}: a sentence with options for its last operation.
func (d *decoder) described(n *node) []Step {
	parsed := d.sentence(n.Find("step"))
	if len(parsed) == 0 {
		return nil
	}
	last := &parsed[len(parsed)-1]
	d.object(n, "a step", append(d.about(last), field{"step", func(*node) {}}))
	return parsed
}

// include reads the steps of another file.
func (d *decoder) include(n *node) []Step {
	var path string
	var with map[string]string
	d.object(n, "an include", []field{
		{"include", func(n *node) { d.text(n, &path) }},
		{"with", func(n *node) { d.textMap(n, &with) }},
	})
	full := filepath.Join(filepath.Dir(d.file), path)
	switch {
	case path == "":
		return nil
	case slices.Contains(d.open, full):
		d.fail(n, "%s includes itself: %s", path, strings.Join(append(d.open, full), " → "))
		return nil
	case len(d.open) > 10:
		d.fail(n, "files include each other more than 10 levels deep")
		return nil
	case d.read == nil:
		d.fail(n, "files cannot be included here")
		return nil
	}
	data, err := d.read(full)
	if err != nil {
		d.fail(n, "cannot read %s: %v", path, err)
		return nil
	}
	inner := &decoder{file: full, read: d.read, open: append(slices.Clone(d.open), full), env: envNames(d.env, data)}
	s := &Suite{}
	if strings.HasSuffix(strings.ToLower(full), ".md") {
		s = inner.markdown(data)
	} else {
		s = inner.yaml(data)
	}
	d.problems = append(d.problems, inner.problems...)
	d.env = inner.env
	if s == nil {
		return nil
	}
	var out []Step
	if vars := merged(s.Vars, with); len(vars) > 0 {
		out = append(out, Step{Action: SetVars, Set: vars, File: d.file, Line: n.Line, Text: "include " + path})
	}
	for _, c := range s.Cases {
		out = append(out, c.Steps...)
	}
	return out
}

// step reads a mapping: one action and its options.
func (d *decoder) step(n *node) (Step, bool) {
	s := Step{File: d.file, Line: n.Line}
	if n.Find("action") != nil {
		return s, d.command(n, &s)
	}
	before := len(d.problems)
	actions := d.actions(&s)
	var given []string
	for _, e := range n.Entries {
		if slices.ContainsFunc(actions, func(f field) bool { return f.key == e.Key }) {
			given = append(given, e.Key)
		}
	}
	// with an action, "expect" is about its result
	if len(given) == 2 && slices.Contains(given, "expect") {
		given = slices.DeleteFunc(given, func(k string) bool { return k == "expect" })
	}
	if len(given) != 1 {
		d.wrongCount(n, given, keysOf(actions))
		return s, false
	}
	s.Action = Action(given[0])
	d.object(n, "a step", append(actions, d.about(&s)...))
	s.Text = describeStep(&s)
	d.check(n, &s)
	return s, len(d.problems) == before
}

func (d *decoder) wrongCount(n *node, given, actions []string) {
	if len(given) > 1 {
		d.fail(n, "a step does one thing; got %s", strings.Join(given, " and "))
		return
	}
	for _, e := range n.Entries {
		if near := doctree.DidYouMean(e.Key, actions); near != "" {
			d.fail(keyNode(e), "unknown action %q%s", e.Key, near)
			return
		}
	}
	d.fail(n, "the step has no action; expected one of: %s", strings.Join(actions, ", "))
}

// about are the options of any step.
func (d *decoder) about(s *Step) []field {
	return []field{
		{"id", func(n *node) { d.text(n, &s.ID) }},
		{"timeout", func(n *node) { d.duration(n, &s.Timeout) }},
		{"retries", func(n *node) { d.count(n, &s.Retries, 0) }},
		{"optional", func(n *node) { d.truth(n, &s.Optional) }},
		{"idempotent", func(n *node) { d.truth(n, &s.Idempotent) }},
		{"within", func(n *node) { d.target(s, n, func(t *Target) { d.text(n, &t.Within) }) }},
		{"frame", func(n *node) { d.target(s, n, func(t *Target) { d.text(n, &t.Frame) }) }},
		{"nth", func(n *node) { d.target(s, n, func(t *Target) { d.nth(n, &t.Nth) }) }},
		{"expect", func(n *node) { s.Expect = append(s.Expect, d.expects(n)...) }},
		{"fallback", func(n *node) { s.Fallback = d.steps(n) }},
	}
}

// target changes the step's target, which may not exist yet.
func (d *decoder) target(s *Step, n *node, set func(*Target)) {
	if s.Target == nil {
		s.Target = &Target{}
	}
	set(s.Target)
}

func (d *decoder) nth(n *node, dst *int) {
	if n.IsScalar() && (n.Text == "last" || n.Text == "-1") {
		*dst = -1
		return
	}
	d.count(n, dst, 1)
}

// check refuses a step that cannot be run.
func (d *decoder) check(n *node, s *Step) {
	d.checkTarget(n, s.Target)
	d.checkTarget(n, s.To)
	if s.Action.verb().takes.element && (s.Target == nil || s.Target.Text == "") {
		d.fail(n, "%s needs a target: which element is meant", s.Action)
	}
	if s.Action == Drag && s.To == nil {
		d.fail(n, "drag needs to: where the element is dragged")
	}
}

func (d *decoder) checkTarget(n *node, t *Target) {
	if t != nil && find.IsRef(t.Text) {
		d.fail(n, "%s is a ref of a snapshot, which means another element next time; describe the element", t.Text)
	}
}

// describeStep describes a step for reports.
func describeStep(s *Step) string {
	parts := []string{string(s.Action)}
	if s.Target != nil && s.Target.Text != "" {
		parts = append(parts, s.Target.Text)
	}
	if s.To != nil {
		parts = append(parts, "to "+s.To.Text)
	}
	if s.Value != "" {
		parts = append(parts, `"`+s.Value+`"`)
	}
	for _, e := range s.Expect {
		parts = append(parts, "→ "+e.Text)
	}
	return strings.Join(parts, " ")
}
