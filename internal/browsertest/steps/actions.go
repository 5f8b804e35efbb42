package steps

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// argument is what stands behind the key of a verb.
type argument struct {
	read     func(d *decoder, n *node, s *Step)
	element  bool               // it names an element
	complete func(s *Step) bool // tells whether a sentence has said all else that is needed; nil: it has
}

var (
	nothingMore = &argument{read: func(d *decoder, n *node, s *Step) {
		if n.Kind == mapping || n.Kind == list {
			d.fail(n, "%s takes nothing", s.Action)
		}
	}}
	aText     = &argument{read: readValue}
	anAddress = &argument{read: readValue, complete: func(s *Step) bool { return s.Value != "" }}
	anElement = &argument{element: true, read: func(d *decoder, n *node, s *Step) { d.element(n, s) }}
	aTextFor  = &argument{element: true, read: func(d *decoder, n *node, s *Step) {
		d.element(n, s, d.into("value", &s.Value), d.into("text", &s.Value))
	}}
	options = &argument{
		element: true, complete: func(s *Step) bool { return len(s.Values) > 0 },
		read: func(d *decoder, n *node, s *Step) { d.element(n, s, d.listInto("value", s), d.listInto("values", s)) },
	}
	twoElements = &argument{
		element: true, complete: func(s *Step) bool { return s.To != nil },
		read: func(d *decoder, n *node, s *Step) {
			d.element(n, s, field{"to", func(n *node) { s.To = d.where(n) }})
		},
	}
	aVariableFrom = &argument{element: true, read: func(d *decoder, n *node, s *Step) { d.element(n, s, d.into("as", &s.Value)) }}
	aKey          = &argument{read: func(d *decoder, n *node, s *Step) { d.pressed(n, s) }}
	files         = &argument{read: func(d *decoder, n *node, s *Step) { d.upload(n, s) }}
	aDirection    = &argument{read: func(d *decoder, n *node, s *Step) { d.scroll(n, s) }}
	aWait         = &argument{read: func(d *decoder, n *node, s *Step) { s.Wait = d.wait(n) }}
	aDialog       = &argument{read: func(d *decoder, n *node, s *Step) { s.Dialog = d.dialog(n) }}
	aTab          = &argument{read: func(d *decoder, n *node, s *Step) { s.Tab = d.tab(n) }}
	expected      = &argument{read: func(d *decoder, n *node, s *Step) { s.Expect = append(s.Expect, d.expects(n)...) }}
	variables     = &argument{read: func(d *decoder, n *node, s *Step) { d.textMap(n, &s.Set) }}
	aCall         = &argument{read: func(d *decoder, n *node, s *Step) {
		d.object(n, "a tool call", []field{d.into("name", &s.Tool), {"arguments", func(n *node) { d.arguments(n, &s.Arguments) }}})
	}}
)

func readValue(d *decoder, n *node, s *Step) { d.text(n, &s.Value) }

// into is a key whose text goes there, listInto one whose texts are the step's.
func (d *decoder) into(key string, dst *string) field {
	return field{key, func(n *node) { d.text(n, dst) }}
}

func (d *decoder) listInto(key string, s *Step) field {
	return field{key, func(n *node) { d.texts(n, &s.Values) }}
}

// actions are the keys that say what a step does.
func (d *decoder) actions(s *Step) (fields []field) {
	for _, v := range verbs {
		fields = append(fields, field{string(v.action), func(n *node) { v.takes.read(d, n, s) }})
	}
	return fields
}

// element reads an action's target: words, or a mapping with more in it.
func (d *decoder) element(n *node, s *Step, more ...field) {
	if s.Target == nil {
		s.Target = &Target{}
	}
	if n.IsScalar() {
		s.Target.Text = n.Text
		return
	}
	d.object(n, string(s.Action), append(d.targetFields(s.Target), more...))
}

// where reads a target that stands alone.
func (d *decoder) where(n *node) *Target {
	t := &Target{}
	if n.IsScalar() {
		t.Text = n.Text
		return t
	}
	d.object(n, "a target", d.targetFields(t))
	return t
}

// targetFields are the ways to name an element. The structured ones become a selector.
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
			if n.Kind == mapping {
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

func (d *decoder) pressed(n *node, s *Step) {
	if n.IsScalar() {
		s.Value = d.key(n)
		return
	}
	d.element(n, s, field{"key", func(n *node) { s.Value = d.key(n) }})
}

func (d *decoder) upload(n *node, s *Step) {
	if n.Kind != mapping {
		d.texts(n, &s.Values)
		return
	}
	d.element(n, s, d.listInto("file", s), d.listInto("files", s), d.listInto("value", s))
}

func (d *decoder) wait(n *node) *Wait {
	w := &Wait{}
	if n.IsScalar() {
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
	if len(n.Entries) != 1 {
		d.fail(n, "wait for one thing: time, text, gone or url")
	}
	return w
}

// withUnit refuses a bare number: it would be milliseconds in a command and seconds elsewhere.
func (d *decoder) withUnit(n *node, dst *time.Duration) {
	if _, err := strconv.ParseFloat(n.Text, 64); n.IsScalar() && err == nil {
		d.fail(n, "which unit: %[1]sms or %[1]ss?", n.Text)
		return
	}
	d.duration(n, dst)
}

// milliseconds reads a time of the old command form, whose bare numbers are milliseconds.
func (d *decoder) milliseconds(n *node, dst *time.Duration) {
	with := *n
	if _, err := strconv.ParseFloat(n.Text, 64); err == nil {
		with.Text += "ms"
	}
	d.duration(&with, dst)
}

func (d *decoder) scroll(n *node, s *Step) {
	if n.IsScalar() {
		switch n.Text {
		case "up", "down", "top", "bottom":
			s.Value = n.Text
			return
		}
	}
	d.element(n, s)
}

func (d *decoder) dialog(n *node) *Dialog {
	g := &Dialog{}
	if n.IsScalar() {
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
	if n.IsScalar() {
		word := ""
		d.choice(n, &word, "new", "close")
		t.New = word == "new"
		t.Close = word == "close"
		return t
	}
	d.object(n, "a tab", []field{
		{"new", func(n *node) {
			t.New = true
			if n.IsScalar() && n.Text != "true" {
				t.URL = n.Text
			}
		}},
		{"select", func(n *node) {
			if v := n.Text; n.IsScalar() && strings.TrimLeft(v, "0123456789") != "" {
				t.Title = v
				return
			}
			d.count(n, &t.Select, 1)
		}},
		{"close", func(n *node) { d.truth(n, &t.Close) }},
	})
	return t
}
