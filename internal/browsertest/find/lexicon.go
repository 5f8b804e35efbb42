package find

import (
	"slices"
	"strings"
)

// lexicon are words that testers and pages use for one thing. Only true synonyms stand in
// a line: what is nearly the same is another element.
var lexicon = []string{
	"用户名 账号 帐号 账户名 登录名 username, user name, account, login name",
	"登录 登陆 登入 sign in, log in, login, signin",
	"退出 退出登录 登出 注销登录 sign out, log out, logout",
	"注册 sign up, signup, register",
	"密码 口令 password, pwd, passcode",
	"邮箱 电子邮件 电子邮箱 邮件地址 email, e mail, mail",
	"手机号 手机号码 手机 电话 联系电话 phone, mobile, telephone, tel",
	"验证码 校验码 captcha, verification code",
	"姓名 name, full name",
	"名称 name",
	"地址 address",
	"城市 city",
	"日期 date",
	"时间 time",
	"数量 quantity, qty",
	"价格 price",
	"金额 amount",
	"语言 language, lang",
	"备注 remark, note, notes, comment",
	"确定 确认 好的 好 ok, okay, confirm",
	"取消 cancel",
	"是 yes",
	"否 no",
	"删除 移除 delete, remove",
	"编辑 修改 edit, modify",
	"新增 新建 添加 add, new, create",
	"搜索 查询 检索 查找 search, find, magnifier",
	"重置 reset",
	"设置 settings, gear, cog, preferences",
	"保存 save",
	"提交 submit",
	"关闭 close, ×, ✕, ✖",
	"撤销 undo",
	"重做 redo",
	"加粗 粗体 bold",
	"斜体 italic",
	"下划线 underline",
	"上一页 前一页 previous, prev, previous page, go to previous page, ‹, «",
	"下一页 后一页 next, next page, go to next page, ›, »",
	"上一步 back, previous, previous step",
	"下一步 next, continue, next step",
	"返回 后退 back, go back",
	"首页 主页 home, homepage, home page",
	"帮助 help",
	"附件 attachment, attachments",
	"上传 upload",
	"上传文件 选择文件 upload file, choose file",
	"下载 download",
	"导出 export",
	"导入 import",
	"刷新 refresh, reload",
	"详情 查看 查看详情 details, detail, view, view details",
	"更多 more, ellipsis, …, ...",
	"菜单 menu, hamburger, ☰",
	"购物车 cart, shopping cart, basket",
	"加入购物车 添加到购物车 add to cart, add to basket",
	"结算 去结算 checkout, check out",
	"购买 立即购买 buy, buy now",
	"收藏 favorite, favourite, star",
	"喜欢 点赞 like, heart, ♥, ❤",
	"分享 share",
	"打印 print, printer",
	"复制 copy",
	"粘贴 paste",
	"通知 notifications, notification, bell",
	"个人中心 我的 profile, my account",
	"展开 expand",
	"收起 折叠 collapse",
	"全选 select all",
	"启用 enable",
	"停用 禁用 disable",
	"记住我 记住密码 remember me",
	"忘记密码 forgot password, forgot your password, forgot password?",
	"验证 verify",
	"发送 send",
	"应用 apply",
	"筛选 过滤 filter",
	"排序 sort",
	"播放 play",
	"暂停 pause",
}

// drawn are words that name a drawing rather than a thing that is written.
var drawn = []string{"删除 移除 delete, remove, trash, bin", "附件 上传 upload, attachment, file, paperclip, clip"}

// synonym is one entry of the lexicon.
type synonym struct {
	phrase phrase
	group  int
	drawn  bool
}

// synonyms are the entries, the longest first, and the members of each group.
type synonyms struct {
	entries []synonym
	groups  [][]phrase
}

// newSynonyms reads the lexicon and lines of a project's own, in the same form.
func newSynonyms(lines ...string) *synonyms {
	s := &synonyms{}
	for g, line := range slices.Concat(lexicon, lines, drawn) {
		var members []phrase
		for _, part := range entriesOf(line) {
			p := read(part)
			members = append(members, p)
			s.entries = append(s.entries, synonym{p, g, g >= len(lexicon)+len(lines)})
		}
		s.groups = append(s.groups, members)
	}
	slices.SortStableFunc(s.entries, func(a, b synonym) int { return len(b.phrase.joined) - len(a.phrase.joined) })
	return s
}

// entriesOf cuts a line at commas, and Chinese words at spaces, too.
func entriesOf(line string) (entries []string) {
	for part := range strings.SplitSeq(line, ",") {
		var rest []string
		for w := range strings.FieldsSeq(part) {
			if strings.ContainsFunc(w, isHan) {
				entries = append(entries, w)
			} else {
				rest = append(rest, w)
			}
		}
		if len(rest) > 0 {
			entries = append(entries, strings.Join(rest, " "))
		}
	}
	return entries
}

// variants are the phrase and its forms with synonyms in place of its words; of an icon also
// with the names of drawings.
func (s *synonyms) variants(p phrase, icon bool) []phrase {
	list := []phrase{p}
	for _, e := range s.entries {
		if len(list) > maxVariants {
			break
		}
		rest, found := p.cut(e.phrase)
		if !found || e.phrase.words[0].kind == ident || e.drawn && !icon {
			continue
		}
		for _, other := range s.groups[e.group] {
			if !other.equal(e.phrase) {
				list = append(list, phraseOf(append(slices.Clone(rest), other.words...)))
			}
		}
	}
	return list
}

const maxVariants = 60

// stopWords say nothing about which element is meant.
var stopWords = set("the a an as to of in on at for with using via this that is are and or please it its into from by 的 请 一个 这个 那个 该 此 并 与 和 及 了 把 将")

// weakWords may be left out of a name by those who speak of it.
var weakWords = set("my your you our address code number no user page section area row item value box list 我 我的 您 您的 你 你的 用户 信息 号 号码 页面 区域 内容 栏 一栏 行 项 处")

// holders are what a button says it stands in: "Close this dialog" is its "Close".
var holders = set("dialog modal popup window panel drawer 对话框 弹窗 弹框 窗口 面板 抽屉")

// reversing are words that make a label mean something else than the same label without them.
var reversing = set("not no dont never cancel delete remove clear undo revoke disable close reject decline exit logout out stop reset discard deny unsubscribe uninstall forgot forget hide without except non empty erase purge wipe destroy leave block ban abort terminate kill suspend deactivate disconnect detach")

// reversingHan are those of Chinese, which stand inside a run.
var reversingHan = strings.Fields("取消 删除 移除 清空 清除 撤销 撤回 注销 停用 禁用 关闭 拒绝 退出 登出 解除 重置 卸载 驳回 终止 停止 忘记 隐藏")

// reversingMarks turn the word that they stand directly before: 未登录, 待付款.
var reversingMarks = strings.Fields("不 未 非 无 勿 禁 反 待 已 免 防")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// negating are those that stand at the front: 'No' behind a word is its number.
var negating = set("no not dont never without non")

func negates(w word) bool { return negating[w.text] }

// reverses tells whether a word that the query does not say turns the label's meaning.
func reverses(w word) bool {
	if w.kind != han {
		return reversing[w.text] || strings.HasPrefix(w.text, "un") && len(w.text) > 4
	}
	return slices.ContainsFunc(reversingHan, func(r string) bool { return strings.Contains(w.text, r) })
}

// setting apart are words by which one of two things of a kind is told from the other: who
// says "New password" does not mean "Confirm new password", nor "Pixel 9" the "Pixel 9 Pro".
var (
	apartWords = set("confirm confirmation repeat retype reenter again alternate alternative secondary backup recovery emergency spare other another old previous former pro plus max mini lite xl xxl xs ultra premium jr sr all bulk everything later beta alpha draft sample legacy")
	apartHan   = strings.Fields("副 子 父 上级 下级 并 确认 重复 再次 备用 备选 次要 其他 其它 另一 旧 原 全部 批量 所有 一键 草稿 副本 示例 稍后 定时")
)

// sets tells whether a word that the query does not say sets the label apart. What is the
// name's own, 本人的孩子, is not what the name says.
func sets(w word) bool {
	if w.kind != han {
		return apartWords[w.text]
	}
	return strings.HasPrefix(w.text, "的") || slices.ContainsFunc(apartHan, func(a string) bool { return strings.HasPrefix(w.text, a) })
}

// inflected tells whether a label has the name only in another form: "Phone cases" are no phones.
func inflected(label, name phrase) bool {
	return slices.ContainsFunc(name.words, func(w word) bool {
		return w.kind == latin && !stopWords[w.text] && !slices.ContainsFunc(label.words, func(v word) bool { return v.text == w.text })
	})
}

// verbs make a button of the thing they stand before. Who names the thing alone does not
// say that it should be done.
var (
	verbsHan    = strings.Fields("注册 登录 新增 新建 添加 创建 编辑 修改 查看 导出 导入 下载 打印 复制 分享 发送 发布 提交 保存 申请 审核 绑定 解绑 更换 切换 购买 支付")
	searchVerbs = set("search filter find")
	verbs       = set("create add new edit place submit save view export import download upload print share send open start change update manage buy pay")
)

// kindNouns say of a name what kind of thing it is, and nothing else.
var kindNouns = set("name date time id type title field input text amount url menu button link tab icon panel dialog window bar")

// imperatives are the words that labels of what can be done begin with.
var imperatives = set(`accept add allow apply approve archive assign attach authorize backup block browse build buy call cancel
	change check choose clear click clone close collapse compare complete compose confirm connect continue convert copy create
	customize cut deactivate decline delete deny deploy deselect detach disable discard disconnect dismiss download drag drop
	duplicate edit enable end enter exit expand explore export extend fetch fill filter find finish follow forgot forward
	generate get give go hide ignore import insert install invite join jump keep launch learn leave like load lock log make
	manage mark maximize merge minimize move mute new next open pause pay pick pin place play preview print proceed publish
	purchase put quit read rebuild recover redo refresh register reject release reload remember remind remove rename renew
	reopen repeat replace reply request resend reset resize resolve restart restore resume retry return revert revoke rotate
	run save scan schedule search see select send set share show sign skip sort split start stop submit subscribe switch sync
	take track transfer translate try turn type undo unlock unsubscribe update upgrade upload use validate verify view visit
	vote wait watch withdraw write zoom`)

// does tells whether the label does something with the name that the name alone does not
// say: "place order" is not "order".
func does(label, name phrase) bool {
	first := label.words[0]
	return verbs[first.text] && !slices.ContainsFunc(name.words, first.same)
}

// marked tells whether the label turns what the name alone says: 未登录 is not 登录,
// 注册新账号 is not 账号, nor is "search by email" an e-mail.
func marked(label, name phrase) bool {
	first := label.words[0]
	searches := searchVerbs[first.text] && slices.ContainsFunc(label.words, func(w word) bool { return w.text == "by" || w.text == "or" })
	if searches && !slices.ContainsFunc(name.words, first.same) {
		return true
	}
	for _, w := range name.words {
		for _, l := range label.words {
			before, found := strings.CutSuffix(l.text, w.text)
			if w.kind == han && found && turns(before) {
				return true
			}
		}
	}
	return false
}

func turns(before string) bool {
	return slices.ContainsFunc(reversingMarks, func(m string) bool { return strings.HasSuffix(before, m) }) ||
		slices.ContainsFunc(verbsHan, func(v string) bool { return strings.HasPrefix(before, v) })
}
