package steps

import (
	"regexp"
	"slices"
	"strings"
)

// verb is one thing that a step can do, in all its forms. The JSON Schema and the list in
// docs/steps.md are generated from it.
type verb struct {
	action  Action
	takes   *argument
	command string // its words in the command form, with commas between them; "" for none
	zh, en  string // words that its sentences begin with, with commas between them
	inside  inside
	rules   []rule
	alone   bool   // one of its words may be a whole sentence
	meaning string // for the documentation
}

// inside are the words that may stand behind a place: in the dialog, click OK.
type inside struct{ zh, en string }

// spoken are the verbs with sentences, the more special first.
var spoken = slices.Concat(pageVerbs, elementVerbs)

var verbs = slices.Concat(spoken, codeVerbs)

func (a Action) verb() *verb {
	return &verbs[slices.IndexFunc(verbs, func(v verb) bool { return v.action == a })]
}

// words are the parts of a list, the longest first, so that "click on" is not read as "click".
func words(list string) []string {
	if list == "" {
		return nil
	}
	parts := strings.Split(list, ", ")
	slices.SortStableFunc(parts, func(a, b string) int { return len(b) - len(a) })
	return parts
}

// anyOf is a pattern of the words of lists.
func anyOf(lists ...string) string {
	var parts []string
	for _, w := range words(strings.Join(lists, ", ")) {
		parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(w), " ", `\s+`))
	}
	return `(?:` + strings.Join(parts, "|") + `)`
}

// wordsOf are the lists of all verbs with sentences, as one.
func wordsOf(list func(*verb) string) string {
	var lists []string
	for i := range spoken {
		if words := list(&spoken[i]); words != "" {
			lists = append(lists, words)
		}
	}
	return strings.Join(lists, ", ")
}

func zhWords(v *verb) string { return v.zh }

func enWords(v *verb) string { return v.en }

// rule is one form of a sentence. Its groups: t the element, t2 where it is dragged to, w its place, v a
// value, vs several, u an address, k a key. VERB stands for the words of its verb.
type rule struct {
	words   func(*verb) string // of its language
	form    string             // shown to those who came near it
	pattern string
	set     func(*Step)
	english bool
	late    bool // tried after those of all verbs
	action  Action
	re      *regexp.Regexp
}

func zh(form, pattern string) rule { return rule{words: zhWords, form: form, pattern: pattern} }

func en(form, pattern string) rule {
	return rule{words: enWords, english: true, form: form, pattern: pattern}
}

// sets is the rule with what its words say beside its groups.
func (x rule) sets(set func(*Step)) rule {
	x.set = set
	return x
}

func (x rule) afterAll() rule {
	x.late = true
	return x
}

// rules are tried in order: Chinese ones first, then by their verbs, the late ones last.
var rules = func() (list []rule) {
	add := func(verbs []verb, rules func(*verb) []rule) {
		for i := range verbs {
			for _, x := range rules(&verbs[i]) {
				x.action = verbs[i].action
				x.re = compile(strings.ReplaceAll(x.pattern, "VERB", anyOf(x.words(&verbs[i]))))
				list = append(list, x)
			}
		}
	}
	all := func(v *verb) []rule { return v.rules }
	add(pageVerbs, all)
	add(elementVerbs, (*verb).insideRules)
	add(elementVerbs, all)
	slices.SortStableFunc(list, func(a, b rule) int { return a.rank() - b.rank() })
	return list
}()

func (x rule) rank() (rank int) {
	if x.english {
		rank = 2
	}
	if x.late {
		rank++
	}
	return rank
}

// insideRules are the sentences that name a place before the verb.
func (v *verb) insideRules() (list []rule) {
	if v.inside.zh != "" {
		first, _, _ := strings.Cut(v.inside.zh, ", ")
		list = append(list, zh("在 … 中"+first+" …", `在\s*(?P<w>.+?)\s*(?:里面|当中|中|里|内|上)?\s*[，,]?\s*`+anyOf(v.inside.zh)+`\s*(?P<t>.+)`))
	}
	if v.inside.en != "" {
		first, _, _ := strings.Cut(v.inside.en, ", ")
		list = append(list, en(first+" …", `(?:in|on|for|under|within|inside)\s+(?P<w>(?:the\s+)?\S.*?),?\s+`+anyOf(v.inside.en)+`\s+(?P<t>.+)`))
	}
	return list
}

// starts is how operations begin, for cutting compound lines.
var starts = regexp.MustCompile(`(?i)^(?:请|先|在.+?(?:输入|填写|填入|录入|键入|选择|上传|点击|单击|双击|勾选)|` +
	`[^\x{f000}-\x{f0ff}]{1,60}?(?:输入|填写|填入|填上?|写上|录入|选择|选中)\s*[\x{f000}-\x{f0ff}]|[^\x{f000}-\x{f0ff}，,]{1,30}?(?:设置为|设为|改为|改成|换成)|` +
	`(?:将|把).+?都?(?:勾选|勾上|选中)|` + zhPicks + `.|` +
	`从.+?(?:选择|选中|选取|挑选)|关闭.*开关|应|期望|预期|验证|检查|断言|看到|确认(?:出现|显示|页面)|出现|显示|` +
	anyOf(wordsOf(zhWords)) + `|` +
	`(?:please|expect|verify|assert|ensure|see|should|` + anyOf(wordsOf(enWords)) + `)\b)`)

// verbAlone is a verb without its object.
var verbAlone = regexp.MustCompile(`(?i)^` + anyOf(wordsOf(func(v *verb) string {
	if v.alone || v.zh == "" {
		return ""
	}
	return v.zh + ", " + v.en
})) + `$`)

// goesTo begins like a sentence that opens a page.
var goesTo = regexp.MustCompile(`^` + anyOf(Navigate.verb().zh, Navigate.verb().en))
