package steps

import (
	"slices"
	"strings"
)

// rulesZh are the Chinese sentences.
func rulesZh() []rule { return slices.Concat(pageRulesZh(), elementRulesZh()) }

// pageRulesZh are about waiting, tabs, addresses, dialogs and keys.
func pageRulesZh() []rule {
	accept := func(yes bool) func(*Step) {
		return func(s *Step) { s.Dialog = &Dialog{Accept: yes, Text: s.Value}; s.Value = "" }
	}
	return []rule{
		r(WaitFor, `等待 3 秒`, `(?:等待|等|暂停)\s*(?P<ms>[\d.]+)\s*毫秒`),
		r(WaitFor, `等待 3 秒`, `(?:等待|等|暂停)\s*(?P<sec>[\d.]+)\s*(?:秒钟?|s)`),
		r(WaitFor, `等待 3 秒`, `(?:等待|等|暂停)\s*(?P<min>[\d.]+)\s*分钟?`),
		r(WaitFor, `等待 网址包含 "…"`, `等待\s*(?:网址|地址|url|页面地址)\s*(?:包含|变为|为|是|变成)\s*(?P<url>.+)`),
		r(WaitFor, `等待 "…" 消失`, `等待?\s*(?:文字|文本|元素)?\s*(?P<gone>.+?)\s*(?:消失|隐藏|不见|不再显示|关闭)`),
		r(WaitFor, `等待 "…" 出现`, `等待?\s*(?:文字|文本|元素)?\s*(?P<text>.+?)\s*(?:出现|显示|可见|加载完成|加载完毕)`),
		r(WaitFor, `等待 "…" 出现`, `等待\s*(?:出现|显示)?\s*(?P<text>MARK)`),

		r(OnTab, `打开新标签页 https://…`, `(?:打开|新建)(?:一个)?新?(?:标签页|标签|选项卡)\s*(?P<u>\S*)`, func(s *Step) { s.Tab = &Tab{New: true, URL: s.Value}; s.Value = "" }),
		r(OnTab, `切换到第 2 个标签页`, `切换到\s*第\s*(?P<tab>\d+|[一二三四五六七八九])\s*个?\s*(?:标签页|标签|窗口)`),
		r(OnTab, `切换到标签页 "…"`, `切换到\s*(?:标签页|标签|窗口)?\s*(?P<title>QUOTED)\s*(?:标签页|标签|窗口)?`),
		r(OnTab, `关闭标签页`, `关闭(?:当前)?(?:标签页|标签|窗口)`, func(s *Step) { s.Tab = &Tab{Close: true} }),
		r(Navigate, `打开 https://… 或 /路径`, `(?:打开|访问|进入|跳转到|前往|浏览)\s*(?:网址|网站|网页|页面|地址|链接|url)?\s*[:：]?\s*(?P<u>\S+?)\s*(?:页面|网页|网站)?`),
		r(Back, `返回上一页`, `(?:返回上一页|后退|浏览器后退|返回上个页面)`),
		r(Reload, `刷新页面`, `刷新(?:页面|浏览器|当前页面)?`),

		r(OnDialog, `接受弹窗`, `(?:接受|确认|同意|确定)\s*(?:浏览器)?(?:的)?(?:弹窗|弹框|对话框|提示框|警告框|确认框)`, accept(true)),
		r(OnDialog, `拒绝弹窗`, `(?:拒绝|取消|关闭)\s*(?:浏览器)(?:的)?(?:弹窗|弹框|对话框|提示框|警告框|确认框)|拒绝(?:弹窗|弹框|对话框|提示框|警告框|确认框)`, accept(false)),
		r(OnDialog, `在弹窗输入 "…" 并确认`, `在\s*(?:浏览器弹窗|弹窗|提示框)\s*(?:中|里)?\s*输入\s*(?P<v>MARK)\s*并?(?:确认|确定|接受)`, accept(true)),

		r(Press, `按 回车`, `(?:按下?|敲击?|按键)\s*(?P<k>KEYS)\s*键?`),
		r(Press, `在 … 按 回车`, `在\s*(?P<t>.+?)\s*(?:中|里|上)?\s*(?:按下?|敲击?)\s*(?P<k>KEYS)\s*键?`),
		r(Upload, `上传 "文件" 到 …`, `(?:上传|选择)\s*(?:文件)?\s*(?P<v>MARK)\s*(?:到|至)\s*(?P<t>.+)`),
		r(Upload, `在 … 上传 "文件"`, `(?:在|通过|点击)\s*(?P<t>.+?)\s*(?:中|里|处)?\s*上传\s*(?:文件)?\s*(?P<v>MARK)`),
		r(Upload, `上传 "文件"`, `上传\s*(?:文件)?\s*(?P<v>MARK)`),
	}
}

// elementRulesZh are about one element.
func elementRulesZh() []rule {
	// The greedy group takes the last verb, as fields are called 输入框; what is left of 在…中 goes.
	inside := func(s *Step) {
		for _, end := range []string{"里面", "中", "里", "内", "上", "处"} {
			if short, found := strings.CutSuffix(s.Target.Text, end); found && short != "" {
				s.Target.Text = strings.TrimSpace(short)
				return
			}
		}
	}
	to := func(where string) func(*Step) { return func(s *Step) { s.Value = where } }
	return []rule{
		r(Uncheck, `取消勾选 …`, `(?:取消勾选|不勾选|去掉勾选|取消选中)\s*(?P<t>.+)`),
		r(Check, `勾选 …`, `勾选\s*(?:上)?\s*(?P<t>.+)`),
		r(Clear, `清空 …`, `(?:清空|清除)\s*(?P<t>.+?)\s*(?:的内容|中的内容|的值)?`),
		r(Fill, `在 … 输入 "…"`, `(?:在|往|向|给)\s*(?P<t>.+)(?:输入|填写|填入|录入|键入)\s*(?:内容|文本|文字)?\s*(?:[:：]|为)?\s*(?P<v>MARK+)`, inside),
		r(Fill, `在 … 输入 "…"`, `(?:在|往|向|给)\s*(?P<t>.+)(?:输入|填写|填入|录入|键入)\s*(?:内容|文本|文字)?\s*(?:[:：]|为)?\s*(?P<v>.*)`, inside),
		r(Fill, `输入 … 为 "…"`, `(?:输入|填写|填入|录入)\s*(?P<t>[^\x{f000}-\x{f0ff}]+?)\s*(?:为|是|[:：=])\s*(?P<v>.+)`),
		r(Fill, `输入 "…" 到 …`, `(?:输入|填写|填入|录入|键入)\s*(?P<v>.+?)\s*(?:到|至|进|在)\s*(?P<t>.+?)\s*(?:中|里|内|里面)?`),
		r(Fill, `将 … 设置为 "…"`, `(?:将|把)\s*(?P<t>.+?)\s*(?:设置为|设置成|设为|改为|改成|修改为|填为)\s*(?P<v>.+)`),
		r(Fill, `… 输入 "…"`, `(?P<t>[^\x{f000}-\x{f0ff}]+?)\s*(?:中|里|内)?\s*(?:输入|填写|填入|录入|键入)\s*[:：]?\s*(?P<v>MARK)`),
		r(Fill, `输入 … "…"`, `(?:输入|填写|填入|录入)\s*(?P<t>[^\x{f000}-\x{f0ff}]+?)\s*(?P<v>MARK)`),

		r(Select, `在 … 中选择 "…"`, `(?:在|从)\s*(?P<t>.+)(?:选择|选中|选取)\s*(?:选项)?\s*(?P<v>.+)`, inside),
		r(Select, `选择 … 为 "…"`, `(?:选择|将|把)\s*(?P<t>.+?)\s*(?:为|选择为|选为|[:：])\s*(?P<v>.+)`),
		r(Drag, `把 … 拖到 …`, `(?:将|把)?\s*(?:拖动|拖拽)?\s*(?P<t>.+?)\s*(?:拖动到|拖拽到|拖到)\s*(?P<t2>.+?)\s*(?:上|里|中)?`),
		r(Drag, `拖动 … 到 …`, `(?:拖动|拖拽)\s*(?P<t>.+?)\s*到\s*(?P<t2>.+?)\s*(?:上|里|中)?`),
		r(Hover, `悬停在 … 上`, `(?:悬停(?:在|到)?|移到|移动到|(?:将|把)?鼠标(?:移到|移动到|移至|悬停在|悬停到|放在|放到))\s*(?P<t>.+?)\s*(?:上面|上方|上)?`),
		r(Scroll, `滚动到 …`, `(?:滚动到|滚到)\s*(?:页面)?(?:最)?(?:底部|底端|下方)`, to("bottom")),
		r(Scroll, `滚动到 …`, `(?:滚动到|滚到)\s*(?:页面)?(?:最)?(?:顶部|顶端|上方)`, to("top")),
		r(Scroll, `向下滚动`, `向下滚动(?:页面|一屏)?`, to("down")),
		r(Scroll, `向上滚动`, `向上滚动(?:页面|一屏)?`, to("up")),
		r(Scroll, `滚动到 …`, `(?:滚动到|滚到)\s*(?P<t>.+)`),
		r(Screenshot, `截图 "名字"`, `(?:截图|截屏|屏幕截图)\s*(?:为|保存为|命名为)?\s*(?P<v>.*)`),

		r(DblClick, `双击 …`, `双击\s*(?P<t>.+)`),
		r(RightClick, `右键点击 …`, `(?:右键点击|右键单击|右击|右键)\s*(?P<t>.+)`),
		r(Click, `点击 …`, `(?:点击|单击|点选|点按|点一下|按下|选择|选中|点)\s*(?P<t>.+)`),
	}
}
