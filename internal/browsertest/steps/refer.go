package steps

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	finds = regexp.MustCompile(`(?is)^\s*(?:please\s+)?(?:(?:find|locate|look\s+for)\s+|scroll\s+(?:(?:down|up` +
		`|through)\s+)?(?:the\s+\S+\s+)?until\s+you\s+(?:see|find|reach)\s+` +
		`|(?:在.{1,20}?(?:中|里))?(?:找到|定位到?)\s*)(.+?)(?:\s*[,，]\s*(?:(?:and\s+)?then\s+|and\s+|然后|再|并)?|\s+(?:and\s+then|and` +
		`|then)\s+|\s*(?:然后|并|后|再)\s*)(.+)$`)
	scrolls = regexp.MustCompile(`(?is)^\s*scroll\s+(?:(?:down|up|through` +
		`|in)\s+)?(the\s+(?:\S+\s+)?list(?:\s?box)?)\s*,?\s+(?:and\s+then|and|then)\s+(.+)$`)
	it      = regexp.MustCompile(`(?i)(\s)(?:it|them)\b|它`)
	its     = regexp.MustCompile(`(?i)^(?:its|his|her|their)\s+|^它的`)
	pronoun = regexp.MustCompile(`(?i)^(?:it|them|它|它们)$`)
)

// cutFound takes off what is only looked for, and returns it: "find Ann's message and open it".
func cutFound(text string) (rest, found string) {
	m := finds.FindStringSubmatch(text)
	if m == nil {
		m = scrolls.FindStringSubmatch(text)
	}
	if m == nil || !startsWithVerb(m[2]) {
		return text, ""
	}
	first := m[2]
	if at := seps.FindStringIndex(first); at != nil {
		first = first[:at[0]]
	}
	if it.MatchString(first) && !strings.HasPrefix(strings.ToLower(first), "submit") {
		return it.ReplaceAllString(first, "${1}"+strings.ReplaceAll(m[1], "$", "$$")) + m[2][len(first):], ""
	}
	return m[2], m[1]
}

// refer adds a step to those of its line, with what it says of the ones before: what was found, "it", and a text
// whose field is not named. A step for several elements becomes several.
func (m masked) refer(list []Step, s Step, found string, at int) ([]Step, error) {
	isFirst := len(list) == 0 && found != ""
	if isFirst && (s.Target == nil || s.Target.Within != "") {
		return nil, m.problem(at, "cannot read the step %q; write the name of the element", clip(s.Text))
	}
	if s.Target == nil {
		return append(list, s), nil
	}
	var last *Target
	var before Action
	if len(list) > 0 {
		last = list[len(list)-1].Target
		before = list[len(list)-1].Action
	}
	if isFirst {
		last = &Target{Text: m.written(found)}
	}
	switch {
	case pronoun.MatchString(s.Target.Text):
		if last == nil {
			return nil, m.problem(at, "cannot read the step %q; write the name of the element", clip(s.Text))
		}
		s.Target = last
	case its.MatchString(s.Target.Text) && last != nil:
		s.Target = &Target{Text: inFound(its.ReplaceAllString(s.Target.Text, ""), last.Text)}
	case s.Target.Text == theField && last != nil && (before == Click || before == Clear || before == ""):
		s.Target = last
	case isFirst:
		s.Target.Text = inFound(s.Target.Text, last.Text)
		for i, name := range s.Each {
			s.Each[i] = inFound(name, last.Text)
		}
	}
	if !s.all {
		return append(list, s), nil
	}
	for _, t := range s.Each {
		one := s
		one.Target = &Target{Text: t, Within: s.Target.Within}
		one.Each = nil
		one.all = false
		list = append(list, one)
	}
	return list, nil
}

// inFound is what stands in something that was found.
func inFound(text, found string) string {
	if strings.ContainsFunc(found, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return found + "的" + text
	}
	return text + " of " + found
}

// theField is meant where a text is typed and no field is named: the only one.
const theField = "the text field"

func intoTheField(s *Step) { s.Target = &Target{Text: theField} }
