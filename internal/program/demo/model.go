package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolfit/toolfit/internal/agent/script"
)

// Model is the model of the demo's agents: a script that talks about the shop's orders and the
// cloud's environments, in English or Chinese, and calls tools with typical mistakes of models.
func Model() http.Handler { return script.New(say) }

// exchange is the last question and the results of calls since.
type exchange struct {
	question string
	chinese  bool
	inText   bool // calls are written as text
	results  []string
}

var taggedResult = regexp.MustCompile(`<tool_result>(.*)</tool_result>`)

func lastExchange(r *script.Request) exchange {
	x := exchange{inText: len(r.Tools) == 0}
	for _, m := range r.Messages {
		text := m.Text()
		switch {
		case m.Role == "tool":
			x.results = append(x.results, text)
		case m.Role == "user" && strings.HasPrefix(text, "<tool_result>"):
			for _, found := range taggedResult.FindAllStringSubmatch(text, -1) {
				var result struct{ Result, Error string }
				json.Unmarshal([]byte(found[1]), &result) // empty if unreadable
				x.results = append(x.results, result.Result+result.Error)
			}
		case m.Role == "user":
			x.question = strings.ToLower(text)
			x.results = nil
		}
	}
	x.chinese = strings.ContainsFunc(x.question, func(c rune) bool { return unicode.Is(unicode.Han, c) })
	return x
}

func (x *exchange) mentions(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(x.question, w) })
}

// in is a sentence in the language of the question.
func (x *exchange) in(english, chinese string, args ...any) string {
	if x.chinese {
		return fmt.Sprintf(chinese, args...)
	}
	return fmt.Sprintf(english, args...)
}

func (x *exchange) call(text, name, args string) script.Answer {
	id := fmt.Sprintf("call_%03d", len(x.results)+1)
	if x.inText {
		return script.Answer{Text: fmt.Sprintf("%s\n<tool_call>{\"id\":%q,\"tool_name\":%q,\"arguments\":%s}</tool_call>", text, id, name, args)}
	}
	return script.Answer{Text: text, Calls: []script.Call{{ID: id, Name: name, Arguments: args}}}
}

// say is what the script says next.
func say(r *script.Request) script.Answer {
	x := lastExchange(r)
	switch {
	case x.mentions("order", "订单"):
		return x.orders()
	case x.mentions("env", "环境"):
		return x.environments()
	}
	return script.Answer{Text: x.in(
		"I am the demo's script, not a model. Ask me about the paid orders of the shop, or about the environments of the cloud.",
		"我是演示脚本，不是模型。请问我商店里已付款的订单，或者云环境。")}
}

var (
	orderID    = regexp.MustCompile(`"id":\s*(\d{10,})`)
	orderTotal = regexp.MustCompile(`"total":\s*(\d+)\s*}\s*$`)
	buyerName  = regexp.MustCompile(`"name":\s*"([^"]+)"`)
	amount     = regexp.MustCompile(`"amount":\s*([\d.]+)`)
)

// first is the first match of an expression, or a question mark.
func first(e *regexp.Regexp, text string) string {
	if found := e.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return "?"
}

func (x *exchange) orders() script.Answer {
	switch len(x.results) {
	case 0:
		return x.call(x.in("Let me look at the orders.", "我来查看订单。"), "shop__list_orders", `{"status":"PAID","limit":"2"}`)
	case 1:
		id := first(orderID, x.results[0])
		if id == "?" {
			return script.Answer{Text: x.in("The shop gave no orders: %s", "商店没有给出结果：%s", x.results[0])}
		}
		return x.call(x.in("Now the newest of them.", "再看最新的一笔。"), "shop__get_order", `{"id":`+id+`}`)
	}
	list := x.results[0]
	one := x.results[1]
	return script.Answer{Text: x.in(
		"%s orders are paid. The newest, %s, is from %s: %s CNY.", "已付款的订单有 %s 笔。最新的是 %s，客户 %s，金额 %s 元。",
		first(orderTotal, strings.TrimSpace(list)), first(orderID, list), first(buyerName, one), first(amount, one))}
}

func (x *exchange) environments() script.Answer {
	if len(x.results) == 0 {
		return x.call(x.in("Let me ask the cloud.", "我来查询云环境。"), "cloud__envQuery", `{"action":"list"}`)
	}
	n := strings.Count(x.results[0], `"EnvId"`)
	return script.Answer{Text: x.in("I can see %d environments; what did not fit into the answer can be fetched.", "看到 %d 个环境；没有放进回答的部分可以再取。",
		n)}
}
