package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// environment is one row of the list, with the field names of the API it stands for.
type environment struct {
	EnvID             string `json:"EnvId"`
	Alias             string
	Status            string
	EnvType           string
	Region            string
	PackageName       string
	PackageID         string `json:"PackageId"`
	IsDefault         bool
	Databases         []database
	Storages          []storage
	Functions         []function
	LogServices       []logService
	StaticStorages    []staticStorage
	Tags              []pair
	EnvPreferences    []pair
	CreateTime        string
	UpdateTime        string
	Source            string
	PackageType       string
	EnvStatus         string
	IsAutoDegrade     bool
	EnvChannel        string
	PayMode           string
	IsDauPackage      bool
	CustomLogServices []customLog
}

type database struct {
	InstanceID string `json:"InstanceId"`
	Status     string
	Region     string
	UpdateTime string
}

type storage struct {
	Region    string
	Bucket    string
	CdnDomain string
	AppID     string `json:"AppId"`
}

type function struct {
	Namespace string
	Region    string
}

type logService struct {
	LogsetName string
	LogsetID   string `json:"LogsetId"`
	TopicName  string
	TopicID    string `json:"TopicId"`
	Region     string
	Period     int
}

type staticStorage struct {
	StaticDomain   string
	DefaultDirName string
	Status         string
	Region         string
	Bucket         string
	Remark         string
}

type pair struct {
	Key   string
	Value string
}

type customLog struct {
	CLSRegion   string
	CLSLogsetID string `json:"CLSLogsetId"`
	CLSTopicID  string `json:"CLSTopicId"`
	CreateTime  string
}

type domain struct {
	ID         string `json:"Id"`
	Domain     string
	Type       string
	Status     string
	CreateTime string
	UpdateTime string
}

// projects gives the invented projects; each has a production and a test environment.
func projects() [][2]string {
	return [][2]string{
		{"shop", "优选商城"}, {"order", "订单中心"}, {"crm", "客户管理"}, {"blog", "个人博客"},
		{"edu", "在线课堂"}, {"clinic", "门诊预约"}, {"food", "扫码点餐"}, {"hotel", "酒店预订"},
		{"news", "资讯头条"}, {"wallet", "会员钱包"}, {"parking", "智慧停车"}, {"library", "图书借阅"},
		{"fitness", "健身打卡"}, {"weather", "天气助手"}, {"survey", "问卷调查"}, {"ticket", "演出票务"},
		{"repair", "物业报修"}, {"express", "快递查询"}, {"chatbot", "智能客服"}, {"photo", "云端相册"},
	}
}

// environments builds the 40 rows. Every value follows from its position, so the bytes
// are the same in every process.
func environments() []environment {
	var out []environment
	for _, p := range projects() {
		out = append(out, newEnvironment(len(out), p[0]+"-prod", p[1]+"·生产"))
		out = append(out, newEnvironment(len(out), p[0]+"-test", p[1]+"·测试"))
	}
	return out
}

func newEnvironment(i int, stem, alias string) environment {
	id := stem + "-" + digest(stem)[:10]
	pack := pick(i, []pair{{"baas_free", "免费版"}, {"baas_personal", "个人版"}, {"baas_standard", "标准版"}, {"baas_personal", "个人版"}, {"baas_enterprise", "企业版"}})
	region := pick(i/3, []string{"ap-shanghai", "ap-guangzhou", "ap-shanghai", "ap-beijing", "ap-singapore"})
	created := time.Date(2023, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(i) * 611 * time.Minute * 23)
	env := environment{
		EnvID: id, Alias: alias, Status: "NORMAL", EnvType: "baas", Region: region,
		PackageName: pack.Value, PackageID: pack.Key, IsDefault: i == 0,
		CreateTime: stamp(created), UpdateTime: stamp(created.Add(time.Duration(i+7) * 1543 * time.Minute)),
		Source: pick(i, []string{"miniapp", "qcloud", "qcloud"}), PackageType: "baas", EnvStatus: "RUNNING",
		IsAutoDegrade: i%4 == 1, EnvChannel: pick(i, []string{"ide", "qc_console", "dcloud"}),
		PayMode: pick(i, []string{"postpaid", "prepayment"}), IsDauPackage: i%9 == 4,
	}
	if i%8 == 6 {
		env.EnvType = "weda"
		env.PackageType = "weda"
	}
	if i%13 == 12 {
		env.Status = "UNAVAILABLE"
		env.EnvStatus = "ISOLATED"
	}
	env.addResources(i)
	env.addLabels(i)
	return env
}

// addResources fills in what the environment is made of: the fat of the row.
func (e *environment) addResources(i int) {
	appID := fmt.Sprint(1250000000 + i*7919)
	bucket := digest(e.EnvID, "bucket")[:4] + "-" + e.EnvID + "-" + appID
	e.Databases = []database{{"tnt-" + digest(e.EnvID, "db")[:9], "RUNNING", e.Region, e.UpdateTime}}
	e.Storages = []storage{{e.Region, bucket, bucket + ".cdn.example.com", appID}}
	e.Functions = []function{{e.EnvID, e.Region}}
	e.LogServices = []logService{{
		"TCB-logset-" + e.EnvID, uuid(e.EnvID, "logset"), "TCB-topic-" + e.EnvID, uuid(e.EnvID, "topic"), e.Region, 7 + i%3*23,
	}}
	e.StaticStorages = []staticStorage{{
		e.EnvID + "-" + appID + ".web.example.com", "/", "online", e.Region, "static-" + bucket,
		"默认静态托管，域名由系统分配，仅用于开发与调试",
	}}
	e.CustomLogServices = []customLog{}
	if i%5 == 2 {
		e.CustomLogServices = []customLog{{e.Region, uuid(e.EnvID, "clsset"), uuid(e.EnvID, "clstopic"), e.CreateTime}}
	}
}

// addLabels fills in tags and preferences.
func (e *environment) addLabels(i int) {
	e.Tags = []pair{
		{"负责人", pick(i, []string{"王芳", "李伟", "张敏", "刘洋", "陈静", "杨帆", "赵磊"})},
		{"部门", pick(i/2, []string{"电商事业部", "教育产品组", "平台研发部", "用户增长组"})},
		{"cost-center", fmt.Sprintf("CC-%04d", 1000+i*37)},
	}
	e.EnvPreferences = []pair{
		{"console.theme", pick(i, []string{"light", "dark"})},
		{"database.aclTag", pick(i, []string{"PRIVATE", "READONLY", "ADMINWRITE"})},
		{"login.anonymous", pick(i, []string{"enabled", "disabled", "disabled"})},
		{"gateway.trace", digest(e.EnvID, "trace")[:24]},
	}
}

// quotaOf gives how much of a monthly allowance is used.
func quotaOf(e environment, metric string) any {
	return struct {
		MetricName string
		Value      int
		SubValue   string
	}{metric, len(e.EnvID) * 1031, fmt.Sprint(len(e.EnvID) * 1031)}
}

// curveOf gives a metric over time: one value for every five minutes of an hour.
func curveOf(e environment, metric, from, to string) any {
	values := make([]int, 12)
	for i := range values {
		values[i] = (len(e.EnvID)*i + len(metric)) % 97
	}
	return struct {
		StartTime, EndTime, MetricName string
		Period                         int
		Values                         []int
	}{from, to, metric, 300, values}
}

// domainsOf gives the domains that may call the environment from a browser.
func domainsOf(e environment) any {
	site := e.StaticStorages[0].StaticDomain
	return struct {
		EnvID   string `json:"EnvId"`
		Domains []domain
	}{e.EnvID, []domain{
		{uuid(e.EnvID, "d1"), "localhost:3000", "SYSTEM", "ENABLE", e.CreateTime, e.CreateTime},
		{uuid(e.EnvID, "d2"), site, "SYSTEM", "ENABLE", e.CreateTime, e.CreateTime},
		{uuid(e.EnvID, "d3"), "www." + e.EnvID + ".example.com", "USER", "ENABLE", e.CreateTime, e.UpdateTime},
	}}
}

// hostingOf gives the static website hosting of the environment.
func hostingOf(e environment) any {
	return struct {
		EnvID string `json:"EnvId"`
		Data  []staticStorage
	}{e.EnvID, e.StaticStorages}
}

// pick takes the values in turn.
func pick[T any](i int, from []T) T { return from[i%len(from)] }

func stamp(t time.Time) string { return t.Format("2006-01-02 15:04:05") }

// digest gives hex digits that look random and follow from the parts.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// uuid writes a digest in the form of a UUID.
func uuid(parts ...string) string {
	d := digest(parts...)
	return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:32]
}
