package find

import "strings"

// placeWord is a word that says what kind of place is meant. What is only looked at may be such
// a place itself.
type placeWord struct {
	words  []string
	roles  []string
	column bool
	box    bool // is often built of plain boxes, which a page gives no role
}

// placeWords are the words for the roles of WAI-ARIA that are no controls; those for controls
// are the roleWords. Of two that fit, the longer one counts.
var placeWords = []placeWord{
	frameWords,
	boxes("对话框 弹出框 弹窗 弹框 模态框 确认框 抽屉 窗口 dialog, modal, popup, pop up, dialog box, drawer, alertdialog, alert dialog", "dialog alertdialog"),
	boxes("提示框 警告框 message box, popover", "dialog alertdialog alert status tooltip"),
	places("导航栏 导航菜单 导航 navigation, nav, navbar, navigation bar, nav bar, navigation menu", "navigation"),
	places("页头 顶部栏 顶部 header, banner, page header, top bar", "banner"),
	places("页脚 底部 footer, page footer, contentinfo", "contentinfo"),
	places("侧边栏 侧栏 sidebar, side bar, side panel, complementary", "complementary navigation"),
	places("搜索栏 搜索区 search bar, search form, search", "search"),
	places("工具栏 toolbar, tool bar", "toolbar"),
	places("表格 table, grid, data grid", "table grid treegrid"),
	places("树形表格 tree grid, treegrid", "treegrid"),
	{words: entriesOf("一列 这列 该列 那列 列 column"), column: true},
	places("列表 list", "list listbox directory feed"),
	places("列表框 listbox, list box", "listbox"),
	places("目录 directory", "directory list"),
	places("表单 form", "form group region"),
	places("菜单 menu", "menu menubar"),
	places("菜单栏 menu bar, menubar", "menubar"),
	places("标签面板 选项卡面板 tab panel, tabpanel", "tabpanel"),
	places("标签栏 选项卡栏 tab bar, tab list, tablist", "tablist"),
	places("主内容区 主区域 main, main content, main area", "main"),
	boxes("分组 区域 板块 模块 部分 卡片 面板 section, area, region, group, panel, card, block, part, fieldset", "group region form article tabpanel radiogroup"),
	places("单选组 单选按钮组 radio group, radiogroup", "radiogroup group"),
	places("树 树形控件 tree, tree view", "tree treegrid"),
	boxes("警告 提示 提示条 提示信息 消息提示 错误提示 通知条 横幅 alert, warning, toast, notification, snackbar, message", "alert status log alertdialog"),
	boxes("状态 状态栏 status, status bar, status message", "status"),
	boxes("工具提示 悬浮提示 气泡 tooltip, hint", "tooltip"),
	places("进度条 进度 加载条 progress bar, progressbar, progress, loading bar", "progressbar meter"),
	places("计量条 仪表 meter, gauge", "meter"),
	places("滚动条 scrollbar, scroll bar", "scrollbar"),
	places("分隔线 分割线 分隔条 separator, divider", "separator"),
	places("日志 log", "log"),
	places("计时器 倒计时 timer, countdown", "timer"),
	places("跑马灯 滚动字幕 marquee, ticker", "marquee"),
	places("插图 图表 figure, chart", "figure img"),
	places("文章 帖子 article, post", "article"),
	places("信息流 动态 feed", "feed"),
	places("列表项 条目 list item, listitem", "listitem"),
	places("行 数据行 row, data row", "row"),
	places("行组 row group, rowgroup", "rowgroup"),
	places("列标题 列头 column header, columnheader", "columnheader"),
	places("行标题 行头 row header, rowheader", "rowheader"),
	places("题注 表题 caption", "caption"),
	places("段落 paragraph", "paragraph"),
	places("引用 引文 quote, quotation, blockquote", "blockquote"),
	places("代码 代码块 code, code block", "code"),
	places("公式 formula, equation, math", "math"),
	places("注释 附注 note", "note"),
	places("术语 term", "term"),
	places("定义 definition", "definition"),
	places("时间 time", "time"),
	places("删除内容 deletion, deleted text", "deletion"),
	places("插入内容 insertion, inserted text", "insertion"),
	places("强调 emphasis", "emphasis"),
	places("加粗 粗体 strong, bold text", "strong"),
	places("高亮 标记 mark, highlight", "mark"),
	places("下标 subscript", "subscript"),
	places("上标 superscript", "superscript"),
	places("文档 document", "document"),
	places("应用 应用程序 application", "application"),
}

var frameWords = places("内嵌框架 子框架 框架 iframe, frame", "iframe")

func places(words, roles string) placeWord {
	return placeWord{words: entriesOf(words), roles: strings.Fields(roles)}
}

func boxes(words, roles string) placeWord {
	p := places(words, roles)
	p.box = true
	return p
}
