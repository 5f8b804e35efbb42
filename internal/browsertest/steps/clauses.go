package steps

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// span is a part of a line. Verb is what was said before and holds for it, too.
type span struct {
	from, to int
	verb     string
	then     bool // the separator before it says that it is another clause
}

// steps reads the operations of a line.
func (m masked) steps(text string, offset int) (list []Step, err error) {
	if asks.MatchString(text) {
		text = strings.TrimRight(text, " ?？")
	}
	text, found := cutFound(text)
	for _, p := range operations(text) {
		step, err := m.operation(p.verb+text[p.from:p.to], offset+p.from)
		if err != nil && p.then && len(list) > 0 && list[len(list)-1].Action == Click && !noName.MatchString(text[p.from:p.to]) {
			step, err = m.operation("click "+text[p.from:p.to], offset+p.from) // click File, then Open recent
		}
		if err != nil {
			return nil, err
		}
		step.Text = m.written(text[p.from:p.to])
		if list, err = m.refer(list, step, found, offset+p.from); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// operations cuts a compound line where a verb follows a separator, or what can do without one.
func operations(text string) (all []span) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	list := []span{{from: len(text) - len(unfilled(text)), to: len(text)}}
	for _, at := range seps.FindAllStringIndex(text, -1) {
		last := &list[len(list)-1]
		if at[0] <= last.from || at[1] >= len(text) || last.verb == "" && !startsWithVerb(text[last.from:at[0]]) {
			continue
		}
		next := span{from: at[1], to: len(text), then: thenWord.MatchString(text[at[0]:at[1]])}
		if !joins(text, at) || !startsWithVerb(text[at[1]:]) {
			next = elided(text, last.from, at)
		}
		if next.to > 0 {
			last.to = min(last.to, at[0])
			list = append(list, next)
		}
	}
	for _, p := range list {
		all = append(all, carriedOn(text, p)...)
	}
	return all
}

// joins tells whether a separator may separate operations: "Save and close" is one name.
func joins(text string, at []int) bool {
	before := strings.TrimSpace(text[:at[0]])
	switch strings.TrimSpace(text[at[0]:at[1]]) {
	case "后", "之后", "以后":
		r, _ := utf8.DecodeLastRuneInString(before)
		return r >= firstMark && r <= lastMark
	case "and":
		rest := trim(text[at[1]:])
		return strings.Contains(rest, " ") && (!mayBeName.MatchString(rest) || endsName.MatchString(before)) || aloneVerb.MatchString(rest)
	}
	return true
}

var (
	// mayBeName begins with a verb that labels have behind "and", too, without saying of what: Save and mark as read.
	mayBeName = regexp.MustCompile(`(?i)^(?:mark|unmark|enable|disable|deselect|put|write|key\s+in|increase|decrease|raise` +
		`|lower|empty|erase` +
		`|adjust|slide|give|provide|insert|paste|copy|make|push|expand|unfold|collapse|fold)\s+(?:[^t\x{f000}-\x{f0ff}]|t[^h]|th[^e]|the\S)`)
	// endsName is what no label goes on behind.
	endsName = regexp.MustCompile(`(?i)(?:[\x{f000}-\x{f0ff}]|\s(?:button|link|field|(?:text|check|combo|list)?box|input` +
		`|text\s?area|dropdown` +
		`|list|menu|tab|section|slider|icon|switch|toggle))$`)
	// aloneVerb is an operation of one word.
	aloneVerb = regexp.MustCompile(`(?i)^(?:reload|refresh|screenshot)$`)
)

const buttonVerbs = `submit|save(?:\s+changes)?|log\s?in|sign\s?in|search|continue|send|apply|提交|保存|登录|搜索|查询|发送`

var (
	// buttonWords are what buttons do and are called by, where they end a line: fill in Name with "Ann", then submit.
	buttonWords = regexp.MustCompile(`(?i)^(?:then\s+|finally\s+|最后)?(` + buttonVerbs + `)(\s*(?:it|the\s+(?:form|changes` +
		`|answers?)|表单|一下))?\s*(?:[.。!！，,；;]|$)`)
	thenWord = regexp.MustCompile(`(?i)then|然后|接着|随后|再|最后`)
	// carries is a verb that goes on behind "then": click File, then Recent.
	carries = regexp.MustCompile(`(?i)^(?:(?:click|tap|select|choose|pick|check|tick|uncheck|untick|expand` +
		`|collapse)(?:\s+on)?\s|点击|单击|勾选|选择|展开)`)
	// number ends in a value that does not go on with "and".
	number = regexp.MustCompile(`(?i)^(?:set|type|enter|fill|change|make)\s.*\s-?\d[\d.]*%?$`)
	// noName is a clause rather than a name.
	noName = regexp.MustCompile(`(?i)\b(?:is|are|was|be|should|must|not|no|nothing|stop|if` +
		`|or|appears?|shows?|see|opens|closes)\b|[不未应会有是]|出现|显示`)
	name = regexp.MustCompile(`^(?:the\s+)?\S+(?:\s+\S+){0,3}$`)
)

// elided is the clause behind a separator that has no verb of its own; with no end for none. Last is where the
// one before it begins.
func elided(text string, last int, at []int) span {
	before := trim(text[last:at[0]])
	after := text[at[1]:]
	sep := text[at[0]:at[1]]
	isThen := thenWord.MatchString(sep) || strings.HasPrefix(after, "最后")
	if verbAlone.MatchString(before) {
		return span{}
	}
	w := buttonWords.FindStringSubmatchIndex(after)
	if w != nil && strings.TrimSpace(after[w[1]:]) != "" && !startsWithVerb(after[w[1]:]) {
		return span{} // no word may get lost
	}
	if w != nil && (isThen || w[4] >= 0 || endsName.MatchString(before) || number.MatchString(before)) {
		return span{from: at[1] + w[2], to: at[1] + w[3], verb: "click "}
	}
	end := len(after)
	if next := seps.FindStringIndex(after); next != nil && next[0] > 0 {
		end = next[0]
	}
	verb := carries.FindString(before)
	clause := trim(after[:end])
	isName := name.MatchString(clause) && !noName.MatchString(clause) && !startsWithVerb(clause)
	if verb == "" || !isThen || !isName || !strings.ContainsAny(sep, " ,，") {
		return span{}
	}
	return span{from: at[1], to: len(text), verb: verb}
}

var (
	fillVerb = regexp.MustCompile(`(?i)^\s*(输入|填写|填入|录入|(?:enter|type|input|write|put|fill(?:\s+in|\s+out)?)\s)` +
		`(?:表单\s*[:：]|\s*the\s+form\s*:\s*)?`)
	fillPart = compile(`\s*(?:the\s+)?(?:[^\x{f000}-\x{f0ff}，,；;、]{1,40}?|QUOTED\s*(?:为|是|[:：=]|with\s))\s*(?:为|是|[:：=]|with)?\s*MARK\s*` +
		`|\s*MARK\s+(?:for|as|in|into)\s+[^\x{f000}-\x{f0ff}，,；;、]{1,40}`)
	// inFields says no more than that fields are filled in.
	inFields = regexp.MustCompile(`(?i)\s+(?:in|into)\s+(?:(?:the|their)\s+)?(?:(?:text|input|form|corresponding` +
		`|respective|appropriate|matching|given)\s+)*` +
		`(?:fields|(?:text)?boxes|inputs|form)\s*$`)
	together = regexp.MustCompile(`\s*(?:，|,|、)\s*(?:and\s+)?|\s*(?:和|以及|及)\s*|\sand\s`)
)

// carried are verbs that hold for several parts of a line, and what every such part is like.
var carried = []struct{ verb, part *regexp.Regexp }{
	{fillVerb, fillPart},
	{regexp.MustCompile(`(?i)^\s*((?:set|change|update)\s)`), compile(`\s*(?:the\s+[^\x{f000}-\x{f0ff}，,]{1,40}?\s+to\s+(?:MARK|\S+)` +
		`|[^\x{f000}-\x{f0ff}，,]{1,40}?\s+to\s+MARK)\s*`)},
	{regexp.MustCompile(`(?i)^\s*((?:select|choose|pick)\s)`), compile(`\s*(?:\S+\s+from\s+the\s+[^\x{f000}-\x{f0ff}，,]+` +
		`|MARK\s+(?:from|in|for|as)\s+[^\x{f000}-\x{f0ff}，,]+)\s*`)},
	{regexp.MustCompile(`(?i)^\s*((?:turn|switch)\s)`), compile(`\s*\S.*?\s+(?:on|off)\s*`)},
}

// carriedOn cuts what one verb says of several fields: 输入用户名"a"和密码"b".
func carriedOn(text string, p span) []span {
	for _, c := range carried {
		p.from += len(text[p.from:p.to]) - len(unfilled(text[p.from:p.to]))
		verb := c.verb.FindStringSubmatchIndex(text[p.from:p.to])
		if verb == nil || p.verb != "" {
			continue
		}
		start := p.from + verb[1]
		end := p.to
		if at := inFields.FindStringIndex(text[start:end]); at != nil {
			end = start + at[0]
		}
		list := []span{{from: start, to: end, verb: text[p.from+verb[2] : p.from+verb[3]]}}
		if verb[1] > verb[3] { // fill in the form: …
			list[0].verb = "enter "
		}
		for _, at := range together.FindAllStringIndex(text[start:end], -1) {
			list[len(list)-1].to = start + at[0]
			list = append(list, span{from: start + at[1], to: end, verb: list[0].verb})
		}
		isPart := true
		for _, q := range list {
			isPart = isPart && c.part.MatchString(text[q.from:q.to])
		}
		if isPart {
			return list
		}
	}
	return []span{p}
}
