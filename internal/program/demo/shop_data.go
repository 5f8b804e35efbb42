package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// firstOrder is 2^53 + 1: ids from here on break in a reader that makes floats of them.
const firstOrder = 9007199254740993

// money is an amount in hundredths. Its JSON is a number with both decimals: 12.50.
type money int64

// MarshalJSON writes the amount with its zeros.
func (m money) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%02d", m/100, m%100), nil
}

type customer struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Email   string  `json:"email"`
	Level   string  `json:"level"`
	Address address `json:"address"`
}

type address struct {
	Street  string  `json:"street"`
	City    string  `json:"city"`
	CityEn  string  `json:"cityEn"`
	Postal  string  `json:"postalCode"`
	Country country `json:"country"`
}

type country struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

type product struct {
	SKU      string `json:"sku"`
	Name     string `json:"name"`
	NameEn   string `json:"nameEn"`
	Category string `json:"category"`
	Price    money  `json:"price"`
}

type order struct {
	ID       int64    `json:"id"`
	Status   string   `json:"status"`
	PlacedAt string   `json:"placedAt"`
	Customer buyer    `json:"customer"`
	Lines    []line   `json:"lines"`
	Total    total    `json:"total"`
	Shipping shipping `json:"shipping"`
	Notes    []note   `json:"notes"`
}

type buyer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type line struct {
	SKU      string `json:"sku"`
	Name     string `json:"name"`
	Quantity int    `json:"quantity"`
	Price    money  `json:"price"`
	Sum      money  `json:"sum"`
}

type total struct {
	Goods    money  `json:"goods"`
	Shipping money  `json:"shipping"`
	Amount   money  `json:"amount"`
	Currency string `json:"currency"`
}

type shipping struct {
	Carrier  string  `json:"carrier"`
	Tracking string  `json:"tracking"`
	Address  address `json:"address"`
}

type note struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

type sale struct {
	Row      int    `json:"row"`
	Order    int64  `json:"order"`
	SoldAt   string `json:"soldAt"`
	Customer string `json:"customer"`
	SKU      string `json:"sku"`
	Name     string `json:"name"`
	Quantity int    `json:"quantity"`
	Price    money  `json:"price"`
	Sum      money  `json:"sum"`
}

func statuses() []string {
	return []string{"paid", "packed", "shipped", "delivered", "returned"}
}

func customers() []customer {
	cn, us, de := country{"CN", "中国"}, country{"US", "United States"}, country{"DE", "Deutschland"}
	return []customer{
		{"c-001", "王小明", "xiaoming.wang@example.com", "gold", address{"南京东路 100 号", "上海", "Shanghai", "200001", cn}},
		{"c-002", "Anna Miller", "anna.miller@example.com", "silver", address{"12 Harbor Street", "Boston", "Boston", "02110", us}},
		{"c-003", "李娜", "na.li@example.com", "gold", address{"天府大道 88 号", "成都", "Chengdu", "610041", cn}},
		{"c-004", "Jürgen Groß", "juergen.gross@example.com", "basic", address{"Lindenallee 7", "Köln", "Cologne", "50667", de}},
		{"c-005", "张伟", "wei.zhang@example.com", "basic", address{"中关村大街 27 号", "北京", "Beijing", "100080", cn}},
		{"c-006", "Maria O'Neil", "maria.oneil@example.com", "silver", address{"450 Lake Avenue", "Chicago", "Chicago", "60611", us}},
		{"c-007", "陈思雨", "siyu.chen@example.com", "silver", address{"体育西路 9 号", "广州", "Guangzhou", "510620", cn}},
		{"c-008", "赵强", "qiang.zhao@example.com", "basic", address{"淮海中路 381 号", "上海", "Shanghai", "200020", cn}},
	}
}

func products() []product {
	return []product{
		{"TEA-0101", "西湖龙井 250g", "Longjing green tea 250 g", "tea", 12850},
		{"TEA-0102", "云南普洱茶饼", "Yunnan pu'er tea cake", "tea", 8900},
		{"COF-0201", "精品挂耳咖啡 10 包", "Drip coffee bags, 10", "coffee", 4990},
		{"CUP-0301", "青瓷茶杯", "Celadon tea cup", "tableware", 1250},
		{"CUP-0302", "景德镇茶壶", "Jingdezhen teapot", "tableware", 26800},
		{"LMP-0401", "护眼台灯", "Desk lamp", "lighting", 15900},
		{"TWL-0501", "纯棉毛巾 3 条", "Cotton towels, 3", "textiles", 3990},
		{"HDP-0601", "降噪蓝牙耳机", "Noise-cancelling headphones", "audio", 69900},
		{"SPK-0602", "便携音箱", "Portable speaker <mini>", "audio", 19950},
		{"KBD-0701", "机械键盘 87 键", "Mechanical keyboard, 87 keys", "computers", 32900},
	}
}

func categories() []category {
	leaf := func(name, title string, products int) category {
		return category{name, title, products, []category{}}
	}
	return []category{
		{"food", "食品饮料", 3, []category{
			{"drinks", "饮品", 3, []category{leaf("tea", "茶叶", 2), leaf("coffee", "咖啡", 1)}},
		}},
		{"home", "家居生活", 4, []category{
			leaf("tableware", "餐具", 2), leaf("lighting", "灯具", 1), leaf("textiles", "家纺", 1),
		}},
		{"electronics", "数码电器", 3, []category{leaf("audio", "影音", 2), leaf("computers", "电脑外设", 1)}},
	}
}

// orders builds 36 orders, the newest first. Every value follows from its position.
func orders(buyers []customer, goods []product) []order {
	out := make([]order, 36)
	for i := range out {
		out[len(out)-1-i] = newOrder(i, buyers, goods)
	}
	return out
}

func newOrder(i int, buyers []customer, goods []product) order {
	who := pick(i*5+i/8, buyers)
	o := order{
		ID:       firstOrder + int64(i)*2, // odd, so that each id changes as a float
		Status:   pick(i*3+1, statuses()),
		PlacedAt: placedAt(i),
		Customer: buyer{who.ID, who.Name},
		Total:    total{Shipping: 800, Currency: "CNY"},
		Shipping: shipping{pick(i, []string{"顺丰速运", "中通快递", "DHL"}), "TR" + digest("tracking", fmt.Sprint(i))[:12], who.Address},
		Notes:    []note{},
	}
	for j := range 1 + i%3 {
		p := pick(i*7+j*3, goods)
		n := 1 + (i+j)%4
		l := line{p.SKU, p.Name, n, p.Price, p.Price * money(n)}
		o.Lines = append(o.Lines, l)
		o.Total.Goods += l.Sum
	}
	o.Total.Amount = o.Total.Goods + o.Total.Shipping
	return o
}

func placedAt(i int) string {
	return time.Date(2025, 9, 1, 8, 30, 0, 0, time.UTC).Add(time.Duration(i) * 397 * time.Minute).Format(time.RFC3339)
}

func sales(n int, buyers []customer, goods []product) []sale {
	out := make([]sale, n)
	for i := range out {
		p, count := pick(i*7, goods), 1+i%5
		out[i] = sale{
			Row: i + 1, Order: firstOrder + int64(i)*2, SoldAt: placedAt(i), Customer: pick(i*3, buyers).Name,
			SKU: p.SKU, Name: p.Name + " / " + p.NameEn, Quantity: count, Price: p.Price, Sum: p.Price * money(count),
		}
	}
	return out
}

func pick[T any](i int, from []T) T { return from[i%len(from)] }

// digest gives hex digits that look random and follow from the parts.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}
