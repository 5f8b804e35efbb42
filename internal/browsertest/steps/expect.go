package steps

import (
	"regexp"
	"strconv"
	"strings"
)

// asserts is how sentences begin that expect something, or what they hold.
var asserts = regexp.MustCompile(`(?i)^(?:应|期望|预期|验证|检查|断言|看到|能看到|可以看到|确认(?:页面)?(?:出现|显示|包含|看到)|页面(?:应|显示|包含|出现|标题|地址|网址|上?有` +
	`|(?:自动)?跳转)|出现|显示|不应|不显示|不出现|(?:提示|弹出)\s*(?:错误|成功|警告|失败)?(?:提示|消息|信息|文字)?\s*[:：]?\s*[\x{f000}-\x{f07f}]|(?:expect|verify` +
	`|assert|ensure|see|should|check that|check whether|check if|make sure|confirm that)\b)|\s(?:should|must)\s|.(?:应该|应当|应为|应是` +
	`|应显示|应出现|应可见|应不|不应|应被|应包含|应禁用|应启用)`)

// lead is what stands before the expectation itself.
var lead = regexp.MustCompile(`(?i)^(?:(?:期望|预期|验证|检查|断言|确认)(?:一下|结果|页面(?:上|中))?(?:是否|有没有)?\s*(?:[:：]|为[:：])?\s*|(?:(?:expect` +
	`|verify|assert|ensure|check|confirm|make sure)(?:\s+(?:that|whether|if))?\s+))`)

// form is one way to say an expectation. Its groups: t the element, v a text, n a number.
type form struct {
	kind  Kind
	match Match
	re    *regexp.Regexp
}

func f(kind Kind, match Match, pattern string) form { return form{kind, match, compile(pattern)} }

const (
	should   = `(?:应该|应当|应|会|能)?(?:已经|已)?`
	isIn     = `(?:变为|变成|变得|被|是|为|处于)?`
	zhEquals = `(?:应该|应当|应|会)?(?:变为|变成|等于|为|是|[:：=])`
	zhHas    = `(?:应该|应当|应|会)?(?:包含|含有|包括)`
	zhSees   = `(?:应该|应当|应|会|能|可以)*(?:看到|见到|显示|出现|提示|弹出|包含|含有|展示|有)(?:了)?(?:错误|成功|警告|失败)?(?:文字|文本|内容|提示|消息|信息)?[:：]?`
	zhNot    = `(?:不应该?|不应当|不会|不能|不再|不|没有|未)(?:看到|见到|显示|出现|提示|包含|含有|展示|有)?(?:错误|成功|警告|失败)?(?:文字|文本|内容|提示|消息|信息)?[:：]?`
	zhNoun   = `\s*(?:的)?(?:提示|字样|消息|文字|信息|文案|文本)?` // what a quoted text is
	zhURL    = `(?:当前)?(?:页面|网页)?的?(?:网址|地址|url|链接)\s*`
	enURL    = `(?:the\s+)?(?:page\s+)?(?:url|address)\s+`
	enBe     = `(?:is|are|should be|to be)`
	enIs     = `(?:is|are|should be|must be|to be|equals|should equal|becomes)`
	enHas    = `(?:contains?|should contain|must contain|to contain|includes?|should include)`
	enMatch  = `(?:matches|should match|to match)`
)

// forms are tried in order: what is more special comes first.
var forms = []form{
	f(Title, Contains, `(?:页面|网页)?的?标题\s*`+zhHas+`\s*(?P<v>.+)`),
	f(Title, Equals, `(?:页面|网页)?的?标题\s*`+zhEquals+`\s*(?P<v>.+)`),
	f(URL, Contains, zhURL+zhHas+`\s*(?P<v>.+)`),
	f(URL, Matches, zhURL+`(?:应)?(?:匹配|符合)\s*(?P<v>.+)`),
	f(URL, Contains, `(?:页面|网页)?(?:应该?|会)?(?:自动)?(?:跳转|重定向|回到|进入)(?:到|至)?\s*(?P<u>\S+)`),
	f(URL, Equals, zhURL+zhEquals+`\s*(?P<v>.+)`),
	f(Value, Equals, `(?P<t>.+?)\s*(?:的值|的内容)?\s*(?:应该?)?(?:为|是)空(?:的|值)?`),
	f(Value, Contains, `(?P<t>.+?)\s*的值\s*`+zhHas+`\s*(?P<v>.+)`),
	f(Value, Equals, `(?P<t>.+?)\s*的值\s*`+zhEquals+`\s*(?P<v>.+)`),
	f(Count, Equals, `(?P<t>.+?)\s*的?(?:数量|个数)\s*`+zhEquals+`\s*(?P<n>\d+)\s*[个条行项]?`),
	f(Count, Equals, `(?:表格|列表|页面)(?:中|里|内|上)?(?:应该?)?(?:有|共有|共|显示)\s*(?P<n>\d+)\s*(?P<t>[行条项])(?:数据|记录|内容|结果)?`),
	f(Count, Equals, `(?:页面上?|共|总共)?(?:应该?)?(?:有且仅有|只有|仅有|有|共有|显示|出现)\s*(?P<n>\d+)\s*[个条行项张]\s*(?P<t>.+)`),
	f(Count, Equals, `(?P<t>.+?)\s*(?:应该?)?(?:共|有|共有)\s*(?P<n>\d+)\s*[个条行项张]`),
	f(Text, Contains, `(?P<t>.+?)\s*的?(?:文本|文字|内容)\s*`+zhHas+`\s*(?P<v>.+)`),
	f(Text, Equals, `(?P<t>.+?)\s*的?(?:文本|文字|内容)\s*`+zhEquals+`\s*(?P<v>.+)`),
	f(Unchecked, "", `(?P<t>.+?)\s*`+`(?:应该?|会)?(?:未|没有|没|不)(?:应该?)?(?:被)?(?:勾选|选中)`),
	f(Checked, "", `(?P<t>.+?)\s*`+should+isIn+`(?:勾选|选中)(?:状态|的)?`),
	f(Disabled, "", `(?P<t>.+?)\s*`+should+isIn+`(?:禁用|不可用|不可点击|不能点击|置灰|不可编辑)(?:状态|的)?`),
	f(Enabled, "", `(?P<t>.+?)\s*`+should+isIn+`(?:启用|可用|可点击|可编辑)(?:状态|的)?`),
	f(NoText, Contains, `(?:页面(?:上|中)?)?`+zhNot+`\s*(?P<v>MARK)`+zhNoun),
	f(Hidden, "", `(?P<t>.+?)\s*(?:应该?|会)?(?:不可见|不显示|不出现|不存在|消失|隐藏|不再显示|被隐藏|已消失|已关闭)(?:了)?`),
	f(Text, Contains, `(?:页面(?:上|中)?)?`+zhSees+`\s*(?P<v>MARK)`+zhNoun),
	f(Text, Contains, `(?P<v>MARK)\s*`+should+`(?:可见|显示|出现|存在)(?:了)?`),
	f(Visible, "", `(?P<t>.+?)\s*`+should+`(?:可见|显示|出现|存在|弹出)(?:了|出来)?`),
	f(Text, Contains, `(?P<t>[^\x{f000}-\x{f0ff}]+?)\s*`+zhSees+`\s*(?P<v>MARK)`),
	f(Visible, "", `(?:页面(?:上|中)?)?(?:应该|应|会|能)*(?:看到|显示|出现|存在)\s*(?P<t>\p{Han}.+)`),

	f(Title, Contains, `(?:the\s+)?(?:page\s+)?title\s+`+enHas+`\s+(?P<v>.+)`),
	f(Title, Equals, `(?:the\s+)?(?:page\s+)?title\s+`+enIs+`\s+(?P<v>.+)`),
	f(URL, Contains, enURL+enHas+`\s+(?P<v>.+)`),
	f(URL, Matches, enURL+enMatch+`\s+(?P<v>.+)`),
	f(URL, Contains, `(?:(?:the\s+page\s+|I\s+am\s+|the\s+user\s+is\s+)?(?:is\s+|be\s+|should\s+be\s+)?redirect(?:ed|s)\s+to`+
		`|(?:the\s+page\s+)?(?:goes|navigates)\s+to)\s+(?P<u>\S+)`),
	f(Title, Equals, `(?:the\s+)?(?:page\s+)?title\s+(?P<v>MARK)`),
	f(URL, Equals, `(?:the\s+)?(?:page\s+)?url\s+(?P<v>MARK)`),
	f(URL, Equals, enURL+enIs+`\s+(?P<v>.+)`),
	f(Value, Contains, `(?:the\s+)?value\s+of\s+(?P<t>.+?)\s+`+enHas+`\s+(?P<v>.+)`),
	f(Value, Equals, `(?:the\s+)?value\s+of\s+(?P<t>.+?)\s+`+enIs+`\s+(?P<v>.+)`),
	f(Value, Equals, `(?P<t>.+?)\s+`+enBe+`\s+(?:empty|blank)`),
	f(Value, Equals, `(?P<t>.+?)\s+(?:has|should have|to have)\s+(?:the\s+)?value\s+(?P<v>.+)`),
	f(Text, Contains, `(?:the\s+)?text\s+of\s+(?P<t>.+?)\s+`+enHas+`\s+(?P<v>.+)`),
	f(Text, Equals, `(?:the\s+)?text\s+of\s+(?P<t>.+?)\s+`+enIs+`\s+(?P<v>.+)`),
	f(Count, Equals, `(?:the\s+)?(?:count|number)\s+of\s+(?P<t>.+?)\s+`+enIs+`\s+(?P<n>\d+)`),
	f(Count, Equals, `there\s+(?:is|are|should be|must be)\s+(?:exactly\s+)?(?P<n>\d+)\s+(?P<t>.+)`),
	f(Count, Equals, `(?:the\s+)?(?:table|list|page)\s+(?:has|(?:should|must|to)\s+have|shows?|(?:should|must)\s+show|contains?`+
		`|(?:should|must|to)\s+contain)\s+(?:exactly\s+)?(?P<n>\d+)\s+(?P<t>rows?|records?|items?|entries)`),
	f(Count, Equals, `(?P<n>\d+)\s+(?P<t>.+?)\s+(?:is|are|should be)\s+(?:visible|shown|displayed|present|listed)`),
	f(Unchecked, "", `(?P<t>.+?)\s+`+enBe+`\s+(?:unchecked|not checked|not selected|unticked)|(?P<t>.+?)\s+should not be (?:checked`+
		`|selected)`),
	f(Checked, "", `(?P<t>.+?)\s+`+enBe+`\s+(?:checked|selected|ticked)`),
	f(Disabled, "", `(?P<t>.+?)\s+`+enBe+`\s+(?:disabled|not enabled)`),
	f(Enabled, "", `(?P<t>.+?)\s+`+enBe+`\s+(?:enabled|not disabled)`),
	f(NoText, Contains, `(?:should\s+)?(?:not\s+see|do not see|don't see|not|no)\s+(?:the\s+)?(?:text\s+)?(?P<v>MARK)`),
	f(NoText, Contains, `(?:the\s+)?(?:text\s+)?(?P<v>MARK)\s+`+enBe+`?\s*(?:hidden|gone|not visible|not shown|disappears?`+
		`|does not appear|should not (?:appear|be visible|exist|be shown))`),
	f(Hidden, "", `(?P<t>.+?)\s+(?:`+enBe+`\s+(?:hidden|gone|not visible|not shown|not displayed|closed)|disappears?|closes`+
		`|goes away|does not (?:appear|exist)|should (?:disappear|close|not appear|not exist|not be visible|not be shown))`),
	f(Text, Contains, `(?:(?:should\s+)?(?:to\s+)?see|shows?|display|the page shows|the page contains)?\s*(?:the\s+`+
		`|an?\s+)?(?:(?:error|success|warning|validation)\s+)?(?:text\s+|message\s+|notification\s+|toast\s+`+
		`|alert\s+)?(?P<v>MARK)(?:\s+`+enBe+`\s+(?:visible|shown|displayed|present)|\s+(?:should\s+)?appears?|\s+exists)?`),
	f(Visible, "", `(?P<t>.+?)\s+(?:`+enBe+`\s+(?:visible|shown|displayed|present|open)|(?:should\s+)?(?:appears?|exists?)|shows up)`),
	f(Text, Contains, `(?P<t>.+?)\s+(?:contains?|should contain|to contain|has text|shows?|should show|says?|should say)\s+(?P<v>.+)`),
	f(Count, Equals, `(?:exactly\s+)?(?P<n>\d+)\s+(?P<t>[a-z].*)`),
	f(Visible, "", `(?:should\s+)?see\s+(?P<t>.+)`),
}

// expectation reads one expectation; false for what is none.
func (m masked) expectation(text string) (Expectation, bool) {
	bare := trim(lead.ReplaceAllString(text, ""))
	for i := range forms {
		if e, ok := forms[i].read(m, bare); ok {
			e.Text = m.written(text)
			return e, true
		}
	}
	return Expectation{}, false
}

// waits is what stands before something that is waited for.
var waits = regexp.MustCompile(`(?i)^(?:wait\s+(?:for|until)\s+|等(?:待|到)?(?:直到)?\s*)`)

// waitedState reads a wait for a state, such as enabled, as an expectation.
func (m masked) waitedState(text string) (Expectation, bool) {
	rest := waits.ReplaceAllString(text, "")
	if rest == text || rest != "" && rest[0] >= '0' && rest[0] <= '9' { // a time
		return Expectation{}, false
	}
	e, ok := m.expectation(rest)
	switch e.Kind {
	case Enabled, Disabled, Checked, Unchecked, Count, Title:
		e.Text = m.written(text)
		return e, ok
	}
	return e, false
}

func (x *form) read(m masked, text string) (Expectation, bool) {
	groups := x.re.FindStringSubmatch(text)
	if groups == nil {
		return Expectation{}, false
	}
	e := Expectation{Kind: x.kind, Match: x.match}
	for i, name := range x.re.SubexpNames() {
		switch {
		case groups[i] == "":
		case name == "t":
			t := trimSubject(groups[i])
			e.Target = &Target{Text: m.written(t)}
			if t == "" {
				return e, false
			}
		case name == "v", name == "u":
			e.Value = m.value(groups[i])
			if name == "u" && !isAddress(e.Value) {
				return e, false
			}
		case name == "n":
			e.Count, _ = strconv.Atoi(groups[i])
		}
	}
	needsTarget := x.kind != Text && x.kind != NoText && x.kind != URL && x.kind != Title
	return e, e.Target != nil || !needsTarget
}

// trimSubject takes off what belongs to the sentence rather than to the name.
func trimSubject(s string) string {
	s = strings.TrimSpace(s)
	for _, end := range []string{"是否", "应该为", "应为", "应是", "应该", "应当", "应", "会"} {
		s = strings.TrimSpace(strings.TrimSuffix(s, end))
	}
	return strings.TrimPrefix(strings.TrimPrefix(s, "the "), "The ")
}
