package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/schema"
)

// typical is a tool as servers have them.
const typical = `{"type":"object","properties":{"query":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},
"sort":{"type":"string","enum":["asc","desc"]},"exact":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},
"filter":{"type":"object","properties":{"year":{"type":"integer"},"owner_id":{"type":["integer","null"]}},"required":["year"],"additionalProperties":false},
"when":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["query"],"additionalProperties":false}`

func compiled(t testing.TB, raw string, opts *Options) *Tool {
	t.Helper()
	tool, err := Compile([]byte(raw), opts)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestRepairs(t *testing.T) {
	obj := func(props string) string { return `{"type":"object","properties":{` + props + `}}` }
	cases := []struct{ name, schema, args, want, repairs string }{
		{"a value that fits is not touched", typical, ` { "query" : "5", "limit":1.0 }`, ` { "query" : "5", "limit":1.0 }`, ""},
		{"text that looks like a number stays text", typical, `{"query":"5","tags":["6","true"],"when":"7"}`,
			`{"query":"5","tags":["6","true"],"when":"7"}`, ""},
		{"big integers keep their digits", obj(`"id":{"type":"integer"}`), `{"id":"90071992547409931234"}`, `{"id":90071992547409931234}`,
			"/id number"},
		{"a number in a string", typical, `{"query":"a","limit":" 5 "}`, `{"query":"a","limit":5}`, "/limit number"},
		{"what surrounds a repair keeps its bytes", typical, `{"query" : "\u0061" , "limit":"5" , "tags":[ ]}`,
			`{"query" : "\u0061" , "limit":5 , "tags":[ ]}`, "/limit number"},
		{"a boolean in a string", typical, `{"query":"a","exact":"False"}`, `{"query":"a","exact":false}`, "/exact boolean"},
		{"an object in a string", typical, `{"query":"a","filter":"{\"year\": 2020}"}`, `{"query":"a","filter":{"year": 2020}}`,
			"/filter json"},
		{"and what is inside it", typical, `{"query":"a","filter":"{\"year\":\"2020\",}"}`, `{"query":"a","filter":{"year":2020}}`,
			"/filter json, /filter/year number"},
		{"a fenced array", typical, "{\"query\":\"a\",\"tags\":\"```json\\n[\\\"x\\\", ]\\n```\"}", `{"query":"a","tags":["x"]}`,
			"/tags json"},
		{"a comma inside a string is no comma too many", obj(`"o":{"type":"object"}`), `{"o":"{\"a\":\"x,]\",}"}`, `{"o":{"a":"x,]"}}`,
			"/o json"},
		{"an object as Python writes it", typical, `{"query":"a","filter":"{'year': 2020, 'owner_id': None}"}`,
			`{"query":"a","filter":{"year":2020,"owner_id":null}}`, "/filter json"},
		{"a list as Python writes it", typical, `{"query":"a","tags":"['x', \"it's\"]"}`, `{"query":"a","tags":["x","it's"]}`, "/tags json"},
		{"arguments as Python writes them", typical, `"{'query': 'a', 'exact': True, 'limit': '5',}"`,
			`{"query":"a","exact":true,"limit":5}`, " json, /limit number"},
		{"bare keys and comments", typical, `{"query":"a","filter":"{\n  // the first\n  year: 2020, # and last\n}"}`,
			`{"query":"a","filter":{"year":2020}}`, "/filter json"},
		{"Python's word for null", obj(`"n":{"type":["integer","null"]}`), `{"n":"None"}`, `{"n":null}`, "/n json"},
		{"what looks like a list stays text among others", obj(`"x":{"type":["string","array"]}`), `{"x":"['a']"}`, `{"x":"['a']"}`, ""},
		{"what looks like an object stays text", typical, `{"query":"{'a': None,}"}`, `{"query":"{'a': None,}"}`, ""},
		{"a pattern is one text of a list", typical, `{"query":"a","tags":"[a-z]*.txt"}`, `{"query":"a","tags":["[a-z]*.txt"]}`, "/tags array"},
		{"a single value for an array", typical, `{"query":"a","tags":"x"}`, `{"query":"a","tags":["x"]}`, "/tags array"},
		{"text that looks like a number in an array of text", typical, `{"query":"a","tags":"5"}`, `{"query":"a","tags":["5"]}`,
			"/tags array"},
		{"a single number in a string for an array of numbers", obj(`"n":{"type":"array","items":{"type":"number"}}`), `{"n":"5"}`,
			`{"n":[5]}`, "/n number, /n array"},
		{"null for an absent value", typical, `{"query":"a","limit":null,"tags":null}`, `{"query":"a"}`, "/limit null, /tags null"},
		{"null where null fits stays", typical, `{"query":"a","when":null,"filter":{"year":1,"owner_id":null}}`,
			`{"query":"a","when":null,"filter":{"year":1,"owner_id":null}}`, ""},
		{"null first, and blanks", typical, `{ "limit" : null , "query" : "a" }`, `{ "query" : "a" }`, "/limit null"},
		{"only null", obj(`"a":{"type":"string"}`), `{"a":null}`, `{}`, "/a null"},
		{"a listed value in another case", typical, `{"query":"a","sort":"DESC"}`, `{"query":"a","sort":"desc"}`, "/sort enum"},
		{"a required key in another style", typical, `{"Query":"a"}`, `{"query":"a"}`, "/Query key"},
		{"a required key misspelled", typical, `{"qurey":"a"}`, `{"query":"a"}`, "/qurey key"},
		{"a key is renamed and its value repaired",
			`{"type":"object","properties":{"max_items":{"type":"integer"}},"required":["max_items"]}`, `{"maxItems":"3"}`,
			`{"max_items":3}`, "/maxItems key, /maxItems number"},
		{"a default for a missing required value", `{"type":"object","properties":{"n":{"type":"integer","default":7}},"required":["n"]}`,
			`{}`, `{"n":7}`, "/n default"},
		{"a default beside others", `{"type":"object","properties":{"n":{"type":"integer","default":7},"a":{}},"required":["n"]}`,
			`{"a":1}`, `{"a":1,"n":7}`, "/n default"},
		{"arguments in a string", typical, `"{\"query\":\"a\"}"`, `{"query":"a"}`, " json"},
		{"arguments that are null", obj(`"a":{}`), `null`, `{}`, " null"},
		{"arguments that are no JSON but nearly", typical, "```json\n{\"query\":\"a\",}\n```", `{"query":"a"}`, " json"},
		{"through a reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/N"}},"$defs":{"N":{"allOf":[{"type":"integer"},` +
			`{"minimum":3}]}}}`, `{"a":"4"}`, `{"a":4}`, "/a number"},
		{"deep in a cycle", `{"$defs":{"T":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array",` +
			`"items":{"$ref":"#/$defs/T"}}},"required":["v"],"additionalProperties":false}},"$ref":"#/$defs/T"}`,
			`{"v":1,"kids":[{"v":2,"kids":[{"v":"3"}]}]}`, `{"v":1,"kids":[{"v":2,"kids":[{"v":3}]}]}`, "/kids/0/kids/0/v number"},
		{"in the one branch of a union that it suits",
			`{"type":"object","properties":{"x":{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"integer"}},` +
				`"required":["k","n"]},{"type":"object","properties":{"k":{"const":"b"},"s":{"type":"string"}},"required":["k","s"]}]}}}`,
			`{"x":{"k":"a","n":"5"}}`, `{"x":{"k":"a","n":5}}`, "/x/n number"},
		{"in a union with null", obj(`"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}`), `{"n":"5"}`, `{"n":5}`, "/n number"},
		{"a listed number in a string", obj(`"n":{"enum":[1,2,"auto"]}`), `{"n":"2"}`, `{"n":2}`, "/n number"},
		{"an object that was sent alone, as text", obj(`"l":{"type":"array","items":{"type":"object",` +
			`"properties":{"a":{"type":"integer"}},"required":["a"]}}`), `{"l":"{\"a\":1}"}`, `{"l":[{"a":1}]}`, "/l json, /l array"},
		{"what stands there twice is repaired where it counts", typical, `{"limit":1,"query":"a","limit":"2"}`, `{"query":"a","limit":2}`,
			"/limit number"},
		{"what comes first does not return when the last is dropped", typical, `{"limit":"x","query":"a","limit":null}`, `{"query":"a"}`,
			"/limit null"},
		{"names with signs of their own", obj(`"a/b~c":{"type":"integer"}`), `{"a/b~c":"1"}`, `{"a/b~c":1}`, "/a~1b~0c number"},
		{"escaped names", typical, `{"qu\u0065ry":"a","l\u0069mit":"1"}`, `{"qu\u0065ry":"a","l\u0069mit":1}`, "/limit number"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := compiled(t, c.schema, nil).Fit(t.Context(), []byte(c.args))
			if err != nil || string(res.Args) != c.want {
				t.Fatalf("got  %s, %v\nwant %s", res.Args, err, c.want)
			}
			var got []string
			for _, r := range res.Repairs {
				got = append(got, r.Field+" "+string(r.Kind))
			}
			if s := strings.Join(got, ", "); s != c.repairs {
				t.Errorf("repairs %q, want %q", s, c.repairs)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	obj := func(props string) string { return `{"type":"object","properties":{` + props + `}}` }
	cases := []struct{ name, schema, args, want string }{
		{"everything at once", typical, `{"limit":"abc","sort_order":"asc","tags":[1]}`,
			"the arguments do not fit:\n/query: missing, expected string\n/limit: expected integer, got string \"abc\"\n/sort_order: " +
				"unknown argument; did you mean sort?\n/tags/0: expected string, got number 1"},
		{"one problem is one line", typical, `{"query":"a","limit":500}`,
			`the arguments do not fit: /limit: expected at least 1 and at most 100, got number 500`},
		{"a number for text is not written as text", typical, `{"query":5}`, `/query: expected string, got number 5`},
		{"a number in a string is still out of range", typical, `{"query":"a","limit":"500"}`,
			`/limit: expected integer, got string "500"`},
		{"an array for a single value", typical, `{"query":["a"]}`, `/query: expected string, got array of 1 item`},
		{"a listed value that is close", typical, `{"query":"a","sort":"decs"}`,
			`/sort: expected one of "asc", "desc", got string "decs"; did you mean desc?`},
		{"two keys could be meant", `{"type":"object","properties":{"user_id":{"type":"string"}},"required":["user_id"]}`,
			`{"userId":"a","UserID":"b"}`, `/user_id: missing`},
		{"one key for two", `{"type":"object","properties":{"user_id":{"type":"string"},"userid":{"type":"string"}},` +
			`"required":["user_id","userid"]}`, `{"UserID":"a"}`, `/user_id: missing`},
		{"a key whose value does not fit", typical, `{"query":"a","Limit":"x"}`, `/Limit: unknown argument; did you mean limit?`},
		{"under a union the union's place, and what is nearest",
			obj(`"x":{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"type":"null"}]}`), `{"x":{"n":"y"}}`,
			`/x: expected object or null, got object of 1 property; closest: /x/n: expected integer, got string "y"`},
		{"each branch that is near", `{"anyOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},` +
			`{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`, `{"a":"1","b":"2"}`,
			`arguments: expected object with a or object with b, got object of 2 properties; closest: /a: expected integer, got ` +
				`string "1" | /b: expected integer, got string "2"`},
		{"two outcomes are none", obj(`"x":{"anyOf":[{"const":"AB"},{"const":"Ab"}]}`), `{"x":"ab"}`, `/x: expected "AB" or "Ab"`},
		{"inside text the place is inside", typical, `{"query":"a","filter":"{\"year\":\"x\"}"}`,
			`/filter/year: expected integer, got string "x"`},
		{"arguments that are no object", typical, `[1]`, `arguments: expected object, got array of 1 item`},
		{"also when the schema says nothing", `{}`, `[1]`, `arguments: expected object`},
		{"arguments that are no JSON", typical, `{"query"`, `arguments: expected a JSON object, got string {"query"`},
		{"null for a required value", typical, `{"query":null}`, `/query: expected string, got null`},
		{"a list in text that does not fit is not one item", typical, `{"query":"a","tags":"[1,2]"}`, `/tags/0: expected string`},
		{"text that ends too early is not completed", typical, `{"query":"a","filter":"{'year': 2020"}`, `/filter: expected object, got string`},
		{"text without a comma can be meant in two ways", obj(`"l":{"type":"array","items":{"type":"integer"}}`), `{"l":"[1 2]"}`,
			`/l: expected array, got string "[1 2]"`},
		{"a path in Python's quotes can be meant in two ways", obj(`"o":{"type":"object"}`), `{"o":"{'path': 'C:\\new\\x1'}"}`,
			`/o: expected object`},
		{"inside Python's text the place is inside", typical, `{"query":"a","filter":"{'year': None}"}`, `/filter/year: expected integer`},
		{"the beginning of a list is not one item", typical, `{"query":"a","tags":"['x', 'y'"}`, `/tags: expected array, got string`},
		{"words are no value", typical, `{"query":"a","limit":"none of them"}`, `/limit: expected integer, got string "none of them"`},
		{"arguments in words", typical, `"query = a"`, `arguments: expected object, got string "query = a"`},
		{"a tool that takes nothing", `false`, `{}`, `arguments: expected nothing here`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := compiled(t, c.schema, nil).Fit(t.Context(), []byte(c.args))
			var no *Error
			if !errors.As(err, &no) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %s, %v\nwant %s", res.Args, err, c.want)
			}
			f := fault.As(err)
			if f.Code != fault.BadArguments || f.Message != err.Error() || !strings.Contains(string(f.Details), `"field"`) {
				t.Errorf("the fault is %+v, %s", f, f.Details)
			}
		})
	}
}

func TestEveryRepairCanBeSwitchedOff(t *testing.T) {
	type repairCase struct {
		kind         Kind
		schema, args string
	}
	cases := []repairCase{
		{JSONText, typical, `{"query":"a","filter":"{\"year\":1}"}`},
		{NumberText, typical, `{"query":"a","limit":"5"}`},
		{BoolText, typical, `{"query":"a","exact":"true"}`},
		{Wrap, typical, `{"query":"a","tags":"x"}`},
		{DropNull, typical, `{"query":"a","limit":null}`},
		{EnumCase, typical, `{"query":"a","sort":"ASC"}`},
		{Rename, typical, `{"Query":"a"}`},
		{Level, typical, `{"params":{"query":"a"}}`},
		{Default, `{"properties":{"n":{"default":1}},"required":["n"]}`, `{}`},
	}
	for _, c := range cases {
		t.Run(string(c.kind), func(t *testing.T) {
			if _, err := compiled(t, c.schema, nil).Fit(t.Context(), []byte(c.args)); err != nil {
				t.Fatal(err)
			}
			if res, err := compiled(t, c.schema, &Options{Without: []Kind{c.kind}}).Fit(t.Context(), []byte(c.args)); err == nil {
				t.Errorf("got %s", res.Args)
			}
		})
	}
	for _, kind := range Kinds[:slices.Index(Kinds, Alias)] { // those from Alias on come from known facts
		if !slices.ContainsFunc(cases, func(c repairCase) bool { return c.kind == kind }) {
			t.Errorf("no case for %s", kind)
		}
	}
	if _, err := Compile(nil, &Options{Without: []Kind{"magic"}}); err == nil || !strings.Contains(err.Error(), "magic") {
		t.Errorf("got %v", err)
	}
	if _, err := Compile(nil, &Options{Validation: "loose"}); err == nil || !strings.Contains(err.Error(), "loose") {
		t.Errorf("got %v", err)
	}
}

func TestTheGuideNamesEveryRepair(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "\n| repair | ")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, kind := range Kinds {
		if !strings.Contains(table, "`"+string(kind)+"`") {
			t.Errorf("the table of repairs in docs/guide.md lacks %s", kind)
		}
	}
}

func TestLight(t *testing.T) {
	cases := []struct{ name, args, want string }{
		{"values are not looked at", `{"query":"","limit":1000,"sort":"up"}`, `{"query":"","limit":1000,"sort":"up"}`},
		{"what the tool does not have is dropped", `{"query":"a","x":1,"filter":{"year":1,"y":2}}`, `{"query":"a","filter":{"year":1}}`},
		{"types are", `{"query":1}`, ""},
		{"required keys are", `{"limit":1}`, ""},
		{"a repaired value is checked in full", `{"query":"a","limit":"1000"}`, ""},
		{"and taken when it is right", `{"query":"a","limit":"100"}`, `{"query":"a","limit":100}`},
	}
	tool := compiled(t, typical, &Options{Validation: Light})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := tool.Fit(t.Context(), []byte(c.args))
			if (err == nil) != (c.want != "") || string(res.Args) != c.want {
				t.Errorf("got %s, %v, want %s", res.Args, err, c.want)
			}
		})
	}
}

func TestNoArgumentsAreNoneWhenNoneAreNeeded(t *testing.T) {
	if res, err := compiled(t, `{"type":"object"}`, nil).Fit(t.Context(), nil); err != nil || res.Args != nil {
		t.Errorf("got %s, %v", res.Args, err)
	}
	if _, err := compiled(t, typical, nil).Fit(t.Context(), nil); err == nil {
		t.Error("a required argument is missing")
	}
}

func TestTheDialectIsUndoneFirst(t *testing.T) {
	plan, err := schema.Plan([]byte(typical), schema.OpenAIStrict, &schema.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	tool := compiled(t, typical, &Options{Back: plan})
	res, err := tool.Fit(t.Context(), []byte(`{"query":"a","limit":"5","sort":null,"exact":null,"tags":null,"filter":null,"when":null}`))
	if err != nil || len(res.Undone) == 0 || !strings.Contains(string(res.Args), `"limit":5`) ||
		strings.Contains(string(res.Args), "sort") {
		t.Errorf("got %s, %v, %v", res.Args, res.Undone, err)
	}
	wrapped, err := schema.Plan([]byte(`{"type":"array","items":{"type":"integer"}}`), schema.OpenAI, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool = compiled(t, `{"type":"array","items":{"type":"integer"}}`, &Options{Back: wrapped})
	if res, err := tool.Fit(t.Context(), []byte(`{"input":["1",2]}`)); err != nil || string(res.Args) != `[1,2]` {
		t.Errorf("got %s, %v", res.Args, err)
	}
	if _, err := tool.Fit(t.Context(), []byte(`{"put":[1]}`)); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
}

func TestResultsAreCheckedAsTheyAre(t *testing.T) {
	out := compiled(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, nil)
	if err := out.Check(t.Context(), []byte(`{"n":1}`)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{"n":"1"}`, `{}`, `[]`, `{`} {
		if err := out.Check(t.Context(), []byte(bad)); !fault.Is(err, fault.UpstreamProtocol) ||
			!strings.Contains(err.Error(), "output schema") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestARefusalIsBounded(t *testing.T) {
	var props, args []string
	for i := range 200 {
		props = append(props, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
		args = append(args, fmt.Sprintf(`"p%d":%q`, i, strings.Repeat("界", 500)))
	}
	_, err := compiled(t, `{"type":"object","properties":{`+strings.Join(props, ",")+`}}`, nil).Fit(t.Context(),
		[]byte("{"+strings.Join(args, ",")+"}"))
	if err == nil || len(err.Error()) > 10_000 || !strings.Contains(err.Error(), "and 184 more") {
		t.Errorf("%d bytes: %.300v", len(fmt.Sprint(err)), err)
	}
}

func TestHostileInputEndsSoon(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 400) + `1` + strings.Repeat(`}`, 400)
	cases := []struct{ name, schema, args string }{
		{"a tree of unions", `{"properties":{"a":{"oneOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}}}`, deep},
		{"a tree of unions that never fit", `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}},"required":["b"]}`,
			deep},
		{"a number without end", `{"properties":{"a":{"multipleOf":0.0001,"maximum":1e999999999}}}`, `{"a":1e999999999}`},
		{"many of everything", `{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{"a":[` +
			strings.Repeat(`"1",`, 20_000) + `"x"]}`},
		{"many that are all wrong", `{"properties":{"a":{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"boolean"}]}}}}`,
			`{"a":[` + strings.Repeat(`"x",`, 20_000) + `"x"]}`},
		{"text in text in text", `{"properties":{"a":{"type":"object"}}}`, `{"a":` + quoted(quoted(quoted(quoted(quoted(quoted(`{}`)))))) +
			`}`},
		{"too deep to read", `{}`, strings.Repeat(`{"a":`, 5000)},
		{"the same name again and again", `{"type":"object","additionalProperties":false}`, `{` + strings.Repeat(`"a":1,`, 50_000) +
			`"a":1}`},
		{"names that nobody knows", `{"type":"object","required":["abcdefgh"],"additionalProperties":false}`, `{` + func() string {
			var b strings.Builder
			for i := range 20_000 {
				fmt.Fprintf(&b, `"abcd%d":1,`, i)
			}
			return b.String()
		}() + `"a":1}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			if _, err := compiled(t, c.schema, nil).Fit(t.Context(), []byte(c.args)); err != nil && len(err.Error()) > 10_000 {
				t.Errorf("%d bytes of error", len(err.Error()))
			}
			if took := time.Since(start); took > time.Minute { // a tenth of a second on a machine that does nothing else
				t.Errorf("it takes %v", took)
			}
		})
	}
}

func TestManyMayFitAtOnce(t *testing.T) {
	tool := compiled(t, typical, nil)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 50 {
				args := fmt.Sprintf(`{"query":"%d","limit":"%d"}`, i, i+1)
				want := fmt.Sprintf(`{"query":"%d","limit":%d}`, i, i+1)
				if res, err := tool.Fit(t.Context(), json.RawMessage(args)); err != nil || string(res.Args) != want {
					t.Errorf("got %s, %v", res.Args, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestNotesSayWhatIsNotChecked(t *testing.T) {
	tool := compiled(t, `{"type":"object","properties":{"a":{"$ref":"#/$defs/Nope"},"b":{"type":"any"}}}`, nil)
	notes := strings.Join(tool.Notes(), "\n")
	if !strings.Contains(notes, `#/properties/a/$ref: "#/$defs/Nope" is not in the schema`) ||
		!strings.Contains(notes, "#/properties/b/type") {
		t.Errorf("got %s", notes)
	}
}
