package fake

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// environment is the data of one row. All values follow from its position, so every process has the
// same bytes.
type environment struct {
	N                int
	ID, Alias        string
	Type, Region     string
	Created, Updated string
	AppID            string
	Bucket, Site     string
	CostCenter       int

	row json.RawMessage // with the fields of the API that it stands for
}

func (e environment) MarshalJSON() ([]byte, error) { return e.row, nil }

//go:embed row.json
var rowText string

// projects are invented; each has a production and a test environment.
const projects = `shop 优选商城 order 订单中心 crm 客户管理 blog 个人博客 edu 在线课堂 clinic 门诊预约 food 扫码点餐 hotel 酒店预订
	news 资讯头条 wallet 会员钱包 parking 智慧停车 library 图书借阅 fitness 健身打卡 weather 天气助手 survey 问卷调查 ticket 演出票务
	repair 物业报修 express 快递查询 chatbot 智能客服 photo 云端相册`

func environments() []environment {
	form := template.Must(template.New("row").Funcs(template.FuncMap{
		"pick": pick, "digest": digest, "uuid": uuid, "mod": func(a, b int) int { return a % b },
	}).Parse(rowText))
	var out []environment
	names := strings.Fields(projects)
	for i := 0; i < len(names); i += 2 {
		out = append(out, newEnvironment(form, i, names[i]+"-prod", names[i+1]+"·生产"))
		out = append(out, newEnvironment(form, i+1, names[i]+"-test", names[i+1]+"·测试"))
	}
	return out
}

func newEnvironment(form *template.Template, n int, stem, alias string) environment {
	created := time.Date(2023, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * 611 * time.Minute * 23)
	e := environment{
		N: n, ID: stem + "-" + digest(stem)[:10], Alias: alias,
		Type:    pick(n, "baas", "baas", "baas", "baas", "baas", "baas", "weda", "baas"),
		Region:  pick(n/3, "ap-shanghai", "ap-guangzhou", "ap-shanghai", "ap-beijing", "ap-singapore"),
		Created: created.Format(time.DateTime), Updated: created.Add(time.Duration(n+7) * 1543 * time.Minute).Format(time.DateTime),
		AppID: fmt.Sprint(1250000000 + n*7919), CostCenter: 1000 + n*37,
	}
	e.Bucket = digest(e.ID, "bucket")[:4] + "-" + e.ID + "-" + e.AppID
	e.Site = e.ID + "-" + e.AppID + ".web.example.com"
	var row, compact bytes.Buffer
	if err := form.Execute(&row, e); err != nil {
		panic("fake: write a row: " + err.Error())
	}
	if err := json.Compact(&compact, row.Bytes()); err != nil {
		panic("fake: write a row: " + err.Error())
	}
	e.row = compact.Bytes()
	return e
}

// quotaOf is how much of a monthly quota is used.
func quotaOf(e environment, metric string) any {
	return struct {
		MetricName string
		Value      int
		SubValue   string
	}{metric, len(e.ID) * 1031, fmt.Sprint(len(e.ID) * 1031)}
}

// curveOf is a metric over time: one value per five minutes of an hour.
func curveOf(e environment, metric, from, to string) any {
	values := make([]int, 12)
	for i := range values {
		values[i] = (len(e.ID)*i + len(metric)) % 97
	}
	return struct {
		StartTime, EndTime, MetricName string
		Period                         int
		Values                         []int
	}{from, to, metric, 300, values}
}

type domain struct {
	ID         string `json:"Id"`
	Domain     string
	Type       string
	Status     string
	CreateTime string
	UpdateTime string
}

// domainsOf are the domains that may call the environment from a browser.
func domainsOf(e environment) any {
	return struct {
		EnvID   string `json:"EnvId"`
		Domains []domain
	}{e.ID, []domain{
		{uuid(e.ID, "d1"), "localhost:3000", "SYSTEM", "ENABLE", e.Created, e.Created},
		{uuid(e.ID, "d2"), e.Site, "SYSTEM", "ENABLE", e.Created, e.Created},
		{uuid(e.ID, "d3"), "www." + e.ID + ".example.com", "USER", "ENABLE", e.Created, e.Updated},
	}}
}

// hostingOf is the static hosting of the environment.
func hostingOf(e environment) any {
	return struct {
		EnvID string `json:"EnvId"`
		Data  json.RawMessage
	}{e.ID, rawjson.Get(e.row, "StaticStorages")}
}

func pick(i int, from ...string) string { return from[i%len(from)] }

// digest returns pseudo-random hex digits.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:])
}

func uuid(parts ...string) string {
	d := digest(parts...)
	return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:32]
}
