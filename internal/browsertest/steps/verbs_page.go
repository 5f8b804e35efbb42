package steps

import "github.com/toolfit/toolfit/internal/browsertest/grammar"

// pageVerbs are about the page as a whole: waiting, tabs, addresses, dialogs, keys, files.
var pageVerbs = []verb{
	{
		action: WaitFor, takes: aWait, command: "wait",
		zh: "等待, 等, 暂停, 休眠, 停留", en: "wait",
		meaning: "a time, or `text`, `gone`, `url`; `text` and `gone` also take a kind of element: `the dialog`",
		rules: []rule{
			zh(`等待 3 秒`, `VERB\s*(?P<ms>[\d.]+)\s*毫秒`),
			zh(`等待 3 秒`, `VERB\s*(?P<sec>[\d.]+|`+grammar.Numeral+`)\s*(?:秒钟?|s)`),
			zh(`等待 3 秒`, `VERB\s*(?P<min>[\d.]+|`+grammar.Numeral+`)\s*分钟?`),
			zh(`等待 网址包含 "…"`, `等待\s*(?:网址|地址|url|页面地址)\s*(?:包含|变为|为|是|变成)\s*(?P<url>.+)`),
			zh(`等待 网址包含 "…"`, `等待?\s*(?:页面)?(?:跳转到|跳转至|跳到)\s*(?P<url>\S+)`),
			zh(`等待 "…" 消失`, `等(?:待|到)?\s*(?:直到)?\s*(?:文字|文本|元素)?\s*(?P<gone>MARK)\s*(?:的)?(?:提示|字样|文字|消息|弹窗|按钮)?\s*(?:消失|隐藏|不见|不再显示|关闭)`),
			zh(`等待 "…" 出现`, `等(?:待|到)?\s*(?:直到)?\s*(?:文字|文本|元素)?\s*(?P<text>MARK)\s*(?:的)?(?:提示|字样|文字|消息|弹窗|按钮)?\s*(?:出现|显示|可见|加载完成|加载完毕)`),
			zh(`等待 "…" 消失`, `等待?\s*(?:文字|文本|元素)?\s*(?P<gone>.+?)\s*(?:消失|隐藏|不见|不再显示|关闭)`),
			zh(`等待 "…" 出现`, `等待?\s*(?:文字|文本|元素)?\s*(?P<text>.+?)\s*(?:出现|显示|可见|加载完成|加载完毕)`),
			zh(`等待 "…" 出现`, `等(?:待|到)?\s*(?:直到)?\s*(?:页面(?:上|中)?)?(?:出现|显示|看到)?\s*(?P<text>MARK)`),
			en(`wait 3 seconds`, `wait\s+(?:for\s+)?(?P<ms>[\d.]+)\s*(?:ms|milliseconds?)`),
			en(`wait 3 seconds`, `wait\s+(?:for\s+)?(?P<sec>[\d.]+)\s*(?:s|secs?|seconds?)`),
			en(`wait 3 seconds`, `wait\s+(?:for\s+)?(?P<min>[\d.]+)\s*(?:m|mins?|minutes?)`),
			en(`wait for url "…"`, `wait\s+(?:for|until)\s+(?:the\s+)?(?:page\s+)?url\s+(?:to\s+)?(?:be|is|contains?|becomes?)?\s*(?P<url>.+)`),
			en(`wait for "…"`, `wait\s+(?:for|until)\s+(?:(?:I|we|you)\s+see|(?:the\s+)?page\s+(?:shows|contains`+
				`|displays))\s+(?:the\s+)?(?:text\s+)?(?P<text>.+)`),
			en(`wait for "…" to disappear`, `wait\s+(?:for|until)\s+(?:the\s+)?(?:text\s+)?(?P<gone>.+?)\s+(?:to\s+)?`+
				`(?:disappears?|is gone|be gone|goes away|go away|vanish(?:es)?|be hidden|is hidden)`),
			en(`wait for "…"`, `wait\s+(?:for|until)\s+(?:the\s+)?(?:text\s+)?(?P<text>.+?)(?:\s+(?:to\s+)?(?:appears?|be visible`+
				`|is visible|shows?(?: up)?|be shown))?`),
		},
	},
	{
		action: OnTab, takes: aTab, alone: true,
		zh: "切换到, 关闭标签, 关闭当前", en: "switch, close, new tab",
		meaning: "`new`, `close`, or `{select: 2}`: a number or a part of the title; one on the page itself if the browser has none",
		rules: []rule{
			zh(`打开新标签页 https://…`, `(?:打开|新建)(?:一个)?新?(?:标签页|标签|选项卡)\s*(?P<u>\S*)`).sets(newTab),
			zh(`切换到第 2 个标签页`, `切换到\s*第\s*(?P<tab>`+grammar.Numeral+`)\s*个?\s*(?:标签页|标签|窗口)`),
			zh(`切换到新标签页`, `切换到\s*(?:新的?|最新的?|最后一个?|新打开的|刚打开的)(?:标签页|标签|窗口|页面)`).sets(lastTab),
			zh(`切换到标签页 "…"`, `切换到\s*(?:标签页|标签|窗口)?\s*(?:标题(?:为|包含)|名为)?\s*(?P<title>QUOTED)\s*的?(?:标签页|标签|窗口)?`),
			zh(`关闭标签页`, `关闭(?:当前)?(?:标签页|标签|窗口)`).sets(closeTab),
			en(`open a new tab`, `open\s+(?:a\s+)?new\s+tab(?:\s+(?:with|at|on)?\s*(?P<u>\S+))?`).sets(newTab),
			en(`switch to tab 2`, `(?:switch|go)\s+to\s+(?:the\s+)?(?:tab\s+(?P<tab>\d+))`),
			en(`switch to the second tab`, `(?:switch|go)\s+to\s+(?:the\s+)?(?P<tab>`+grammar.Ordinals+`)\s+tab`),
			en(`switch to the new tab`, `(?:switch|go)\s+to\s+(?:the\s+)?(?:new|newest|last|latest)\s+(?:tab|window)`).sets(lastTab),
			en(`switch to tab "…"`, `(?:switch|go)\s+to\s+(?:the\s+)?(?:tab\s+)?(?P<title>QUOTED)(?:\s+tab)?`),
			en(`close the tab`, `close\s+(?:the\s+|this\s+)?(?:current\s+)?tab`).sets(closeTab),
		},
	},
	{
		action: Navigate, takes: anAddress, command: "navigate, goto, open",
		zh: "打开, 访问, 进入, 跳转到, 跳转至, 导航到, 前往, 浏览", en: "open, go to, navigate to, visit, browse to",
		meaning: "a full address, `/path` on the base, or a host name",
		rules: []rule{
			zh(`打开 https://… 或 /路径`, `(?:在浏览器(?:中|里|上)?)?VERB\s*(?:网址|网站|网页|页面|地址|链接|url|\S*(?:页|页面|网站|系统|网址`+
				`|地址))?\s*[:：]?\s*(?P<u>\S+?)\s*(?:页面|网页|网站)?`),
			en(`open https://… or /path`, `VERB\s+(?:the\s+)?(?:page\s+|url\s+|address\s+|site\s+)?(?P<u>\S+?)(?:\s+page)?`),
		},
	},
	{
		action: Back, takes: nothingMore, command: "back", alone: true,
		zh: "返回, 后退", en: "go, navigate, back",
		meaning: "to the page before",
		rules: []rule{
			zh(`返回上一页`, `(?:返回到?上一(?:页|个页面)|返回上个页面|(?:浏览器)?后退)`),
			en(`go back`, `(?:go\s+|navigate\s+)?back`),
		},
	},
	{
		action: Reload, takes: nothingMore, alone: true,
		zh: "刷新, 重新加载", en: "reload, refresh",
		meaning: "the same page again",
		rules: []rule{
			zh(`刷新页面`, `VERB(?:一下)?(?:当前)?(?:页面|网页|浏览器)?`),
			en(`reload the page`, `VERB(?:\s+the)?(?:\s+page)?`),
		},
	},
	{
		action: OnDialog, takes: aDialog,
		zh: "接受, 拒绝", en: "accept, dismiss, cancel the, confirm the",
		meaning: "`accept` or `dismiss` a dialog of the browser; `{accept: true, text: …}` answers a prompt",
		rules: []rule{
			zh(`接受弹窗`, `(?:接受|确认|同意|确定)\s*(?:浏览器)?(?:的)?`+zhDialog).sets(accepts),
			zh(`拒绝弹窗`, `(?:拒绝|取消|关闭)\s*(?:浏览器)(?:的)?`+zhDialog+`|拒绝`+zhDialog).sets(dismisses),
			zh(`在弹窗输入 "…" 并确认`, `在\s*(?:浏览器弹窗|弹窗|提示框)\s*(?:中|里)?\s*输入\s*(?P<v>MARK)\s*并?(?:确认|确定|接受)`).sets(accepts),
			en(`accept the dialog`, `(?:accept|confirm)\s+(?:the\s+)?(?:browser\s+|confirm(?:ation)?\s+`+
				`|alert\s+)?`+enDialog+`(?:\s+with\s+(?P<v>.+))?`).sets(accepts),
			en(`dismiss the dialog`, `(?:dismiss|reject)\s+(?:the\s+)?(?:browser\s+|confirm(?:ation)?\s+|alert\s+)?`+enDialog+``+
				`|cancel\s+(?:the\s+)?browser\s+`+enDialog).sets(dismisses),
			en(`accept the dialog with "…"`, `(?:type|enter)\s+(?P<v>MARK)\s+(?:in`+
				`|into)\s+(?:the\s+)?(?:browser\s+)?prompt(?:\s+and\s+(?:accept|confirm)(?:\s+it)?)?`).sets(accepts),
		},
	},
	{
		action: Press, takes: aKey, command: "press", alone: true,
		zh: "按, 敲, 回车", en: "press, hit",
		meaning: "a key, such as `Enter` or `Control+A`; `{target: …, key: …}` presses it in an element",
		rules: []rule{
			zh(`按 回车`, `按\s*(?P<k>KEYS)\s*键?`), // before 按下: 按下箭头 is the arrow down
			zh(`按 回车`, `(?:按下|敲击?|按键)\s*(?P<k>KEYS)\s*键?|(?P<k>回车)`),
			zh(`在 … 按 回车`, `在\s*(?P<t>[^\x{f000}-\x{f0ff}]+?|.*?MARK[^\x{f000}-\x{f0ff}]*?(?:框|栏|域|字段|元素))\s*(?:中|里|上)?\s*(?:按下?`+
				`|敲击?)\s*(?P<k>KEYS)\s*键?`),
			en(`press Enter`, `VERB\s+(?:the\s+)?(?P<k>KEYS)(?:\s+key)?`),
			en(`in … press Enter`, `in\s+(?P<t>.+?),?\s+VERB\s+(?:the\s+)?(?P<k>KEYS)(?:\s+key)?`),
			en(`press Enter in …`, `VERB\s+(?:the\s+)?(?P<k>KEYS)(?:\s+key)?\s+(?:in|on)\s+(?P<t>.+)`),
		},
	},
	{
		action: Upload, takes: files, command: "upload",
		zh: "上传", en: "upload, attach",
		meaning: "files, `{target: …, files: […]}` to an element",
		rules: []rule{
			zh(`上传 "文件" 到 …`, `(?:上传|选择)\s*(?:文件)?\s*(?P<v>MARK)\s*(?:到|至)\s*(?P<t>.+)`),
			zh(`在 … 上传 "文件"`, `(?:在|通过|点击)\s*(?P<t>.+?)\s*(?:中|里|处)?\s*上传\s*(?:文件)?\s*(?:(?P<v>MARK)|(?P<vs>SEVERAL))`),
			zh(`上传 "文件"`, `上传\s*(?:文件|附件|图片|照片)?\s*(?P<vs>SEVERAL)`),
			zh(`上传 "文件"`, `上传\s*(?:文件|附件|图片|照片|头像)?\s*(?P<v>MARK)`),
			en(`upload "file" to …`, `VERB\s+(?:the\s+)?(?:file\s+)?(?P<v>MARK)\s+(?:to|into|in|with|using|via)\s+(?P<t>.+)`),
			en(`upload "file"`, `VERB\s+(?:the\s+)?(?:file\s+)?(?P<v>MARK)`),
		},
	},
}

const (
	zhDialog = `(?:弹窗|弹框|对话框|提示框|警告框|确认框)`
	enDialog = `(?:dialog|alert|confirm|prompt|popup)`
)

func newTab(s *Step) {
	s.Tab = &Tab{New: true, URL: s.Value}
	s.Value = ""
}

func lastTab(s *Step) { s.Tab = &Tab{Select: -1} }

func closeTab(s *Step) { s.Tab = &Tab{Close: true} }

func accepts(s *Step) { s.answers(true) }

func dismisses(s *Step) { s.answers(false) }

func (s *Step) answers(accept bool) {
	s.Dialog = &Dialog{Accept: accept, Text: s.Value}
	s.Value = ""
}
