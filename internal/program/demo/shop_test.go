package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
)

func TestShopTools(t *testing.T) {
	tests := []struct {
		name, tool, args string
		isError          bool
		want             []string
	}{
		{"orders come the newest first, 20 at most", "list_orders", `{}`, false, []string{`{
  "orders": [
    {
      "id": 9007199254741063`, `"total": 36`}},
		{"limit is kept and total tells the rest", "list_orders", `{"limit":1,"status":"paid"}`, false,
			[]string{`"status": "paid"`, `"total": 7`}},
		{"orders of one customer", "list_orders", `{"customer":"c-003","limit":100}`, false, []string{`"id": "c-003"`}},
		{"an unknown customer is answered with near ids", "list_orders", `{"customer":"c-03"}`, true, []string{"no customer", "c-003"}},
		{"an unknown status is refused", "list_orders", `{"status":"lost"}`, true, []string{"status: expected one of paid, packed"}},
		{"a limit of zero is refused", "list_orders", `{"limit":0}`, true,
			[]string{"limit: expected an integer from 1 to 100, got the number 0"}},

		{"an id above 2^53 is found by its last digit", "get_order", `{"id":9007199254740995}`, false, []string{`"id": 9007199254740995`}},
		{"money keeps its zeros", "get_order", `{"id":9007199254740993}`, false, []string{`"price": 128.50`, `"shipping": 8.00`}},
		{"a rounded id is no order", "get_order", `{"id":9007199254740992}`, true, []string{"no order 9007199254740992", "list_orders"}},
		{"an id in a string is refused", "get_order", `{"id":"9007199254740993"}`, true,
			[]string{"id: expected a positive integer, got the string"}},
		{"a missing id is refused", "get_order", `{}`, true, []string{"id: expected a positive integer, got nothing"}},

		{"customers are found by a Chinese city", "find_customers", `{"query":"上海"}`, false, []string{"王小明", "赵强", `"country": {`}},
		{"case does not matter", "find_customers", `{"query":"MILLER"}`, false, []string{"Anna Miller"}},
		{"nobody found is an empty list", "find_customers", `{"query":"zzz"}`, false, []string{`"customers": []`}},
		{"an empty query is refused", "find_customers", `{"query":""}`, true, []string{"query: expected a string of 1 to 200 characters"}},

		{"a note is added and given back", "add_note", `{"orderId":9007199254740993,"text":"易碎 <fragile>"}`, false,
			[]string{`"number": 1`, `易碎 <fragile>`}},
		{"a note on no order is refused", "add_note", `{"orderId":5,"text":"x"}`, true, []string{"orderId: there is no order 5"}},
		{"a note without text is refused", "add_note", `{"orderId":9007199254740993}`, true, []string{"text: expected a string"}},

		{"a report of no seconds is there at once", "slow_report", `{"seconds":0}`, false, []string{`"seconds": 0`, `"status": "returned"`}},
		{"a report over a minute is refused", "slow_report", `{"seconds":61}`, true,
			[]string{"seconds: expected an integer from 0 to 60, got the number 61"}},

		{"fail gives a tool error", "fail", `{"kind":"tool"}`, true, []string{"always fails"}},
		{"fail needs its kind", "fail", `{}`, true, []string{"kind: expected one of tool, protocol, got nothing"}},

		{"an export of one row", "export_all", `{"rows":1}`, false, []string{`[{"row":1,"order":9007199254740993,`}},
		{"an export of too many rows is refused", "export_all", `{"rows":20001}`, true, []string{"rows: expected an integer from 1 to 20000"}},

		{"the whole tree", "category_tree", `{}`, false, []string{"食品饮料", `"name": "tea"`, `"name": "audio"`}},
		{"a filter keeps a category with all below", "category_tree", `{"filter":{"name":"drinks"}}`, false,
			[]string{`"name": "tea"`, `"name": "coffee"`}},
		{"a name that is unknown is answered with near ones", "category_tree", `{"filter":{"name":"hom"}}`, true,
			[]string{"filter.name: there is no category", "home"}},
		{"a wrong nested field is named by its path", "category_tree", `{"filter":{"name":"home","children":[{"name":"textiles"},{"name":4}]}}`,
			true, []string{"filter.children[1].name: expected a string", "the number 4"}},
		{"children that are no array are refused", "category_tree", `{"filter":{"name":"home","children":{}}}`, true,
			[]string{"filter.children: expected an array", "got an object"}},
		{"children below a leaf are refused", "category_tree", `{"filter":{"name":"tea","children":[{"name":"tea"}]}}`, true,
			[]string{"filter.children: expected none"}},
		{"a filter that is no object is refused", "category_tree", `{"filter":"home"}`, true,
			[]string{"filter: expected an object, got the string"}},
		{"a filter too deep is refused", "category_tree",
			`{"filter":` + strings.Repeat(`{"name":"home","children":[`, 20) + strings.Repeat(`]}`, 20) + `}`, true, []string{"at most 16 levels"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := call(t, Shop(), tt.tool, tt.args)
			if a.IsError != tt.isError {
				t.Fatalf("isError is %t: %s", a.IsError, a.text())
			}
			if a.IsError && a.Structured != nil {
				t.Error("a refusal has structured content")
			}
			for _, want := range tt.want {
				if !strings.Contains(a.text(), want) {
					t.Errorf("%q is not in %.600s", want, a.text())
				}
			}
		})
	}
}

func TestFilterLeavesOthersOut(t *testing.T) {
	a := call(t, Shop(), "category_tree", `{"filter":{"name":"home","children":[{"name":"textiles"}]}}`)
	if !strings.Contains(a.text(), "textiles") || strings.Contains(a.text(), "lighting") {
		t.Errorf("want textiles alone below home, got %s", a.text())
	}
	whole := call(t, Shop(), "category_tree", `{}`)
	if !strings.Contains(whole.text(), "lighting") {
		t.Error("a filter changed the tree itself")
	}
}

func TestCategoryProductCounts(t *testing.T) {
	count := map[string]int{}
	for _, p := range products() {
		count[p.Category]++
	}
	var check func(c category) int
	check = func(c category) int {
		n := count[c.Name]
		for _, below := range c.Children {
			n += check(below)
		}
		if n != c.Products {
			t.Errorf("%s says %d products and has %d", c.Name, c.Products, n)
		}
		return n
	}
	for _, c := range categories() {
		check(c)
	}
}

func TestExportSize(t *testing.T) {
	if n := len(call(t, Shop(), "export_all", `{}`).raw); n < 300_000 || n > 900_000 {
		t.Errorf("the default export is %d bytes, want several hundred KB", n)
	}
	if n := len(call(t, Shop(), "export_all", `{"rows":20000}`).raw); n > 8_000_000 {
		t.Errorf("the largest export is %d bytes, want 8 MB at most", n)
	}
}

func TestNotesAreBounded(t *testing.T) {
	h := Shop()
	for range maxNotes {
		call(t, h, "add_note", `{"orderId":9007199254740993,"text":"x"}`)
	}
	a := call(t, h, "add_note", `{"orderId":9007199254740993,"text":"x"}`)
	if !a.IsError || !strings.Contains(a.text(), "the maximum") {
		t.Errorf("got %s", a.text())
	}
	other := call(t, Shop(), "get_order", `{"id":9007199254740993}`)
	if !strings.Contains(other.text(), `"notes": []`) {
		t.Error("a note reached another shop")
	}
}

// listener is a Peer that keeps what it hears.
type listener struct {
	mcp.Peer
	heard []string
	err   error
}

func (l *listener) Notify(_ context.Context, method string, params json.RawMessage) error {
	l.heard = append(l.heard, method+" "+string(params))
	return l.err
}

func TestSlowReportProgress(t *testing.T) {
	tests := []struct {
		name, meta string
		err        error
		want       int
	}{
		{"a string as token is given back as it came", `"_meta":{"progressToken":"p-1"},`, nil, 3},
		{"a large number as token keeps its digits", `"_meta":{"progressToken":9007199254740993},`, nil, 3},
		{"progress that cannot be sent does not end the report", `"_meta":{"progressToken":1},`, errors.New("gone"), 3},
		{"without a token there is no progress", ``, nil, 0},
		{"null is no token", `"_meta":{"progressToken":null},`, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ear := &listener{err: tt.err}
				req := request("tools/call", `{`+tt.meta+`"name":"slow_report","arguments":{"seconds":3}}`)
				req.Client = ear
				start := time.Now()
				if _, err := Shop().Serve(t.Context(), req); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != 3*time.Second {
					t.Errorf("took %v, want 3s", took)
				}
				if len(ear.heard) != tt.want {
					t.Fatalf("heard %q, want %d", ear.heard, tt.want)
				}
				token := strings.TrimSuffix(strings.TrimPrefix(tt.meta, `"_meta":{`), `},`)
				for i, got := range ear.heard {
					want := fmt.Sprintf(`notifications/progress {%s,"progress":%d,"total":3,"message":"counting orders"}`, token, i+1)
					if got != want {
						t.Errorf("got  %s\nwant %s", got, want)
					}
				}
			})
		})
	}
}

func TestSlowReportEndsAtOnceOnCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2500*time.Millisecond, cancel)
		start := time.Now()
		res, err := Shop().Serve(ctx, request("tools/call", `{"name":"slow_report","arguments":{"seconds":60}}`))
		if !errors.Is(err, context.Canceled) || res != nil {
			t.Errorf("got %s, %v; want canceled", res, err)
		}
		if took := time.Since(start); took != 2500*time.Millisecond {
			t.Errorf("ended after %v, want 2.5s", took)
		}
	})
}
