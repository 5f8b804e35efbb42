package e2e

// stepCases are steps that pass on the pages of testdata, and each time some with a planted
// mistake in the last, which must be reported under its code.
var stepCases = []stepCase{
	{"login in Chinese", `
- 打开 /login-zh.html
- 在用户名输入框输入 "admin"，在密码输入框输入 "secret"
- 在验证码输入框输入 "1234"
- 勾选 记住我
- 点击登录 -> 出现 "登录成功"`, `
- 打开 /login-zh.html
- 在用户名输入框输入 "admin"，在密码输入框输入 "wrong"
- 点击登录
- {expect: {text: 登录成功}, timeout: 1s}`, "ASSERTION_FAILED"},
	{"login in English", `
- open /login-en.html
- type "ann@example.com" into the email field
- fill Password with "pw"
- check Remember me
- expect: {checked: Remember me}
- expect: {value: ann@example.com, target: Email address}
- click Sign in`, `
- open /login-en.html
- {click: Sign in with Facebook, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"the action of one row", `
- 打开 /table.html
- 点击 SO-1003 行的删除按钮 -> 出现 "删除 SO-1003"
- 点击 张三的编辑按钮 -> 出现 "编辑 SO-1001"
- expect: {count: 5, target: 删除按钮}
- expect: {count: 5, target: 行}`, `
- 打开 /table.html
- {click: 删除按钮, timeout: 1s}`, "ELEMENT_AMBIGUOUS"},
	{"a dialog of the page", `
- 打开 /modal.html
- 点击 删除项目 -> 出现 "确认删除"
- 在项目名称输入 "x"
- 点击 对话框的确定按钮 -> 出现 "已删除"
- expect: {hidden: 确认删除}`, `
- 打开 /modal.html
- 点击 删除项目 -> 出现 "确认删除"
- 点击 取消
- {expect: {text: 已删除}, timeout: 1s}`, "ASSERTION_FAILED"},
	{"frames", `
- open /iframe.html
- type "Ann" into Full name
- type "123" into the CVC field
- expect: {value: "123", target: CVC}
- click the Apply button
- fill: {target: CVC, value: "9", frame: Card}
- expect: {value: "9", target: CVC in the card frame}
- click Apply in the Voucher frame
- {expect: {hidden: Apply in the card frame}, timeout: 5s}`, `
- open /iframe.html
- {fill: {target: IBAN, value: x}, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"ordinary words for ordinary widgets", `
- open /widgets.html
- choose Rome -> see "said Rome//3"
- select Amina and Dana from the scroll list -> see "said Rome/Amina+Dana/3"
- move the volume slider to 7 -> see "Dana/7/"
- type "x" into the second password field
- check "Blue" -> see "/7//x/false/true/"
- type "Bergen" into the home town field
- select "Pear" from the list -> see "said Pear"
- expand the Details section -> see "said true"
- select "Apple" from the list -> see "said Apple"
- expand the Details section
- expect see "said Apple"
- collapse the Details section -> see "said false"`, `
- open /widgets.html
- {step: choose Madrid, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"equal labels", `
- open /dup.html
- fill shipping street with "Main St"
- 在联系人姓名输入 "张三"
- expect: {value: 张三, target: 联系人姓名}
- fill Internal note input with "n"
- 点击 紧急联系人区域的保存按钮`, `
- open /dup.html
- {click: 保存, timeout: 1s}`, "ELEMENT_AMBIGUOUS"},
	{"shadow roots", `
- open /shadow.html
- fill Nickname with "Bo"
- click update profile
- expect: {value: Bo, target: Nickname}
- expect: {count: 1, target: "p > label"}`, `
- open /shadow.html
- {fill: {target: Nick, value: x}, timeout: 1s, expect: {value: y, target: Nickname}}`, "ELEMENT_NOT_FOUND"},
	{"lists, dates, boxes", `
- 打开 /selects.html
- 在城市下拉框中选择"北京"
- expect: {value: 北京, target: 城市}
- 在语言选择框中选择"中文"
- 在日期输入框输入 "2026-11-15"
- 勾选 女
- expect: {checked: 女}
- 在数量输入 "3"
- 点击 提交`, `
- 打开 /selects.html
- {select: {target: 城市, value: 纽约}, timeout: 1s}`, "OPTION_NOT_FOUND"},
	{"five hundred rows", `
- open /list500.html
- click Delete button in the row of User 250
- click edit user500@example.com`, `
- open /list500.html
- {click: Delete button in the row of User 501, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"tabs", `
- open /ask.html
- click New window
- switch to the second tab
- click Sign in
- expect: {title: Sign in}
- close the tab
- expect: {title: Ask}`, `
- open /ask.html
- {step: switch to tab 7, timeout: 1s}`, "BAD_VALUE"},
	{"icons by the page's source", `
- open /icons.html
- click the search icon
- click gear icon`, `
- open /icons.html
- {click: the print icon, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"selectors", `
- 打开 /selects.html
- {action: fill, selector: "textarea[name=memo]", value: hello}
- {action: expect, selector: "textarea[name=memo]", condition: value, text: hello}
- {action: expect, selector: "#city", condition: visible}
- {action: fill, selector: "textarea[name=memo]", value: ""}
- {action: expect, selector: "textarea[name=memo]", condition: value, text: ""}
- expect: {visible: "button:has-text('提交')"}
- {check: {role: radio, name: 女}, expect: {checked: 女}}`, `
- 打开 /selects.html
- {action: click, selector: "#nothing", timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"parts of the page", `
- open /parts.html
- expect: {visible: "the dialog"}
- expect: {visible: "Sure? dialog"}
- expect: {visible: "对话框"}
- expect: {visible: "Disk full alert"}
- expect: {visible: "提示"}
- expect: {visible: "Orders table"}
- expect: {visible: "表格"}
- expect: {visible: "the row of SO-1"}
- expect: {visible: "Steps list"}
- expect: {visible: "Breadcrumb navigation"}
- expect: {visible: "导航"}
- expect: {visible: "Address group"}
- expect: {visible: "Details tab panel"}
- expect: {visible: "标签面板"}
- expect: {visible: "Actions menu"}
- expect: {visible: "菜单"}
- expect: {visible: "Upload progress bar"}
- expect: {visible: "进度条"}
- expect: {visible: "separator"}
- click Clear up
- expect: {hidden: "the dialog"}
- expect: {hidden: "Sure? dialog"}
- expect: {hidden: "对话框"}
- expect: {hidden: "Disk full alert"}
- expect: {hidden: "提示"}
- expect: {hidden: "Orders table"}
- expect: {hidden: "表格"}
- expect: {hidden: "the row of SO-1"}
- expect: {hidden: "Steps list"}
- expect: {hidden: "Breadcrumb navigation"}
- expect: {hidden: "导航"}
- expect: {hidden: "Address group"}
- expect: {hidden: "Details tab panel"}
- expect: {hidden: "标签面板"}
- expect: {hidden: "Actions menu"}
- expect: {hidden: "菜单"}
- expect: {hidden: "Upload progress bar"}
- expect: {hidden: "进度条"}
- expect: {hidden: "separator"}`, `
- open /parts.html
- {expect: {hidden: 对话框}, timeout: 1s}`, "ASSERTION_FAILED"},
	{"a label without its field", `
- open /orphan.html
- type "Rome" into City
- expect: {value: Rome, target: City}`, `
- open /orphan.html
- {fill: {target: Phone, value: x}, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"behind a modal dialog", `
- open /orphan.html
- click Cancel
- click Ask
- click No
- click Cancel`, `
- open /orphan.html
- click Ask
- {click: Cancel, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"behind a dialog that says it is modal", `
- 打开 /modal.html
- 点击 归档项目
- 点击 删除项目
- 点击 取消`, `
- 打开 /modal.html
- 点击 删除项目
- {click: 归档项目, timeout: 1s}`, "ELEMENT_NOT_FOUND"},
	{"addresses", `
- open /login-en.html
- expect: {url: /login-en.html}
- open /ask.html
- go back
- expect: {url: {contains: login-en}}`, `
- open http://nowhere.invalid/`, "NAVIGATION_FAILED"},
	{"dialogs of the browser", `
- open /ask.html
- click Delete -> see "确定删除吗"
- 接受弹窗
- expect: {text: deleted}
- click Delete
- dismiss the dialog
- expect: {text: kept}
- click Greet
- accept the dialog with "Ann"
- expect: {text: hello Ann}`, `
- open /ask.html
- click Delete
- {click: Greet, timeout: 1s}`, "DIALOG_OPEN"},
}
