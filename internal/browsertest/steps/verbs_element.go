package steps

import (
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
)

// elementVerbs are about one element.
var elementVerbs = []verb{
	{
		action: Uncheck, takes: anElement, command: "uncheck",
		zh: "取消勾选, 不勾选", en: "uncheck, untick, unmark, deselect, disable, turn, switch",
		inside:  inside{zh: "取消勾选"},
		meaning: "a box is clicked only when it is checked",
		rules: []rule{
			zh(`取消勾选 …`, `(?:取消勾选|不勾选|去掉勾选|取消选中)\s*(?P<t>.+)`),
			zh(`取消勾选 …`, `(?:取消|去掉)\s*(?P<t>.+?)\s*的?(?:勾选|选中)`),
			zh(`关闭 … 开关`, `(?:关闭|关掉|停用)\s*(?P<t>.+开关)`),
			en(`uncheck …`, `(?:turn|switch|toggle)\s+(?P<t>.+?)\s+off`),
			en(`uncheck …`, `(?:uncheck|untick|unmark|deselect|disable|turn\s+off|switch\s+off)\s+(?P<t>.+)`),
		},
	},
	{
		action: Check, takes: anElement, command: "check",
		zh: "勾选, 勾上, 开启", en: "check, tick, mark, enable, turn, switch",
		inside:  inside{zh: "勾选", en: "check, tick"},
		meaning: "a box is clicked only when it is not checked",
		rules: []rule{
			zh(`勾选 …`, `(?:勾选|勾上)\s*(?:上)?\s*(?P<t>.+)`),
			zh(`把 … 勾选`, `(?:将|把)\s*(?P<t>.+?)\s*(?:都|全部|全)?(?:勾选|勾上|打勾)(?:上)?`),
			zh(`打开 … 开关`, `(?:打开|开启|启用)\s*(?P<t>.+开关)`),
			en(`check …`, `(?:turn|switch|toggle)\s+(?P<t>.+?)\s+on`),
			en(`check …`, `mark\s+(?P<t>.+?)\s+as\s+(?:checked|ticked|selected)`),
			en(`check …`, `(?:check|tick|mark|enable|turn\s+on|switch\s+on)\s+(?P<t>.+)`),
		},
	},
	{
		action: Expand, takes: anElement, command: "expand",
		zh: "展开, 切到", en: "expand, unfold",
		meaning: "an element is clicked only when it is not expanded",
		rules: []rule{
			zh(`展开 …`, `展开\s*(?P<t>.+)`),
			zh(`打开 … 菜单`, `打开\s*(?P<t>.+(?:菜单|下拉框|下拉列表|折叠面板|面板|选项卡|页签|标签页|日期选择器))`),
			zh(`切换到 … 选项卡`, `(?:切换到|切到|转到)\s*(?P<t>[^\x{f000}-\x{f0ff}]+(?:标签页|选项卡|页签|面板))`),
			en(`expand …`, `(?:click\s+to\s+)?VERB\s+(?P<t>.+)`),
			en(`open the … menu`, `open\s+(?:up\s+)?(?P<t>.+\s`+opened+`|(?:the\s+)?(?:`+opened+`\s+)?QUOTED|(?:the\s+)?`+opened+`\s+.+)`),
			en(`go to the … tab`, `(?:go|switch|move|change)\s+to\s+(?P<t>(?:the\s+)?[^\x{f000}-\x{f0ff}]+\s(?:tab|section|panel))`),
		},
	},
	{
		action: Collapse, takes: anElement, command: "collapse",
		zh: "收起, 折叠", en: "collapse, fold",
		meaning: "an element is clicked only when it is expanded; one that does not say so is refused",
		rules: []rule{
			zh(`收起 …`, `(?:收起|折叠)\s*(?P<t>.+)`),
			en(`collapse …`, `(?:collapse|fold(?:\s+up)?)\s+(?P<t>.+)`),
			en(`close the … section`, `close\s+(?P<t>.+\s(?:section|panel|accordion|menu|submenu))`),
		},
	},
	{
		action: Fill, takes: aTextFor, command: "fill, input, type",
		zh: "输入, 填写, 填入, 录入, 键入, 设置, 将, 把, 往, 给",
		en: "type, enter, input, write, put, key in, fill, fill in, set, change, update, increase, decrease, raise, lower, " +
			"adjust, slide, give, provide, insert, paste, copy, make",
		meaning: "`{target: …, value: …}` replaces what is there, and of a list chooses the option; an empty text clears",
		rules: []rule{
			zh(`在 … 输入 "…"`, `(?:清空|清除)\s*(?P<t>.+?)\s*(?:之?后|再)(?:重新)?(?:输入|填写|填入)\s*(?P<v>MARK)`), // what is filled in replaces what was there
			zh(`在 … 输入 "…"`, `(?:在|往|向|给)\s*(?P<t>.+)(?:`+zhFills+`|写上|写入|填)\s*(?:内容|文本|文字)?\s*(?:[:：]|为)?\s*(?P<v>MARK+)`).sets(atPlace),
			zh(`在 … 输入 "…"`, `(?:在|往|向|给)\s*(?P<t>.+)`+zhFills+`\s*(?:内容|文本|文字)?\s*(?:[:：]|为)?\s*(?P<v>.*)`).sets(atPlace),
			zh(`输入 … 为 "…"`, `(?:输入|填写|填入|录入)\s*(?P<t>[^\x{f000}-\x{f0ff}]+?)\s*(?:为|是|[:：=])\s*(?P<v>.+)`),
			zh(`输入 "…" 到 …`, `(?:输入|填写|填入|录入|键入)\s*(?P<v>.+?)\s*(?:到|至|进|在)\s*(?P<t>.+?)\s*(?:中|里|内|里面)?`),
			zh(`将 … 设置为 "…"`, `(?:将|把)?\s*(?P<t>`+noPress+`.*?)\s*(?:设置为|设置成|设为|改为|改成|换成|修改为|填为|填成|写成)\s*(?P<v>.+)`),
			zh(`将滑块拖到 "…"`, `(?:将|把)?\s*(?P<t>.*滑(?:块|动条|杆))\s*(?:拖到|拖动到|拖至|移到|移动到|滑到|调到|调至)\s*(?P<v>MARK|-?\d[\d.]*)`),
			zh(`将 … 设置为 "…"`, `设置\s*(?P<t>.+?)\s*(?:为|成)\s*(?P<v>.+)`),
			zh(`… 输入 "…"`, `(?P<t>[^\x{f000}-\x{f0ff}]+?)\s*(?:中|里|内|这?一栏|那一栏)?\s*(?:输入|填写|填入|填上?|写上|录入|键入)\s*[:：]?\s*(?P<v>MARK)`),
			zh(`输入 … "…"`, `(?:输入|填写|填入|录入)\s*(?P<t>[^\x{f000}-\x{f0ff}]+?)\s*(?P<v>MARK)`),
			zh(`输入 … "…"`, `(?:输入|填写|填入|录入)\s*(?P<t>\p{Han}+)\s+(?P<v>\S+)`),
			en(`type "…" into …`, enFills+`\s+`+aWord+`(?P<v>MARK+)\s+(?:in\s+as|into|in|to|for|as|on)\s+(?P<t>.+)`),
			en(`in … type "…" into …`, `(?:in|under|for)\s+(?P<w>.+?),?\s+(?:type|enter|input|write`+
				`|put)\s+`+aWord+`(?P<v>MARK)\s+(?:into|in)\s+(?P<t>.+)`),
			en(`in … type "…"`, `(?:in|into|as|for|on)\s+(?P<t>.+?),?\s+(?:type|enter|input|write|put|key\s+in`+
				`|fill\s+in)\s+`+aWord+`(?P<v>MARK)`),
			en(`in … type …`, `(?:in|into|as|for|on)\s+(?:the\s+)?(?P<t>[^\x{f000}-\x{f0ff}]+?),?\s+(?:type|enter|write|put)\s+(?P<v>\S+)`),
			en(`type "…"`, `(?:type|enter|input|write)(?:\s+in)?\s+`+aWord+`(?P<v>MARK)`).sets(intoTheField),
			en(`fill … with "…"`, `fill(?:\s+in|\s+out)?\s+(?P<t>.+?)\s+(?:with|as)\s+(?P<v>.+)`),
			en(`type "…" into …`, `(?:type|enter|input|write|put)\s+`+aWord+`(?P<v>\S+)\s+(?:in\s+as|into|in|as|for)\s+(?P<t>.+)`),
			en(`type "…" into …`, `(?:type|enter|input|write|put)\s+`+aWord+`(?P<v>[^\x{f000}-\x{f0ff}]+?)\s+into\s+(?P<t>.+)`),
			en(`enter … "…"`, `(?:type|enter|input)\s+(?:the\s+|your\s+)?(?P<t>[^:\x{f000}-\x{f0ff}]+?)\s*:?\s*(?P<v>MARK)`),
			en(`enter … "…"`, `(?:type|enter|input)\s+(?:the\s+|your\s+)?(?P<t>[^:\x{f000}-\x{f0ff}]+?):\s*(?P<v>.+)`),
			en(`set … to "…"`, `(?:set|change|update)\s+(?:the\s+value\s+of\s+)?(?P<t>.+?)\s+to\s+(?P<v>.+)`),
			en(`set … to "…"`, `(?:increase|decrease|raise|lower|adjust`+
				`|slide)\s+(?:the\s+value\s+of\s+)?(?P<t>.+?)\s+(?:up\s+|down\s+)?to\s+(?P<v>MARK|-?\d[\d.]*%?)`),
			en(`switch the … to "…"`, `switch\s+(?P<t>the\s+.+?)\s+to\s+(?P<v>.+)`),
			en(`make … "…"`, `make\s+(?P<t>[^\x{f000}-\x{f0ff}]+?)\s+(?P<v>MARK|-?\d[\d.]*)`),
			en(`set the slider to "…"`, `(?:move|drag)\s+(?P<t>.*slider.*?)\s+to\s+(?P<v>MARK|-?\d[\d.]*)`),
		},
	},
	{action: Type, takes: aTextFor, meaning: "like `fill`, key by key, behind what is there"},
	{
		action: Clear, takes: anElement, command: "clear",
		zh: "清空, 清除", en: "clear, empty, erase, delete the text, remove the text",
		meaning: "empties a field",
		rules: []rule{
			zh(`清空 …`, `VERB\s*(?P<t>.+?)\s*(?:的内容|中的内容|的值)?`),
			en(`clear …`, `(?:clear|empty|erase|delete|remove)\s+(?:all\s+)?(?:the\s+)?(?:text|contents?|value)\s+(?:in|of|from|inside)\s+(?P<t>.+)`),
			en(`clear …`, `(?:clear|empty|erase)\s+(?:out\s+)?(?P<t>.+)`),
		},
	},
	{
		action: Select, takes: options, command: "select",
		zh: "选择, 选中, 挑选", en: "select, choose, pick",
		meaning: "`{target: …, value: …}`, or several `values`",
		rules: []rule{
			zh(`在 … 中选择 "…"`, `(?:在|从)\s*(?P<t>.+)(?:选择|选中|选取|挑选)\s*(?P<vs>SEVERAL)`).sets(atPlace),
			zh(`在 … 中选择 "…"`, `(?:在|从)\s*(?P<t>.+)(?:选择|选中|选取|挑选)\s*(?:选项)?\s*(?P<v>.+)`).sets(atPlace),
			zh(`在 … 中选择 "…"`, `选择\s*(?P<t>.+?(?:下拉框|下拉列表|下拉菜单|选择框))\s*(?:中|里|内)?的?\s*(?:选项)?\s*(?P<v>MARK)`),
			zh(`选择 … 为 "…"`, `(?:选择|将|把)\s*(?P<t>.+?)\s*(?:为|选择为|选为|[:：])\s*(?P<v>.+)`),
			zh(`… 选 …`, zhPicks+`\s*(?P<v>[^择中项框取].*)`).sets(atPlace).afterAll(),
			zh(`在 … 中选择 "…"`, `(?P<t>.+?)\s*(?:选择|选中)\s*(?P<v>MARK)`).afterAll(), // 城市选择 "北京", but not 点击城市选择 "北京"
			en(`select "…" in …`, `VERB\s+`+choice+`(?P<vs>SEVERAL)\s+(?:in|from|for|on)\s+(?P<t>.+)`),
			en(`select "…" in …`, `VERB\s+`+choice+`(?P<v>MARK)\s+(?:in|from|for|on)\s+(?P<t>.+)`),
			en(`from … select "…"`, `(?:in|from|on|for|using|with)\s+(?P<t>.+?),?\s+VERB\s+`+choice+`(?:(?P<v>MARK)|(?P<vs>SEVERAL))`),
			en(`from … select …`, `(?:(?:in|from|for|using|with)\s+(?:the\s+)?(?P<t>[^\x{f000}-\x{f0ff}]+?),?`+
				`|use\s+(?:the\s+)?(?P<t>.+?)\s+to)\s+VERB\s+`+choice+`(?P<v>.+)`),
			en(`select from … "…"`, `VERB\s+(?:from|in)\s+(?P<t>.+?)\s+(?:the\s+)?(?:options?|items?|values?)?\s*(?P<v>MARK)`),
			en(`select … from …`, `VERB\s+`+choice+`(?P<v>.+?)\s+from\s+(?P<t>.+)`),
			en(`select … in the list`, `VERB\s+`+choice+`(?P<v>[^\x{f000}-\x{f0ff}]+?)\s+(?:in|on)\s+(?P<t>.*\b(?:`+lists+`))`),
			en(`select "…" in …`, `VERB\s+(?P<v>MARK)\s+as\s+(?P<t>.+)`),
		},
	},
	{
		action: Drag, takes: twoElements,
		zh: "拖, 拖动, 拖拽", en: "drag",
		meaning: "`{target: …, to: …}`",
		rules: []rule{
			zh(`把 … 拖到 …`, `(?:将|把)?\s*(?:拖动|拖拽)?\s*(?P<t>.+?)\s*(?:拖动到|拖拽到|拖到|拖动至|拖拽至|拖至)\s*(?P<t2>.+?)\s*(?:上|里|中)?`),
			zh(`拖动 … 到 …`, `(?:拖动|拖拽)\s*(?P<t>.+?)\s*到\s*(?P<t2>.+?)\s*(?:上|里|中)?`),
			en(`drag … to …`, `drag\s+(?P<t>.+?)\s+(?:to|onto|into)\s+(?P<t2>.+)`),
		},
	},
	{
		action: Hover, takes: anElement, command: "hover",
		zh: "悬停, 移到, 移动到, 鼠标", en: "hover, hover over, move",
		meaning: "moves the mouse over an element",
		rules: []rule{
			zh(`悬停在 … 上`, `(?:悬停(?:在|到)?|移到|移动到|(?:将|把)?鼠标(?:移到|移动到|移至|悬停在|悬停到|放在|放到))\s*(?P<t>.+?)\s*(?:上面|上方|上)?`),
			en(`hover over …`, `(?:hover(?:\s+the\s+mouse)?(?:\s+over|\s+on)?|move\s+(?:the\s+)?mouse\s+(?:to|over)|mouse\s+over)\s+(?P<t>.+)`),
		},
	},
	{
		action: Scroll, takes: aDirection,
		zh: "滚动, 滑动, 向下滚动, 向上滚动, 向下滑动, 向上滑动", en: "scroll", alone: true,
		meaning: "`up`, `down`, `top`, `bottom`, or to an element",
		rules: []rule{
			zh(`滚动到 …`, `(?:滚动到|滚到|滑动到|滑到)\s*(?:页面)?(?:最)?(?:底部|底端|下方)`).sets(to("bottom")),
			zh(`滚动到 …`, `(?:滚动到|滚到|滑动到|滑到)\s*(?:页面)?(?:最)?(?:顶部|顶端|上方)`).sets(to("top")),
			zh(`向下滚动`, `(?:向下|往下)(?:滚动|滑动)(?:页面|一屏)?`).sets(to("down")),
			zh(`向上滚动`, `(?:向上|往上)(?:滚动|滑动)(?:页面|一屏)?`).sets(to("up")),
			zh(`滚动到 …`, `(?:滚动|滑动|滚|滑)(?:页面)?(?:到|至)\s*(?P<t>.+)`),
			en(`scroll to …`, `scroll\s+to\s+(?:the\s+)?(?:bottom|end)(?:\s+of\s+(?:the\s+)?page)?`).sets(to("bottom")),
			en(`scroll to …`, `scroll\s+to\s+(?:the\s+)?top(?:\s+of\s+(?:the\s+)?page)?`).sets(to("top")),
			en(`scroll down`, `scroll\s+down(?:\s+the\s+page)?`).sets(to("down")),
			en(`scroll up`, `scroll\s+up(?:\s+the\s+page)?`).sets(to("up")),
			en(`scroll to …`, `scroll\s+(?:down\s+|up\s+)?to\s+(?P<t>.+)`),
		},
	},
	{
		action: Screenshot, takes: aText, command: "screenshot", alone: true,
		zh: "截图, 截屏", en: "take, screenshot",
		meaning: "a picture of the page, by a name",
		rules: []rule{
			zh(`截图 "名字"`, `(?:截图|截屏|屏幕截图)\s*(?:为|保存为|命名为)?\s*(?P<v>.*)`),
			en(`take a screenshot`, `(?:take\s+(?:a\s+)?)?screenshot(?:\s+(?:as|named|called))?\s*(?P<v>MARK|)`),
		},
	},
	{
		action: DblClick, takes: anElement, command: "dblclick, doubleclick",
		zh: "双击", en: "double",
		inside:  inside{zh: "双击"},
		meaning: "an element",
		rules: []rule{
			zh(`双击 …`, `VERB\s*(?P<t>.+)`),
			en(`double click …`, `double[- ]?click(?:\s+on)?\s+(?P<t>.+)`),
		},
	},
	{
		action: RightClick, takes: anElement,
		zh: "右键点击, 右键单击, 右击, 右键", en: "right",
		inside:  inside{zh: "右键点击, 右键单击, 右击"},
		meaning: "an element",
		rules: []rule{
			zh(`右键点击 …`, `VERB\s*(?P<t>.+)`),
			en(`right click …`, `right[- ]?click(?:\s+on)?\s+(?P<t>.+)`),
		},
	},
	{
		action: Click, takes: anElement, command: "click",
		zh:      "点击, 单击, 点选, 点按, 点开, 按下, 点, 选择, 选中",
		en:      "click, click on, tap, tap on, press, press on, push, hit, select, choose, pick",
		inside:  inside{zh: "点击, 单击", en: "click, click on, tap, tap on, press, press on, push, hit"},
		meaning: "an element",
		rules: []rule{
			zh(`关闭对话框`, `关闭\s*(?P<w>.*(?:对话框|弹窗|弹框|提示框|抽屉|消息|通知))`).sets(closes),
			en(`close the dialog`, `close\s+(?P<w>(?:.+\s)?(?:dialog|popup|pop-up|modal|drawer|message|notification|alert|banner)(?:\s+(?:box|window))?)`).sets(closes),
			en(`follow the link …`, `(?:follow|focus(?:\s+on)?|click\s+into)\s+(?P<t>.*\b(?:link|field|box|input|area)\b.*)`),
			zh(`选择 …`, `(?:选择|选中)\s*(?P<t>.+)`).sets(chooses),
			zh(`点击 …`, `(?:(?:点击|单击|点选|点按|点开|点)(?:一下)?|按下)\s*(?P<t>.+)`),
			en(`select …`, `(?:select|choose|pick)\s+(?P<t>.+)`).sets(chooses),
			en(`click …`, `VERB\s+(?P<t>.+)`),
			en(`go to page 2`, `(?:go|switch|move|navigate)\s+to\s+(?:the\s+)?(?P<t>page\s+\d+|(?:next|previous|last`+
				`|`+grammar.Ordinals+`)\s+page|(?:next|previous)\s+(?:month|week|day|year|slide|step|image|picture|item|result))`),
			en(`close the dialog by clicking …`, `(?:close|dismiss|submit|save|finish|confirm|send)\s+(?:it|(?:the\s+`+
				`|this\s+)?(?:`+nameless+`))\s+by\s+(?:clicking|pressing|tapping|hitting)(?:\s+on)?\s+(?P<t>.+)`),
		},
	},
}

// codeVerbs have no sentences, but for what is expected, which has a grammar of its own.
var codeVerbs = []verb{
	{action: Expect, takes: expected, command: "expect", meaning: "see below"},
	{action: SetVars, takes: variables, meaning: "gives variables values"},
	{action: Save, takes: aVariableFrom, meaning: "`{target: …, as: …}` puts an element's text or value into a variable"},
	{action: Eval, takes: aText, meaning: "code in the page; only when allowed"},
	{action: Tool, takes: aCall, meaning: "a raw call: `{name: …, arguments: …}`"},
}

const (
	// opened is what can be opened by a click, and lists what has options.
	opened = `(?:tab|section|panel|accordion|menu|submenu|dropdown|drop-down|list|combo\s?box|date\s?picker|calendar` +
		`|details|folder|node|link` +
		`|e?-?mail|message|conversation|post|article|item|product|result)`
	choice   = `(?:the\s+)?(?:(?:options?|items?|values?|entry|entries)\s+)?`
	lists    = `drop-?\s?down(?:\s+(?:list|menu|box))?|list(?:\s?box)?|combo\s?box|select(?:\s+(?:box|list|menu))?`
	nameless = `form|dialog|popup|pop-up|modal|window|message|changes|alert|banner`
	aWord    = `(?:(?:the\s+)?(?:word|words|text|code|value|number|string|phrase)\s+)?` // what a quoted text is
	enFills  = `(?:type|enter|input|write|put|key\s+in|give|provide|insert|paste|copy|fill(?:\s+in|\s+out)?)`
	zhPicks  = `(?P<t>[^\x{f000}-\x{f0ff}，,点单双勾在从选请]{1,12}?[^\x{f000}-\x{f0ff}，,全首勾多单筛精候备反自已当点挑选])(?:改选|选)`
	zhFills  = `(?:输入|填写|填入|填上|录入|键入)`
	noPress  = `(?:[^点单双右]|点[^击选按]|单[^击]|双[^击]|右[^击键])` // 点击设为默认 is a click
)

// atPlace removes the end of 在…中 from the element.
func atPlace(s *Step) {
	for _, end := range []string{"这一栏", "那一栏", "那里", "这里", "一栏", "里面", "中", "里", "内", "上", "处"} {
		if short, found := strings.CutSuffix(s.Target.Text, end); found && short != "" {
			s.Target.Text = strings.TrimSpace(short)
			return
		}
	}
}

func chooses(s *Step) { s.Choose = true }

// closes means what closes a part of the page.
func closes(s *Step) { s.Target.Text = "close" }

func to(where string) func(*Step) { return func(s *Step) { s.Value = where } }
