package steps

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// actions are the keys that say what a step does, each with what stands behind it.
func (d *decoder) actions(s *Step) []field {
	element := func(action Action) field {
		return field{string(action), func(n *node) { d.element(n, s, nil) }}
	}
	filled := func(action Action) field {
		return field{string(action), func(n *node) {
			d.element(n, s, []field{{"value", func(n *node) { d.text(n, &s.Value) }}, {"text", func(n *node) { d.text(n, &s.Value) }}})
		}}
	}
	value := func(action Action) field {
		return field{string(action), func(n *node) { d.text(n, &s.Value) }}
	}
	bare := func(action Action) field {
		return field{string(action), func(n *node) {
			if n.kind == mapping || n.kind == list {
				d.fail(n, "%s takes nothing", action)
			}
		}}
	}
	return []field{
		value(Navigate), bare(Back), bare(Reload),
		element(Click), element(DblClick), element(RightClick), filled(Fill), filled(Type), element(Clear),
		{string(Select), func(n *node) {
			d.element(n, s, []field{{"value", func(n *node) { d.texts(n, &s.Values) }}, {"values", func(n *node) { d.texts(n, &s.Values) }}})
		}},
		element(Check), element(Uncheck), element(Hover),
		{string(Drag), func(n *node) {
			d.element(n, s, []field{{"to", func(n *node) { s.To = d.where(n) }}})
		}},
		{string(Press), func(n *node) {
			if n.kind == scalar {
				s.Value = d.key(n)
				return
			}
			d.element(n, s, []field{{"key", func(n *node) { s.Value = d.key(n) }}})
		}},
		{string(Upload), func(n *node) { d.upload(n, s) }},
		{string(WaitFor), func(n *node) { s.Wait = d.wait(n) }},
		{string(Scroll), func(n *node) { d.scroll(n, s) }},
		{string(OnDialog), func(n *node) { s.Dialog = d.dialog(n) }},
		{string(OnTab), func(n *node) { s.Tab = d.tab(n) }},
		value(Screenshot),
		{string(Expect), func(n *node) { s.Expect = append(s.Expect, d.expects(n)...) }},
		{string(SetVars), func(n *node) { d.textMap(n, &s.Set) }},
		{string(Save), func(n *node) {
			d.element(n, s, []field{{"as", func(n *node) { d.text(n, &s.Value) }}})
		}},
		value(Eval),
		{string(Tool), func(n *node) {
			d.object(n, "a tool call", []field{{"name", func(n *node) { d.text(n, &s.Tool) }}, {"arguments", func(n *node) { d.arguments(n, &s.Arguments) }}})
		}},
	}
}

// element reads an action's target: words, or a mapping with more in it.
func (d *decoder) element(n *node, s *Step, more []field) {
	if s.Target == nil {
		s.Target = &Target{}
	}
	if n.kind == scalar {
		s.Target.Text = n.text
		return
	}
	d.object(n, string(s.Action), append(d.targetFields(s.Target), more...))
}

// where reads a target that stands alone.
func (d *decoder) where(n *node) *Target {
	t := &Target{}
	if n.kind == scalar {
		t.Text = n.text
		return t
	}
	d.object(n, "a target", d.targetFields(t))
	return t
}

// targetFields are the ways to say which element is meant. The structured ones become a
// selector, so that there is one way to look an element up.
func (d *decoder) targetFields(t *Target) []field {
	as := func(format string) func(*node) {
		return func(n *node) {
			var s string
			d.text(n, &s)
			t.Text = fmt.Sprintf(format, strings.ReplaceAll(s, "'", "’"))
		}
	}
	plain := func(n *node) { d.text(n, &t.Text) }
	role := ""
	return []field{
		{"target", func(n *node) {
			if n.kind == mapping {
				d.object(n, "a target", d.targetFields(t))
				return
			}
			plain(n)
		}},
		{"selector", plain}, {"css", plain}, {"xpath", plain},
		{"role", func(n *node) {
			d.text(n, &role)
			if t.Text = roleSelector(role, t.Text); t.Text == "" {
				t.Text = "role=" + role
			}
		}},
		{"name", func(n *node) {
			var name string
			d.text(n, &name)
			if role != "" {
				t.Text = roleSelector(role, name)
				return
			}
			t.Text = name
		}},
		{"label", as("getByLabel('%s', { exact: true })")},
		{"placeholder", as("getByPlaceholder('%s', { exact: true })")},
		{"testid", as("getByTestId('%s')")},
		{"within", func(n *node) { d.text(n, &t.Within) }},
		{"row", func(n *node) { d.text(n, &t.Within) }},
		{"frame", func(n *node) { d.text(n, &t.Frame) }},
		{"nth", func(n *node) { d.nth(n, &t.Nth) }},
	}
}

func roleSelector(role, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("getByRole('%s', { name: '%s', exact: true })", role, strings.ReplaceAll(name, "'", "’"))
}

func (d *decoder) key(n *node) string {
	var s string
	d.text(n, &s)
	name, known := keyName(s)
	if !known {
		d.fail(n, "unknown key %q; write Enter, Tab, Escape, ArrowDown, F5, Control+A, 回车", s)
	}
	return name
}

func (d *decoder) upload(n *node, s *Step) {
	if n.kind != mapping {
		d.texts(n, &s.Values)
		return
	}
	files := func(n *node) { d.texts(n, &s.Values) }
	d.element(n, s, []field{{"file", files}, {"files", files}, {"value", files}})
}

func (d *decoder) wait(n *node) *Wait {
	w := &Wait{}
	if n.kind == scalar {
		d.duration(n, &w.Time)
		return w
	}
	d.object(n, "a wait", []field{
		{"time", func(n *node) { d.duration(n, &w.Time) }},
		{"timeout", func(n *node) { d.withUnit(n, &w.Time) }},
		{"text", func(n *node) { d.text(n, &w.Text) }},
		{"gone", func(n *node) { d.text(n, &w.Gone) }},
		{"url", func(n *node) { d.text(n, &w.URL) }},
	})
	if len(n.entries) != 1 {
		d.fail(n, "wait for one thing: time, text, gone or url")
	}
	return w
}

// withUnit reads a duration under a key whose bare number means milliseconds in a command and
// seconds anywhere else.
func (d *decoder) withUnit(n *node, dst *time.Duration) {
	if _, err := strconv.ParseFloat(n.text, 64); n.kind == scalar && err == nil {
		d.fail(n, "which unit: %[1]sms or %[1]ss?", n.text)
		return
	}
	d.duration(n, dst)
}

// milliseconds reads a time of the old command form, whose bare numbers are milliseconds.
func (d *decoder) milliseconds(n *node, dst *time.Duration) {
	with := *n
	if _, err := strconv.ParseFloat(n.text, 64); err == nil {
		with.text += "ms"
	}
	d.duration(&with, dst)
}

func (d *decoder) scroll(n *node, s *Step) {
	if n.kind == scalar {
		switch n.text {
		case "up", "down", "top", "bottom":
			s.Value = n.text
			return
		}
	}
	d.element(n, s, nil)
}

func (d *decoder) dialog(n *node) *Dialog {
	g := &Dialog{}
	if n.kind == scalar {
		word := ""
		d.choice(n, &word, "accept", "dismiss")
		g.Accept = word == "accept"
		return g
	}
	d.object(n, "a dialog", []field{
		{"accept", func(n *node) { d.truth(n, &g.Accept) }},
		{"text", func(n *node) { d.text(n, &g.Text) }},
	})
	return g
}

func (d *decoder) tab(n *node) *Tab {
	t := &Tab{}
	if n.kind == scalar {
		word := ""
		d.choice(n, &word, "new", "close")
		t.New, t.Close = word == "new", word == "close"
		return t
	}
	d.object(n, "a tab", []field{
		{"new", func(n *node) {
			t.New = true
			if n.kind == scalar && n.text != "true" {
				t.URL = n.text
			}
		}},
		{"select", func(n *node) {
			if v := n.text; n.kind == scalar && strings.TrimLeft(v, "0123456789") != "" {
				t.Title = v
				return
			}
			d.count(n, &t.Select, 1)
		}},
		{"close", func(n *node) { d.truth(n, &t.Close) }},
	})
	return t
}
