package steps

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/locale"
)

// expects reads what is expected: a sentence, a mapping, or a list of both.
func (d *decoder) expects(n *node) (out []Expectation) {
	switch n.Kind {
	case doctree.Text, doctree.Number, doctree.Bool:
		return d.expectSentence(n)
	case list:
		for _, item := range n.Items {
			out = append(out, d.expects(item)...)
		}
		return out
	case mapping:
		if n.Find("condition") != nil {
			return d.oldExpect(n)
		}
		return d.expect(n)
	}
	d.fail(n, "nothing is expected")
	return nil
}

func (d *decoder) expectSentence(n *node) []Expectation {
	m := mask(n.Text)
	out, err := m.expectations(m.text, 0)
	if err != nil {
		d.add(err, n.Line)
	}
	return out
}

// states are the kinds of expectation about the state of an element.
var states = []Kind{Visible, Hidden, Enabled, Disabled, Checked, Unchecked}

// expect reads {text: x}, {visible: element}, {value: x, target: element}, {url: {contains: x}}.
func (d *decoder) expect(n *node) []Expectation {
	e := Expectation{}
	target := &Target{}
	kinds := 0
	kind := func(k Kind) {
		e.Kind = k
		kinds++
	}
	fields := d.targetFields(target)
	for _, k := range states {
		fields = append(fields, field{string(k), func(n *node) {
			kind(k)
			if n.Text != "true" {
				d.readTarget(n, target)
			}
		}})
	}
	for _, k := range []Kind{Text, NoText, Value, URL, Title} {
		fields = append(fields, field{string(k), func(n *node) {
			kind(k)
			e.Match = Contains
			if k == Value || k == URL || k == Title {
				e.Match = Equals
			}
			d.compared(n, &e)
		}})
	}
	fields = append(fields,
		field{string(Count), func(n *node) {
			kind(Count)
			d.count(n, &e.Count, 0)
		}},
		field{"element", func(n *node) { d.readTarget(n, target) }},
	)
	d.object(n, "an expectation", fields)
	if kinds != 1 {
		d.fail(n, "an expectation has one kind; got %d of: text, no-text, visible, hidden, value, count, url, title, "+
			"enabled, disabled, checked, unchecked", kinds)
		return nil
	}
	if *target != (Target{}) {
		e.Target = target
	}
	needs := e.Kind == Value || e.Kind == Count || slices.Contains(states, e.Kind)
	if needs && e.Target == nil {
		d.fail(n, "%s needs a target: which element is meant", e.Kind)
	}
	d.checkTarget(n, e.Target)
	e.Text = e.describe()
	return []Expectation{e}
}

// readTarget reads an element: text, or a mapping.
func (d *decoder) readTarget(n *node, t *Target) {
	if n.Kind == mapping {
		d.object(n, "a target", d.targetFields(t))
		return
	}
	d.text(n, &t.Text)
}

// compared reads a text, or {equals | contains | matches: text}.
func (d *decoder) compared(n *node, e *Expectation) {
	if n.IsScalar() {
		e.Value = n.Text
		return
	}
	read := func(m Match) field {
		return field{string(m), func(n *node) {
			e.Match = m
			d.text(n, &e.Value)
		}}
	}
	d.object(n, "a comparison", []field{read(Equals), read(Contains), read(Matches)})
	if e.Match == Matches {
		if _, err := regexp.Compile(e.Value); err != nil {
			d.fail(n, "%q is not a regular expression: %v", e.Value, err)
		}
	}
}

// describe describes an expectation for reports.
func (e *Expectation) describe() string {
	return e.describeIn(func(word string) string { return word })
}

func (e *Expectation) describeIn(say func(word string) string) string {
	parts := []string{say(string(e.Kind))}
	if e.Target != nil {
		parts = append(parts, e.Target.Text)
	}
	switch e.Kind {
	case Count:
		parts = append(parts, strconv.Itoa(e.Count))
	case Text, NoText, Value, URL, Title:
		parts = append(parts, say(string(e.Match)), `"`+e.Value+`"`)
	}
	return strings.Join(parts, " ")
}

// chineseWords are the words of an expectation that was not written as a sentence.
var chineseWords = map[string]string{
	"visible": "可见", "hidden": "不可见", "enabled": "可用", "disabled": "不可用", "checked": "已勾选", "unchecked": "未勾选",
	"text": "文字", "no-text": "无文字", "value": "值", "count": "数量", "url": "网址", "title": "标题",
	"equals": "等于", "contains": "包含", "matches": "匹配",
}

// In returns the expectation in the language; a sentence as it was written.
func (e *Expectation) In(lang locale.Language) string {
	if lang != locale.Chinese || e.Text != e.describe() {
		return e.Text
	}
	return e.describeIn(func(word string) string { return cmp.Or(chineseWords[word], word) })
}

// oldExpect reads {selector, condition, text}.
func (d *decoder) oldExpect(n *node) []Expectation {
	e := Expectation{}
	var condition, value string
	target := &Target{}
	text := func(n *node) { d.text(n, &value) }
	fields := append(d.targetFields(target), field{"condition", func(n *node) {
		d.choice(n, &condition, "visible", "hidden", "text", "value", "enabled", "checked", "count")
	}}, field{"text", text}, field{"value", text}, field{"count", text})
	d.object(n, "an expectation", fields)
	e.Kind = Kind(condition)
	e.Value = value
	if *target != (Target{}) {
		e.Target = target
	}
	switch e.Kind {
	case Text:
		e.Match = Contains
	case Value:
		e.Match = Equals
	case Count:
		count, err := strconv.Atoi(value)
		if err != nil {
			d.fail(n, "expected the count as a number in text")
		}
		e.Count = count
		e.Value = ""
	}
	if e.Target == nil && e.Kind != Text {
		d.fail(n, "%s needs a selector", condition)
	}
	d.checkTarget(n, e.Target)
	e.Text = e.describe()
	return []Expectation{e}
}
