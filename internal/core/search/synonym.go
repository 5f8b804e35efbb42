package search

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// thesaurus maps a term to its synonyms.
var thesaurus = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(verbs + nouns) {
		var forms [][]string
		for _, word := range strings.Fields(line) {
			if f := termsOf(word); len(f) > 0 {
				forms = append(forms, f)
			}
		}
		for i, f := range forms {
			key := f[len(f)-1] // a longer Han word is known by its last pair
			for j, other := range forms {
				if i != j {
					all[key] = append(all[key], other...)
				}
			}
		}
	}
	return all
})

// actions are the terms of the synonyms that are verbs.
var actions = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(verbs) {
		for _, term := range termsOf(word) {
			set[term] = true
		}
	}
	return set
})

// termsOf returns the terms of a word; of a Han word only the pairs, because single characters
// mean too little.
func termsOf(word string) []string {
	var list []string
	words(word, func(term string) {
		if utf8.RuneCountInString(term) > 1 {
			list = append(list, term)
		}
	})
	return list
}

// verbs and nouns are synonyms in the context of tools, one group per line. They also let a
// Chinese sentence find an English tool and vice versa.
const verbs = `
create new make build generate 创建 新建 生成
add append insert 添加 新增 增加 插入
delete remove erase drop discard 删除 移除 去掉
clear reset empty 清空 清除 重置
update edit modify change alter adjust 更新 修改 编辑 更改 变更 调整
set configure setting config option preference 设置 配置 设定 选项
list browse enumerate show 列出 列表 浏览
read fetch retrieve obtain load view open get 读取 获取 查看 打开
search query lookup find 搜索 查询 查找 检索
send deliver submit post 发送 提交 发布
write save store persist 写入 保存 存储
run execute invoke launch 运行 执行
start begin launch 启动 开始
stop cancel abort terminate end 停止 取消 终止 结束
copy duplicate clone 复制 拷贝 克隆
move transfer relocate 移动 转移
rename 重命名 改名
upload import 上传 导入
download export 下载 导出
share 分享 共享
check verify validate test inspect 检查 验证 校验 测试
calculate compute count 计算 统计
compare difference diff 比较 对比 差异
convert transform translate 转换 换算
translate translation language 翻译 语言
analyze analysis evaluate assess 分析 评估
summarize summary overview 总结 摘要 概述
book reserve reservation booking 预订 预定 预约
buy purchase shop shopping order 购买 下单 购物
pay payment 支付 付款
click press tap 点击 单击
type input enter fill 输入 填写
screenshot capture 截图 截屏
recommend suggest suggestion recommendation 推荐 建议
deploy release publish 部署 发布
monitor alert alarm 监控 告警
plan planning 计划 规划
`

const nouns = `
order 订单
price cost rate quote 价格 费用 报价
cheap discount deal coupon 便宜 折扣 优惠
product item goods merchandise 商品 产品
file document 文件 文档
folder directory 目录 文件夹
image picture photo photograph 图片 图像 照片
video movie film clip 视频 电影 影片
music song track audio 音乐 歌曲 音频
email mail 邮件 邮箱
message chat sms text 消息 短信 聊天
user account member profile 用户 账号 账户 成员
password credential secret 密码 凭证
login sign authenticate 登录 登陆
database table 数据库
table sheet spreadsheet worksheet 表格 工作表
row record entry 记录
field column attribute property 字段 属性
page website site web webpage url 网页 网站 页面 网址
browser 浏览器
weather forecast temperature climate 天气 气温 预报
map location place address 地图 位置 地点 地址
route direction navigation navigate 路线 导航
distance 距离
city town 城市
travel trip tour journey vacation 旅行 旅游 行程
flight airline plane 航班 机票 飞机
train railway 火车 高铁 列车
hotel accommodation lodging 酒店 住宿 宾馆
restaurant dining food meal 餐厅 饭店 美食
recipe cook cooking 菜谱 食谱
news headline article 新闻 资讯 文章
stock share equity 股票
finance financial money 金融 财务
currency exchange 货币 汇率
company business firm enterprise 公司 企业
job career employment position hiring 工作 职位 招聘
paper research academic scholarly 论文 研究 学术
book novel 书籍 图书
game play 游戏
health medical medicine 健康 医疗
course learn education study lesson 课程 学习 教育
calendar schedule event meeting appointment 日历 日程 会议 安排
time date 时间 日期
task todo reminder 任务 待办 提醒
note memo 笔记 备注
code program source 代码 程序
repository repo 仓库
issue bug ticket problem 问题 工单 缺陷
commit 提交
branch 分支
server host machine instance 服务器 主机 实例
environment 环境
log 日志
error failure exception 错误 异常 失败
status state 状态
permission access role 权限 角色
function method 函数 方法
container docker 容器
cloud 云端
network 网络
device 设备
chart graph plot diagram 图表
report 报告 报表
number amount quantity 数量 金额
name title 名称 标题
description detail information 描述 详情 信息
comment review feedback 评论 评价 反馈
popular trending top hot 热门 流行
latest recent current 最新 最近 当前
actor cast credit 演员
pdf
domain dns 域名
gift present 礼物
car vehicle automobile 汽车 车辆
house property estate apartment rent 房屋 房产 租房
law legal 法律
tax 税务
art artwork draw 绘画
`
