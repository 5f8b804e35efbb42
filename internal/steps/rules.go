package steps

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is one form of a sentence. Its groups say what each part is: t the element, t2 where
// it is dragged to, w what holds it, v a value, q a quoted value, u an address, k a key, n a number.
type rule struct {
	action Action
	form   string // shown to those who came near it
	re     *regexp.Regexp
	set    func(*Step)
}

// compile reads a pattern in which QUOTED stands for a quoted part, SEVERAL for two
// or more of them, MARK for one or a variable, and KEYS for the name of a key.
func compile(pattern string) *regexp.Regexp {
	pattern = strings.ReplaceAll(pattern, "KEYS", keyPattern)
	pattern = strings.ReplaceAll(pattern, "SEVERAL", `QUOTED(?:\s*(?:,|，|、|和|及|与|and|&)\s*(?:and\s+)?QUOTED)+`)
	pattern = strings.ReplaceAll(pattern, "QUOTED", `[\x{f000}-\x{f07f}]`)
	pattern = strings.ReplaceAll(pattern, "MARK", `[\x{f000}-\x{f0ff}]`)
	return regexp.MustCompile(`(?is)^(?:` + pattern + `)$`)
}

// rules are tried in order: what is more special comes first.
var rules = slices.Concat(rulesZh(), rulesEn())

func r(action Action, form, pattern string, set ...func(*Step)) rule {
	x := rule{action: action, form: form, re: compile(pattern)}
	if len(set) > 0 {
		x.set = set[0]
	}
	return x
}

// read reads a sentence by the rule.
func (x *rule) read(m masked, text string) (Step, bool) {
	groups := x.re.FindStringSubmatch(text)
	if groups == nil {
		return Step{}, false
	}
	step := Step{Action: x.action}
	for i, name := range x.re.SubexpNames() {
		if name != "" && groups[i] != "" && !step.take(m, name, groups[i]) {
			return Step{}, false
		}
	}
	if x.set != nil {
		x.set(&step)
	}
	if (step.Action == Select || step.Action == Upload) && step.Value != "" {
		step.Values, step.Value = []string{step.Value}, ""
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
		return !fillsIn.MatchString(text)
	case "v":
		s.Value = m.value(text)
		return !quotedAmongWords(text) && !manyValues.MatchString(text)
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
		if k := ordinalNumber(strings.ReplaceAll(text, "两", "二")); err != nil && k > 0 {
			n, err = float64(k), nil
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
		n := ordinalNumber(strings.TrimSpace(text))
		s.Tab = &Tab{Select: n}
		return n > 0
	case "title":
		s.Tab = &Tab{Title: m.value(text)}
	}
	return true
}

// fillsIn is a place that is none, but an operation of its own: 在搜索框输入点击率. A place may
// begin with such a verb: 在选择日期弹窗中点击确定.
var fillsIn = regexp.MustCompile(`.(?:输入|填写|填入|录入|键入|选择)(?:[^框]|$)`)

// wholePage is a place that everything stands in.
var wholePage = compile(`(?:当前|本|该|这个)?(?:页面|网页|界面)|(?:the|this)\s+page`)

// manyValues is a value without quotes that goes on with another field and its value.
var manyValues = regexp.MustCompile(`[，,；;、].*[:：=为]|(?i)\s(?:and|,)\s.*\s(?:with|to|as)\s`)

// quotedAmongWords tells whether a value has words beside a quoted part: then the quotes are
// the value, and the words are something that was not understood.
func quotedAmongWords(text string) bool {
	quoted, words := false, false
	for _, r := range text {
		switch {
		case r >= firstMark && r < halfMark:
			quoted = true
		case r != ' ':
			words = true
		}
	}
	return quoted && words
}

// complete tells whether the step has what its action needs.
func (s *Step) complete() bool {
	switch s.Action {
	case Click, DblClick, RightClick, Clear, Check, Uncheck, Hover:
		return s.Target != nil
	case Fill, Type:
		return s.Target != nil
	case Select:
		return s.Target != nil && len(s.Values) > 0
	case Drag:
		return s.Target != nil && s.To != nil
	case Navigate:
		return s.Value != ""
	}
	return true
}

// isAddress tells an address from words: with a scheme, a path, a variable, or a host name.
func isAddress(s string) bool {
	switch {
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "${"), strings.HasPrefix(s, "about:"), strings.Contains(s, "://"), strings.HasPrefix(s, "?"), strings.HasPrefix(s, "#"):
		return !strings.ContainsAny(s, " \t")
	}
	return hostName.MatchString(s)
}

var hostName = regexp.MustCompile(`^(?:localhost|[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}|\d+\.\d+\.\d+\.\d+)(?::\d+)?(?:[/?#]\S*)?$`)

// verbs are how operations begin, for cutting compound lines.
var verbs = regexp.MustCompile(`(?i)^(?:请|先|在.+?(?:输入|填写|填入|录入|键入|选择|上传|点击|单击|双击|勾选)|设置|将|把|往|给|输入|填写|[^\x{f000}-\x{f0ff}]{1,60}?(?:输入|填写|填入|填上|录入|选择|选中)\s*[\x{f000}-\x{f0ff}]|[^\x{f000}-\x{f0ff}，,]{1,30}?(?:设置为|设为|改为|改成)|回车|填入|录入|键入|清空|清除|点击|单击|点选|点按|按下|按|点|依次点击|分别点击|双击|右键|右击|选择|选中|从.+?选择|勾选|取消勾选|不勾选|悬停|移到|移动到|鼠标|敲|勾上|开启|关闭.*开关|拖|滑动|向下滑动|向上滑动|休眠|暂停|重新加载|打开|访问|进入|跳转到|跳转至|导航到|前往|浏览|返回|后退|刷新|等待|等|滚动|向下滚动|向上滚动|切换到|关闭标签|关闭当前|接受|拒绝|上传|拖动|拖拽|截图|截屏|应|期望|预期|验证|检查|断言|看到|确认(?:出现|显示|页面)|出现|显示|` +
	`(?:please|click|tap|double|right|type|enter|input|fill|set|clear|select|choose|pick|check|tick|uncheck|untick|hover|move|press|hit|open|go|navigate|visit|browse|back|reload|refresh|wait|scroll|switch|close|new tab|accept|dismiss|cancel the|confirm the|in .+?(?:click|tap|check)|upload|drag|take|turn|change|update|attach|screenshot|expect|verify|assert|ensure|see|should)\b)`)

// verbReach is how far into a text its verb is looked for, in bytes. Quoted parts are one
// character each, so what stands before a verb is short. A line with a thousand commas is
// looked at after each of them.
const verbReach = 400

func startsWithVerb(s string) bool {
	s = trim(s[:min(len(s), verbReach)])
	return verbs.MatchString(s) || asserts.MatchString(s)
}

// nearestForm is the form of the rule whose verb the text begins with.
func nearestForm(text string) string {
	text = strings.ToLower(text)
	if goesTo.MatchString(text) {
		return `打开 https://… 或 /路径; for a menu: 点击 …`
	}
	best, length := "", 0
	for i := range rules {
		verb := verbOf(rules[i].form)
		if verb != "" && len(verb) > length && strings.Contains(text, verb) {
			best, length = rules[i].form, len(verb)
		}
	}
	return best
}

var goesTo = regexp.MustCompile(`^(?:打开|访问|进入|跳转到|前往|浏览|open|go to|navigate to|visit)`)

// verbAlone is a verb without anything that it could be done to.
var verbAlone = regexp.MustCompile(`(?i)^(?:点击|单击|双击|点选|右键|按下|输入|填写|选择|选中|勾选|清空|打开|访问|悬停|等待|上传|拖动|click(?: on)?|tap|type|enter|fill(?: in)?|select|check|clear|open|hover(?: over)?|wait|upload|drag)$`)

// unclear is what looks like a step and says too little or too much to be one: when a page is
// loaded only what is on it tells, and a key is pressed once.
var unclear = compile(`等(?:待|到)?\s*(?:页面|网页|页面内容|数据)?\s*(?:加载|刷新|跳转|渲染)?\s*(?:完成|完毕|成功|结束)?|wait\s+(?:for|until)\s+(?:the\s+)?page(?:\s+(?:to\s+)?(?:fully\s+)?(?:loads?|is loaded|be loaded|has loaded|is ready|finishes loading))?|(?:press|hit)\s+(?:the\s+)?KEYS(?:\s+key)?\s+(?:twice|thrice|\d+\s+times|three times)|(?:press|hit)\s+(?:the\s+)?KEYS(?:\s+key)?\s*(?:,|and|then)\s.+|(?:click|tap)\s+.+\s(?:twice|thrice|(?:\d+|two|three|four|five)\s+times)|(?:点击|单击)\s*.+[\d二两三四五六七八九十]\s*[次下]|check\s+.+\s(?:is|are|equals)\s+MARK|按下?\s*(?:KEYS\s*键?\s*[\d一二两三四五]+\s*[次下]|[\d一二两三四五]+\s*[次下]\s*KEYS\s*键?)`)

var formVerb = regexp.MustCompile(`[\p{Han}]{2,}|[a-z]{3,}`)

func verbOf(form string) string {
	if strings.HasPrefix(form, "在") {
		_, after, _ := strings.Cut(form, " … ")
		form = after
	}
	return formVerb.FindString(form)
}

// keys are the names that the browser knows; the rest are those that people say.
var keys = map[string]string{
	"回车": "Enter", "回车键": "Enter", "确认键": "Enter", "enter": "Enter", "return": "Enter",
	"退格": "Backspace", "退格键": "Backspace", "backspace": "Backspace",
	"空格": "Space", "空格键": "Space", "space": "Space", "spacebar": "Space",
	"制表": "Tab", "制表键": "Tab", "tab": "Tab", "tab键": "Tab",
	"esc": "Escape", "escape": "Escape", "退出键": "Escape", "取消键": "Escape",
	"删除键": "Delete", "delete": "Delete", "del": "Delete", "insert": "Insert",
	"上": "ArrowUp", "up": "ArrowUp", "arrowup": "ArrowUp", "arrow up": "ArrowUp",
	"下": "ArrowDown", "down": "ArrowDown", "arrowdown": "ArrowDown", "arrow down": "ArrowDown",
	"左": "ArrowLeft", "left": "ArrowLeft", "arrowleft": "ArrowLeft", "arrow left": "ArrowLeft",
	"右": "ArrowRight", "right": "ArrowRight", "arrowright": "ArrowRight", "arrow right": "ArrowRight",
	"home": "Home", "end": "End", "pageup": "PageUp", "page up": "PageUp", "pagedown": "PageDown", "page down": "PageDown",
}

var modifiers = map[string]string{"ctrl": "Control", "control": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt", "cmd": "Meta", "command": "Meta", "meta": "Meta", "win": "Meta"}

// keyPattern is what may be a key: a name, a combination, F5.
const keyPattern = `(?:(?:ctrl|control|shift|alt|option|cmd|command|meta|win)\s*[+-]\s*)*(?:回车键?|确认键|退格键?|空格键?|制表键?|退出键|取消键|删除键|向?[上下左右](?:箭头键?|方向键|键)|enter|return|backspace|space(?:bar)?|tab|esc(?:ape)?|delete|del|insert|(?:arrow ?)?(?:up|down|left|right)|home|end|page ?(?:up|down)|f\d{1,2}|[a-z0-9])`

// keyName is a key as the browser calls it, after the keys that are held meanwhile.
func keyName(text string) (string, bool) {
	var held []string
	key := strings.TrimSpace(text)
	for {
		at := strings.IndexAny(key, "+-")
		if at < 0 || at == len(key)-1 {
			break
		}
		mod, known := modifiers[strings.ToLower(strings.TrimSpace(key[:at]))]
		if !known {
			break
		}
		held, key = append(held, mod), strings.TrimSpace(key[at+1:])
	}
	lower := strings.ToLower(key)
	if m := arrowKey.FindStringSubmatch(lower); m != nil {
		lower = m[1]
	}
	switch name, known := keys[lower]; {
	case known:
		key = name
	case len(key) == 1:
	case functionKey.MatchString(lower):
		key = strings.ToUpper(key)
	default:
		return "", false
	}
	return strings.Join(append(held, key), "+"), true
}

var arrowKey = regexp.MustCompile(`^向?([上下左右])(?:箭头键?|方向键|键)$`)

var functionKey = regexp.MustCompile(`^f\d{1,2}$`)

var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}

// ordinalNumber reads 2, 二 and second; 0 for anything else.
func ordinalNumber(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < 1000 {
		return n
	}
	if i := slices.Index(ordinals, strings.ToLower(s)); i >= 0 {
		return i + 1
	}
	return 1 + slices.Index([]string{"一", "二", "三", "四", "五", "六", "七", "八", "九"}, s)
}
