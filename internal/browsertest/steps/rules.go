package steps

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
)

// compile reads a pattern in which QUOTED stands for a quoted part, SEVERAL for two or more, MARK for
// one or a variable, and KEYS for the name of a key.
func compile(pattern string) *regexp.Regexp {
	pattern = strings.ReplaceAll(pattern, "KEYS", keyPattern)
	pattern = strings.ReplaceAll(pattern, "SEVERAL", `QUOTED(?:\s*(?:,|，|、|和|及|与|and|&)\s*(?:and\s+)?QUOTED)+`)
	pattern = strings.ReplaceAll(pattern, "QUOTED", `[\x{f000}-\x{f07f}]`)
	pattern = strings.ReplaceAll(pattern, "MARK", `[\x{f000}-\x{f0ff}]`)
	return regexp.MustCompile(`(?is)^(?:` + pattern + `)$`)
}

// read reads a sentence by the rule.
func (x *rule) read(m masked, text string) (Step, bool) {
	groups := x.re.FindStringSubmatch(text)
	if groups == nil {
		return Step{}, false
	}
	step := Step{Action: x.action}
	names := ""
	for i, name := range x.re.SubexpNames() {
		if name != "" && groups[i] != "" && !step.take(m, name, groups[i]) {
			return Step{}, false
		}
		if name == "t" {
			names += groups[i]
		}
	}
	if x.set != nil {
		x.set(&step)
	}
	if each[step.Action] && names != "" {
		list, certain := several(names, step.Action, step.Choose)
		step.all = certain && !step.Choose // options of one list are chosen in one go
		for _, name := range list {
			step.Each = append(step.Each, m.written(name))
		}
	}
	if (step.Action == Select || step.Action == Upload) && step.Value != "" {
		step.Values = []string{step.Value}
		step.Value = ""
	}
	return step, step.complete()
}

// take puts one part where it belongs; false when it is not of the right form.
func (s *Step) take(m masked, name, text string) bool {
	switch name {
	case "t":
		s.Target = cmp.Or(s.Target, &Target{})
		s.Target.Text = m.written(text)
		return s.Target.Text != ""
	case "t2":
		s.To = &Target{Text: m.written(text)}
		return s.To.Text != ""
	case "w":
		s.Target = &Target{Within: m.written(text)}
		if wholePage.MatchString(text) {
			s.Target.Within = ""
		}
		return !fillsIn.MatchString(text) && !endsInVerb.MatchString(text)
	case "v":
		s.Value = m.value(text)
		return !quotedAmongWords(text) && !manyValues.MatchString(text) && !noValue.MatchString(text)
	case "u":
		s.Value = m.value(text)
		return isAddress(s.Value)
	case "k":
		key, known := keyName(m.value(text))
		s.Value = key
		return known
	case "vs":
		for _, r := range text {
			if p := m.parts[r]; p.quoted {
				s.Values = append(s.Values, p.value)
			}
		}
	case "ms", "sec", "min":
		unit := map[string]time.Duration{"ms": time.Millisecond, "sec": time.Second, "min": time.Minute}[name]
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if k := grammar.Number(text); err != nil && k > 0 {
			n = float64(k)
			err = nil
		}
		s.Wait = &Wait{Time: time.Duration(n * float64(unit))}
		return err == nil && n >= 0 && n < 1e6
	case "text":
		s.Wait = &Wait{Text: m.value(text)}
	case "gone":
		s.Wait = &Wait{Gone: m.value(text)}
	case "url":
		s.Wait = &Wait{URL: m.value(text)}
	case "tab":
		n := cmp.Or(grammar.Number(text), grammar.Ordinal(text))
		s.Tab = &Tab{Select: n}
		return n > 0
	case "title":
		s.Tab = &Tab{Title: m.value(text)}
	}
	return true
}

// fillsIn matches what is not a place, but an operation: 在搜索框输入点击率.
var fillsIn = regexp.MustCompile(`.(?:输入|填写|填入|录入|键入|选择)(?:[^框]|$)`)

// endsInVerb is such a place, too: in the dialog, click Check out.
var endsInVerb = regexp.MustCompile(`(?i)(?:` + anyOf(wordsOf(func(v *verb) string { return v.inside.zh })) +
	`|\s` + anyOf(wordsOf(func(v *verb) string { return v.inside.en })) + `)$`)

// wholePage is a place that everything stands in.
var wholePage = compile(`(?:当前|本|该|这个)?(?:页面|网页|界面)|(?:the|this)\s+page`)

// manyValues is a value without quotes that goes on with another field and its value.
var manyValues = regexp.MustCompile(`[，,；;、].*[:：=为]|(?i)\s(?:and|,)\s.*\s(?:with|to|as)\s`)

// noValue stands for a value rather than being one, or may end with another operation.
var noValue = regexp.MustCompile(`(?i)^(?:your|my|his|her|their)\s|^the\s+\S+$|\sand\s+(?:` + buttonVerbs + `)$` +
	`|^(?:the\s+)?(?:\d+(?:st|nd|rd|th)|last|` + grammar.Ordinals + `)\s+(?:option|item|entry|choice|value|one)$|^第.{1,3}个(?:选项)?$`)

// quotedAmongWords tells whether a value has words besides its quotes, which nobody understood.
func quotedAmongWords(text string) bool {
	isQuoted := func(r rune) bool { return r >= firstMark && r < halfMark }
	isOther := func(r rune) bool { return r != ' ' && !isQuoted(r) }
	return strings.ContainsFunc(text, isQuoted) && strings.ContainsFunc(text, isOther)
}

// complete tells whether the step has what its action needs.
func (s *Step) complete() bool {
	takes := s.Action.verb().takes
	return (!takes.element || s.Target != nil) && (takes.complete == nil || takes.complete(s))
}

// isAddress tells an address from words: with a scheme, a path, a variable, or a host name.
func isAddress(s string) bool {
	if strings.Contains(s, "://") || otherAddress.MatchString(s) {
		return !strings.ContainsAny(s, " \t")
	}
	return hostName.MatchString(s)
}

var otherAddress = regexp.MustCompile(`^(?:[/?#]|\$\{|about:)`)

var hostName = regexp.MustCompile(`^(?:localhost|[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}|\d+\.\d+\.\d+\.\d+)(?::\d+)?(?:[/?#]\S*)?$`)

// verbReach is how many bytes of a text are searched for its verb.
const verbReach = 400

func startsWithVerb(s string) bool {
	s = trim(s[:min(len(s), verbReach)])
	return starts.MatchString(s) || asserts.MatchString(s) || placeFirst(s)
}

// nearestForm is the form of the rule whose verb the text begins with.
func nearestForm(text string) string {
	text = strings.ToLower(text)
	if goesTo.MatchString(text) {
		return `打开 https://… 或 /路径; for a menu: 点击 …`
	}
	best := ""
	longest := ""
	for i := range rules {
		verb := verbOf(rules[i].form)
		if len(verb) > len(longest) && strings.Contains(text, verb) {
			best = rules[i].form
			longest = verb
		}
	}
	return best
}

// unclear matches what looks like a step but says too little or too much.
var unclear = compile(strings.Join([]string{
	`等(?:待|到)?\s*(?:页面|网页|页面内容|数据)?\s*(?:加载|刷新|跳转|渲染)?\s*(?:完成|完毕|成功|结束)?`,
	`wait\s+(?:for|until)\s+(?:the\s+)?page(?:\s+(?:to\s+)?(?:fully\s+)?(?:loads?|is loaded|be loaded|has loaded|is ready` +
		`|finishes loading))?`,
	`(?:press|hit)\s+(?:the\s+)?KEYS(?:\s+key)?\s+(?:twice|thrice|\d+\s+times|three times)`,
	`(?:press|hit)\s+(?:the\s+)?KEYS(?:\s+key)?\s*(?:,|and|then)\s.+`,
	`(?:click|tap)\s+.+\s(?:twice|thrice|(?:\d+|two|three|four|five)\s+times)`,
	`(?:点击|单击)\s*.+[\d二两三四五六七八九十]\s*[次下]`,
	`check\s+.+\s(?:is|are|equals)\s+MARK`,
	`按下?\s*(?:KEYS\s*键?\s*[\d一二两三四五]+\s*[次下]|[\d一二两三四五]+\s*[次下]\s*KEYS\s*键?)`,
}, "|"))

var formVerb = regexp.MustCompile(`[\p{Han}]{2,}|[a-z]{3,}`)

func verbOf(form string) string {
	if strings.HasPrefix(form, "在") {
		_, after, _ := strings.Cut(form, " … ")
		form = after
	}
	return formVerb.FindString(form)
}
