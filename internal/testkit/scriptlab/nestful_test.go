package scriptlab

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// nestfulText holds chains of calls that people have written, each with what the calls before it returned, and the functions
// of which they are made. In the order of the file, the chains are all those of at least four calls in which a call uses what
// another returned, whose arguments fit the definitions, and whose functions can be run here: what they return follows from
// their arguments, or from a table that does not change. Others look up news, songs or films, or make random passwords.
//
//go:embed testdata/nestful.json
var nestfulText []byte

type nestful struct {
	Chains []struct {
		Number int
		Input  string
		Output []gold
	}
	Functions []function
}

// gold is one call of a chain. The last, var_result, is the answer.
type gold struct {
	Name      string
	Arguments map[string]json.RawMessage
	Label     string
}

type function struct {
	Name, Description string
	QueryParameters   map[string]map[string]any `json:"query_parameters"`
	Parameters        map[string]map[string]any
	OutputParameters  map[string]map[string]any `json:"output_parameters"`
}

// nestfulJobs makes a job of each chain. All functions of the set are in the list, as there are.
func nestfulJobs(t *testing.T) []job {
	var set nestful
	if err := json.Unmarshal(nestfulText, &set); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(serveFunctions(t, set.Functions))
	t.Cleanup(server.Close)
	var jobs []job
	for _, c := range set.Chains {
		j := job{
			name: fmt.Sprintf("NESTFUL %d", c.Number), task: c.Input, servers: "functions: {url: " + server.URL + "}", tools: len(set.Functions) + 1,
			script: nestfulScripts[c.Number], steps: func(turn func(...call) []string) string { return follow(c.Output, turn) },
		}
		calls := c.Output[:len(c.Output)-1]
		for _, g := range calls {
			j.uses = append(j.uses, "functions__"+g.Name)
			j.queries = append(j.queries, nestfulQueries[g.Name])
			if strings.Contains(encode(calls), "$"+g.Label+".") {
				j.reads = append(j.reads, "functions__"+g.Name)
			}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// follow makes the calls of a chain, in each turn those that have what they need.
func follow(chain []gold, turn func(...call) []string) string {
	known := map[string]json.RawMessage{}
	for {
		var calls []call
		var labels []string
		for _, g := range chain {
			args, ready := resolve(g.Arguments, known)
			switch {
			case known[g.Label] != nil || !ready:
			case g.Name == "var_result" && len(known) == len(chain)-1:
				return args
			case g.Name != "var_result":
				calls = append(calls, call{"functions__" + g.Name, args})
				labels = append(labels, g.Label)
			}
		}
		for i, text := range turn(calls...) {
			known[labels[i]] = json.RawMessage(text)
		}
	}
}

var reference = regexp.MustCompile(`^\$(var\d)(?:\.(\w+))?\$$`)

// resolve puts what was returned into arguments: "$var1.profit$", "$var1$", or a sum of such. It tells whether all is known.
func resolve(args map[string]json.RawMessage, known map[string]json.RawMessage) (string, bool) {
	out := map[string]json.RawMessage{}
	for name, raw := range args {
		out[name] = raw
		var text string
		if json.Unmarshal(raw, &text) != nil || !strings.HasPrefix(text, "$var") {
			continue
		}
		var values []json.RawMessage
		for part := range strings.SplitSeq(text, " + ") {
			m := reference.FindStringSubmatch(part)
			value := known[m[1]]
			if value == nil {
				return "", false
			}
			if m[2] != "" {
				var fields map[string]json.RawMessage
				read(string(value), &fields)
				value = fields[m[2]]
			}
			values = append(values, value)
		}
		if out[name] = values[0]; len(values) > 1 {
			out[name] = sum(values)
		}
	}
	return encode(out), true
}

func sum(values []json.RawMessage) json.RawMessage {
	total := 0.0
	for _, v := range values {
		var n float64
		read(string(v), &n)
		total += n
	}
	return json.RawMessage(encode(cents(total)))
}

// nestfulQueries are what a model would search for, in words of the tasks.
var nestfulQueries = map[string]string{
	"calculate_distance":      "distance between two places",
	"calculate_sales_tax":     "sales tax on a purchase",
	"calculate_loan_payment":  "monthly loan payment",
	"calculate_shipping_cost": "shipping cost of a package",
	"calculate_profit":        "profit from a business transaction",
	"convert_currency":        "convert an amount from USD to EUR",
	"calculate_gcd":           "GCD of two numbers",
	"calculate_gross_salary":  "gross salary",
	"schedule_meeting":        "schedule a meeting",
	"calculate_squared":       "square of a number",
	"generate_qr_code":        "generate a QR code for a URL",
	"calculate_tip":           "tip on an amount",
	"calculate_interest":      "interest earned on an amount",
	"calculate_BMI":           "BMI of a person",
}

// nestfulScripts are the chains as scripts.
var nestfulScripts = map[int]string{
	3: `const f = functions;
const distance = await f.calculate_distance({origin: "New York", destination: "Los Angeles", mode: "driving"});
return {
  distance,
  sales_tax: await f.calculate_sales_tax({amount: 50, tax_rate: 0.08}),
  loan_amount: await f.calculate_loan_payment({principal: 10000, interest_rate: 5, loan_term: 5}),
  shipping_cost: await f.calculate_shipping_cost({distance: distance.distance, weight: 2}),
}`,
	9: `const f = functions;
const profit = await f.calculate_profit({expenses: 5000, revenue: 7000});
const currency_value = await f.convert_currency({amount: profit.profit, from: "USD", to: "EUR"});
const gcd = await f.calculate_gcd({num1: profit.profit, num2: 5000});
const gross_salary = await f.calculate_gross_salary({basic_salary: 2000, allowance: gcd.gcd});
return {profit, currency_value, gcd, gross_salary}`,
	20: `const f = functions;
const converted_currency = await f.convert_currency({amount: 100, from: "USD", to: "EUR"});
return {
  converted_currency,
  scheduled_meeting: await f.schedule_meeting({date: "2023-01-01", title: "Weekly Meeting", participants: ["John", "Jane", "Jim"]}),
  squared_number: await f.calculate_squared({number: converted_currency.converted_amount}),
  qr_code: await f.generate_qr_code({size: 200, url: "https://www.example.com"}),
}`,
	137: `const f = functions;
const shipping_cost = await f.calculate_shipping_cost({distance: 500, weight: 10});
const tip = await f.calculate_tip({bill_total: shipping_cost.shipping_cost, tip_percentage: 15});
const converted_currency = await f.convert_currency({amount: shipping_cost.shipping_cost + tip.tip_amount, from: "USD", to: "Euro"});
const interest = await f.calculate_interest({interest_rate: 5, principal_amount: converted_currency.converted_amount, time_period: 10});
return {shipping_cost, tip, converted_currency, interest}`,
	144: `const f = functions;
const gross_salary = await f.calculate_gross_salary({allowance: 500, basic_salary: 1500});
return {
  BMI: await f.calculate_BMI({height: 1.75, weight: 70}),
  gross_salary,
  converted_currency: await f.convert_currency({amount: gross_salary.gross_salary, from: "INR", to: "USD"}),
  scheduled_meeting: await f.schedule_meeting({date: "2022-12-31", participants: ["John Doe", "Jane Doe"], title: "Monthly Review"}),
}`,
}

// arguments of a function: numbers are floats.
type arguments map[string]any

func (a arguments) number(name string) float64 { return a[name].(float64) }

// functions are those that the chains need. The others are only listed.
var functions = map[string]func(a arguments) any{
	"calculate_distance":      func(arguments) any { return 2790 }, // miles from New York to Los Angeles, by road
	"calculate_sales_tax":     func(a arguments) any { return cents(a.number("amount") * a.number("tax_rate")) },
	"calculate_shipping_cost": func(a arguments) any { return cents(a.number("weight")*0.5 + a.number("distance")*0.1) },
	"calculate_profit":        func(a arguments) any { return a.number("revenue") - a.number("expenses") },
	"calculate_gross_salary":  func(a arguments) any { return a.number("basic_salary") + a.number("allowance") },
	"calculate_squared":       func(a arguments) any { return a.number("number") * a.number("number") },
	"calculate_tip":           func(a arguments) any { return cents(a.number("bill_total") * a.number("tip_percentage") / 100) },
	"calculate_BMI":           func(a arguments) any { return cents(a.number("weight") / a.number("height") / a.number("height")) },
	"schedule_meeting":        func(arguments) any { return "M-1001" },
	"generate_qr_code":        func(a arguments) any { return fmt.Sprintf("QR%v:%s", a["size"], a["url"]) },
	"calculate_interest": func(a arguments) any {
		return cents(a.number("principal_amount") * a.number("interest_rate") / 100 * a.number("time_period"))
	},
	"calculate_loan_payment": func(a arguments) any {
		rate := a.number("interest_rate") / 1200
		return cents(a.number("principal") * rate / (1 - math.Pow(1+rate, -12*a.number("loan_term"))))
	},
	"convert_currency": func(a arguments) any {
		rates := map[any]float64{"USD": 1, "EUR": 0.92, "Euro": 0.92, "INR": 0.012}
		return cents(a.number("amount") * rates[a["from"]] / rates[a["to"]])
	},
	"calculate_gcd": func(a arguments) any {
		x, y := int(a.number("num1")), int(a.number("num2"))
		for y != 0 {
			x, y = y, x%y
		}
		return x
	},
}

func cents(f float64) float64 { return math.Round(f*100) / 100 }

// serveFunctions is an MCP server over HTTP whose tools are the functions.
func serveFunctions(t *testing.T, all []function) http.Handler {
	var defs []any
	returns := map[string]string{} // the one field that each returns
	for _, f := range all {
		params := f.QueryParameters
		if params == nil {
			params = f.Parameters
		}
		defs = append(defs, map[string]any{
			"name": f.Name, "description": f.Description, "inputSchema": schemaOf(params), "outputSchema": schemaOf(f.OutputParameters),
		})
		returns[f.Name] = slices.Sorted(maps.Keys(f.OutputParameters))[0]
	}
	list := encode(map[string]any{"tools": defs})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments arguments
			}
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"functions","version":"1"}}`
		case "tools/list":
			result = list
		case "tools/call":
			run := functions[m.Params.Name]
			if run == nil {
				t.Errorf("%s is only listed", m.Params.Name)
				return
			}
			value := map[string]any{returns[m.Params.Name]: run(m.Params.Arguments)}
			result = encode(map[string]any{"content": []any{map[string]any{"type": "text", "text": encode(value)}}, "structuredContent": value})
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	})
}

// schemaOf is the schema of an object with these members. The set says of each member whether it is required.
func schemaOf(members map[string]map[string]any) any {
	properties := map[string]any{}
	required := []string{}
	for name, member := range members {
		is := maps.Clone(member)
		if is["required"] == true {
			required = append(required, name)
		}
		delete(is, "required")
		properties[name] = is
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
