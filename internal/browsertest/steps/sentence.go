package steps

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// ParseSentence reads one line: operations, and what is expected. The error is a Problem.
func ParseSentence(line string) ([]Step, error) {
	if len(line) > maxSentence {
		return nil, Problem{Code: snapshot.StepUnparsable, Text: fmt.Sprintf("the step is longer than %d bytes", maxSentence)}
	}
	m := mask(line)
	text := numbering.ReplaceAllString(m.text, "")
	offset := len(m.text) - len(text)
	op, expected, arrow := cutArrow(text)
	if strings.TrimSpace(op) == "" && !arrow {
		return nil, Problem{Code: snapshot.StepUnparsable, Text: "the step is empty"}
	}
	list, err := m.steps(op, offset)
	if err != nil {
		return nil, err
	}
	if arrow {
		at := offset + len(op)
		expects, err := m.expectations(expected, at)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			list = append(list, Step{Action: Expect})
		}
		last := &list[len(list)-1]
		last.Expect = append(last.Expect, expects...)
	}
	if len(list) == 1 {
		list[0].Text = strings.TrimSpace(m.written(text))
	}
	return list, nil
}

const maxSentence = 4000

var (
	numbering = regexp.MustCompile(`^\s*(?:[-*•]\s+)?(?:\[[ xX]\]\s*)?(?:(?:\d+|步骤\s*\d+|第?[一二三四五六七八九十\d]+步` +
		`|[Ss]tep\s*\d+)\s*[.、:：)），,]\s*|[(（]\d+[)）]\s*|[①-⑳]\s*|[一二三四五六七八九十]+、\s*|[-*•]\s+)?`)
	arrows = regexp.MustCompile(`\s*(?:->|→|=>|⇒)\s*`)
	seps   = regexp.MustCompile(`\s*(?:，|,|；|;|。|、)\s*(?:然后|接着|随后|再|并且|并|而且|同时|且|and then |then |and )?|\s*(?:然后|接着|随后|并且|而且|同时` +
		`|再|并|且|之后|以后|后)\s*|\s+(?:and then|then|and)\s+`)
)

// cutArrow cuts "operation -> expected result".
func cutArrow(text string) (op, expected string, found bool) {
	at := arrows.FindStringIndex(text)
	if at == nil {
		return text, "", false
	}
	return text[:at[0]], text[at[1]:], true
}

// operation reads one operation.
func (m masked) operation(text string, at int) (Step, error) {
	clean := trim(text)
	if asserts.MatchString(clean) {
		if list, err := m.expectations(clean, at); err == nil {
			return Step{Action: Expect, Expect: list}, nil
		}
	}
	if e, ok := m.waitedState(clean); ok {
		return Step{Action: Expect, Expect: []Expectation{e}}, nil
	}
	switch {
	case negations.MatchString(clean):
		return Step{}, m.problem(at, "cannot read the step %q; a step says what to do, and not what to leave", clip(m.written(clean)))
	case conditions.MatchString(clean):
		return Step{}, m.problem(at, "cannot read the step %q; a step has no conditions", clip(m.written(clean)))
	case verbAlone.MatchString(clean) || unclear.MatchString(clean):
		return Step{}, m.unparsable(clean, at)
	}
	for i := range rules {
		if step, ok := rules[i].read(m, clean); ok {
			return step, nil
		}
	}
	return Step{}, m.unparsable(clean, at)
}

// unparsable says what the nearest form is.
func (m masked) unparsable(text string, at int) error {
	hint := `write a verb first, such as: 点击 登录; 在 用户名 输入 "admin"; click Save; expect "Welcome"`
	if form := nearestForm(text); form != "" {
		hint = "write: " + form
	}
	return m.problem(at, "cannot read the step %q; %s", clip(m.written(text)), hint)
}

func (m masked) problem(at int, format string, args ...any) error {
	return Problem{Code: snapshot.StepUnparsable, Column: m.column(at), Text: fmt.Sprintf(format, args...)}
}

func clip(s string) string { return visible.Beginning(s, 80) }

// expectations reads what stands behind the arrow.
func (m masked) expectations(text string, at int) ([]Expectation, error) {
	if trim(text) == "" {
		return nil, m.problem(at, "nothing is expected behind the arrow")
	}
	var list []Expectation
	bad := ""
	for _, p := range seps.Split(text, -1) {
		if p = trim(p); p == "" {
			continue
		}
		e, ok := m.expectation(p)
		if !ok {
			bad = p
			break
		}
		list = append(list, e)
	}
	if bad == "" {
		return list, nil
	}
	if e, ok := m.expectation(trim(text)); ok { // the separator belongs to a name
		return []Expectation{e}, nil
	}
	return nil, m.problem(at, "cannot read what is expected: %q; write: "+
		`出现 "…", 标题为 "…", 网址包含 "…", X 可见; see "…", url contains "…", X is visible`, clip(m.written(bad)))
}
