package steps

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/browsertest/grammar"
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
	var list []Step
	for _, p := range operations(op) {
		step, err := m.operation(p.verb+op[p.from:p.to], offset+p.from)
		if err != nil {
			return nil, err
		}
		list = append(list, step)
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
	for i := range list {
		list[i].Text = strings.TrimSpace(m.written(text))
	}
	if len(list) > 1 {
		for i, p := range operations(op) {
			list[i].Text = m.written(op[p.from:p.to])
		}
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

// span is a part of a line. Verb is what was said before and holds for it, too.
type span struct {
	from, to int
	verb     string
}

// operations cuts a compound line where a verb follows a separator.
func operations(text string) []span {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	list := []span{{to: len(text)}}
	for _, at := range seps.FindAllStringIndex(text, -1) {
		last := &list[len(list)-1]
		if at[0] <= last.from || at[1] >= len(text) || !joins(text, at) {
			continue
		}
		if !startsWithVerb(text[at[1]:]) || !startsWithVerb(text[last.from:at[0]]) {
			continue
		}
		last.to = at[0]
		list = append(list, span{from: at[1], to: len(text)})
	}
	var all []span
	for _, p := range list {
		if each := eachOf(text, p); each != nil {
			all = append(all, each...)
			continue
		}
		all = append(all, fillsTogether(text, p)...)
	}
	return all
}

// several is one verb and the quoted names of several elements: 勾选"A"、"B"和"C".
var several = compile(`\s*(?:请|please\s+)?(?:依次|分别)?(取消勾选|勾选|点击|单击|(?:uncheck|untick|check|tick|click` +
	`|tap)\s)\s*(?:the\s+)?SEVERAL\s*(?:复选框|多选框|按钮|选项|checkbox(?:es)?|buttons?|options?)?[。.]?`)

// eachOf are the elements of such a line, each with the verb; nil for another line.
func eachOf(text string, p span) (list []span) {
	verb := several.FindStringSubmatchIndex(text[p.from:p.to])
	if verb == nil {
		return nil
	}
	for i, r := range text[p.from:p.to] {
		if r >= firstMark && r < halfMark {
			list = append(list, span{p.from + i, p.from + i + utf8.RuneLen(r), text[p.from+verb[2] : p.from+verb[3]]})
		}
	}
	return list
}

var (
	fillVerb = regexp.MustCompile(`(?i)^\s*(?:请|please\s+)?(输入|填写|填入|录入|(?:enter|type|input|fill(?:\s+in|\s+out)?)\s)`)
	fillPart = compile(`\s*(?:the\s+)?(?:[^\x{f000}-\x{f0ff}，,；;、]{1,40}?|QUOTED\s*(?:为|是|[:：=]|with\s))\s*(?:为|是|[:：=]|with)?\s*MARK\s*`)
	together = regexp.MustCompile(`\s*(?:，|,|、|和|以及|及|\sand\s)\s*`)
)

// fillsTogether cuts what one verb says of several fields: 输入用户名"a"和密码"b".
func fillsTogether(text string, p span) []span {
	verb := fillVerb.FindStringSubmatchIndex(text[p.from:p.to])
	if verb == nil {
		return []span{p}
	}
	list := []span{{p.from, p.to, ""}}
	start := p.from + verb[3]
	for _, at := range together.FindAllStringIndex(text[start:p.to], -1) {
		list[len(list)-1].to = start + at[0]
		list = append(list, span{start + at[1], p.to, text[p.from+verb[2] : p.from+verb[3]]})
	}
	for i, q := range list {
		if i == 0 {
			q.from = start
		}
		if !fillPart.MatchString(text[q.from:q.to]) {
			return []span{p}
		}
	}
	return list
}

// joins tells whether a separator may separate operations: "Save and close" is one name.
func joins(text string, at []int) bool {
	switch strings.TrimSpace(text[at[0]:at[1]]) {
	case "后", "之后", "以后":
		r, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text[:at[0]]))
		return r >= firstMark && r <= lastMark
	case "and":
		rest := trim(text[at[1]:])
		return strings.Contains(rest, " ") && !mayBeName.MatchString(rest) || aloneVerb.MatchString(rest)
	}
	return true
}

// mayBeName begins with a verb that labels have behind "and", too, without saying of what: Save and mark as
// read.
var mayBeName = regexp.MustCompile(`(?i)^(?:mark|unmark|enable|disable|deselect|put|write|key\s+in|increase|decrease|raise|lower|empty|erase` +
	`|push|hit|expand|unfold|collapse|fold)\s+(?:[^t\x{f000}-\x{f0ff}]|t[^h]|th[^e]|the\S)`)

// aloneVerb is an operation of one word.
var aloneVerb = regexp.MustCompile(`(?i)^(?:reload|refresh|screenshot)$`)

// trim takes off what surrounds a sentence without being part of it.
func trim(s string) string {
	s = strings.TrimSpace(s)
	if !grammar.IsPersonName(s) {
		s = strings.TrimSpace(polite.ReplaceAllString(s, ""))
	}
	s = byWhom.ReplaceAllString(s, "$1")
	return strings.TrimSpace(strings.TrimRight(s, "。.;；,，!！ "))
}

var polite = regexp.MustCompile(`^(?:请|首先|先|最后|然后|接着|[Pp]lease\s+|[Ff]irst,?\s+|[Tt]hen\s+|[Ff]inally,?\s+|(?:When|Given|And|But)\s+)`)

// byWhom is who does it, and with what, before a verb that would do alone.
var byWhom = regexp.MustCompile(`^(?:(?:I|we|you|We|You)\s+|(?:用|使用)?鼠标(?:左键)?)((?:see|should|must` +
	`|` + anyOf(wordsOf(enWords)) + `)\s|点击|单击|双击|右键|右击)`)

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
	if verbAlone.MatchString(clean) || unclear.MatchString(clean) {
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
