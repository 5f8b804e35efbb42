package scriptlab

import (
	"encoding/json"
	"fmt"
	"strings"
)

const demoServers = "shop: {builtin: demo-shop}, cloud: {builtin: demo-cloud}"

// demoTools are their tools, and fetch_result.
const demoTools = 12

// order is what the jobs read of an order.
type order struct {
	ID       json.Number
	Status   string
	PlacedAt string
	Total    struct{ Amount json.Number }
	Shipping struct{ Address struct{ CityEn string } }
}

// demoJobs are jobs over the servers of the demo: the first two are so small that a script can only cost more.
func demoJobs() []job {
	jobs := []job{oneOrder(), lastOrder(), cityTotals(), addNotes(), customDomains()}
	for i := range jobs {
		jobs[i].servers = demoServers
		jobs[i].tools = demoTools
	}
	return jobs
}

func oneOrder() job {
	status := func(text string) string {
		var o order
		read(text, &o)
		return quote(o.Status)
	}
	return job{
		name: "one small call: the status of an order", task: "What is the status of order 9007199254741063?",
		uses: []string{"shop__get_order"}, queries: []string{"read one order by its id"},
		steps: func(turn func(...call) []string) string {
			return status(turn(call{"shop__get_order", `{"id":9007199254741063}`})[0])
		},
		script: `return await shop.get_order({id: 9007199254741063n})`, taken: status,
	}
}

func lastOrder() job {
	last := func(text string) string {
		var list struct{ Orders []order }
		read(text, &list)
		return fmt.Sprintf(`{"placedAt":%q,"amount":%s}`, list.Orders[0].PlacedAt, plain(list.Orders[0].Total.Amount))
	}
	return job{
		name: "two small calls: a customer's last order", task: "When did Anna Miller order last, and for how much?",
		uses: []string{"shop__find_customers", "shop__list_orders"}, queries: []string{"find a customer by name", "orders of a customer"},
		steps: func(turn func(...call) []string) string {
			var found struct{ Customers []struct{ ID string } }
			read(turn(call{"shop__find_customers", `{"query":"Anna Miller"}`})[0], &found)
			return last(turn(call{"shop__list_orders", `{"customer":` + quote(found.Customers[0].ID) + `,"limit":1}`})[0])
		},
		looks:  []string{`return await shop.find_customers({query: "Anna Miller"})`},
		script: `return await shop.list_orders({customer: "c-002", limit: 1})`, taken: last,
	}
}

func cityTotals() job {
	return job{
		name: "36 orders: totals per city", task: "How much have we sold to each city, returned orders left out?",
		uses: []string{"shop__list_orders"}, queries: []string{"list all orders with totals and addresses"},
		steps: func(turn func(...call) []string) string {
			var list struct{ Orders []order }
			read(turn(call{"shop__list_orders", `{"limit":100}`})[0], &list)
			hundredths := map[string]int64{}
			for _, o := range list.Orders {
				if o.Status != "returned" {
					amount, _ := o.Total.Amount.Float64()
					hundredths[o.Shipping.Address.CityEn] += int64(amount*100 + 0.5)
				}
			}
			sums := map[string]float64{}
			for city, n := range hundredths {
				sums[city] = float64(n) / 100
			}
			return encode(sums)
		},
		looks: []string{`return await shop.list_orders({limit: 1})`},
		script: `const { orders } = await shop.list_orders({limit: 100});
const sums = {};
for (const o of orders) {
  const city = o.shipping.address.cityEn;
  if (o.status !== "returned") sums[city] = Math.round(((sums[city] ?? 0) + o.total.amount) * 100) / 100;
}
return sums`,
	}
}

func addNotes() job {
	const note = "Ask whether it has arrived"
	return job{
		name: "a note on each shipped or delivered order of two customers",
		task: `Add the note "` + note + `" to all orders of customers in Shanghai that are shipped or delivered. Which orders are these?`,
		uses: []string{"shop__find_customers", "shop__list_orders", "shop__add_note"},

		queries: []string{"find customers in a city", "orders of a customer", "add a note to an order"},
		steps: func(turn func(...call) []string) string {
			var found struct{ Customers []struct{ ID string } }
			read(turn(call{"shop__find_customers", `{"query":"Shanghai"}`})[0], &found)
			var lists []call
			for _, c := range found.Customers {
				lists = append(lists, call{"shop__list_orders", `{"customer":` + quote(c.ID) + `,"limit":100}`})
			}
			var ids []json.Number
			var notes []call
			for _, text := range turn(lists...) {
				var list struct{ Orders []order }
				read(text, &list)
				for _, o := range list.Orders {
					if o.Status == "shipped" || o.Status == "delivered" {
						ids = append(ids, o.ID)
						notes = append(notes, call{"shop__add_note", fmt.Sprintf(`{"orderId":%s,"text":%q}`, o.ID, note)})
					}
				}
			}
			turn(notes...)
			return encode(ids)
		},
		looks: []string{`return [await shop.find_customers({query: "Shanghai"}), await shop.list_orders({limit: 1})]`},
		script: `const { customers } = await shop.find_customers({query: "Shanghai"});
const lists = await Promise.all(customers.map(c => shop.list_orders({customer: c.id, limit: 100})));
const orders = lists.flatMap(l => l.orders).filter(o => ["shipped", "delivered"].includes(o.status));
await Promise.all(orders.map(o => shop.add_note({orderId: o.id, text: "` + note + `"})));
return orders.map(o => o.id)`,
	}
}

func customDomains() job {
	return job{
		name: "domains of each environment in a region",
		task: "Which domains of our own (type USER) may call our cloud environments in ap-shanghai?",
		uses: []string{"cloud__envQuery"}, queries: []string{"domains that may call a cloud environment"},
		steps: func(turn func(...call) []string) string {
			var list struct{ EnvList []struct{ EnvID string } }
			read(turn(call{"cloud__envQuery", `{"action":"list","region":"ap-shanghai"}`})[0], &list)
			var each []call
			for _, e := range list.EnvList {
				each = append(each, call{"cloud__envQuery", `{"action":"domains","envId":` + quote(e.EnvID) + `}`})
			}
			var names []string
			for _, text := range turn(each...) {
				var of struct {
					Domains []struct{ Domain, Type string }
				}
				read(text, &of)
				for _, d := range of.Domains {
					if d.Type == "USER" {
						names = append(names, d.Domain)
					}
				}
			}
			return encode(names)
		},
		looks: []string{
			`return await cloud.envQuery({action: "list", limit: 1})`,
			`return await cloud.envQuery({action: "domains", envId: "shop-prod-6f4047d4fe"})`,
		},
		script: `const { EnvList } = await cloud.envQuery({action: "list", region: "ap-shanghai"});
const all = await Promise.all(EnvList.map(e => cloud.envQuery({action: "domains", envId: e.EnvId})));
return all.flatMap(a => a.Domains).filter(d => d.Type === "USER").map(d => d.Domain)`,
	}
}

// read reads a result as a model does.
func read(text string, into any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		panic(fmt.Sprintf("%v: %.300s", err, text))
	}
}

// encode writes an answer.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// plain is an amount without its last zeros, as scripts write it.
func plain(n json.Number) string {
	f, err := n.Float64()
	if err != nil {
		panic(err)
	}
	return encode(f)
}
