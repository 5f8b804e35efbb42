package recall

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/schema"
)

// through serves a world by HTTP, as callers reach it, between a caller and the other services.
type through struct {
	*world
	url string
}

const inside = `
listen: 0.0.0.0:30779
recall:
  trust: [127.0.0.0/8, "::1"]
  ontologyQuery: {url: "http://ontology-query:13018"}
  operatorIntegration: {url: "http://agent-operator-integration:9000"}
`

// serve has one action of an MCP tool with the schema and the fixed parameters.
func serve(t *testing.T, settings, inputSchema, fixed string) *through {
	w := newWorld(t, inside+settings, nil)
	w.answers[actionPath] = "200\n" + `{"action_source":{"type":"mcp","mcp_id":"m1","tool_name":"scale"},"actions":[{"parameters":` +
		fixed + `}]}`
	w.answers[listPath] = "200\n" + `{"tools":[{"name":"scale","inputSchema":` + inputSchema + `}]}`
	w.answers[callPath] = "200\n" + `{"content":[],"isError":false}`
	return serveWorld(t, w)
}

func serveWorld(t *testing.T, w *world) *through {
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	return &through{w, srv.URL}
}

// post sends a request and gives the body of an answer with the status.
func (th *through) post(path, body string, status int) []byte {
	th.t.Helper()
	res, err := http.Post(th.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		th.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		th.t.Fatalf("%s: %d %s, %v", path, res.StatusCode, data, err)
	}
	return data
}

// recalled is what a test looks at in an answer.
type recalled struct {
	Parameters raw    `json:"parameters"`
	Strict     bool   `json:"strict"`
	URL        string `json:"api_url"`
	Fixed      raw    `json:"fixed_params"`
}

// recall asks for the action, and gives the whole answer beside its tool.
func (th *through) recall() (recalled, string) {
	th.t.Helper()
	body := th.post(private+"/kn/get_action_info", `{"kn_id":"kn1","at_id":"at1"}`, http.StatusOK)
	var info struct {
		Tools []recalled `json:"_dynamic_tools"`
	}
	if err := json.Unmarshal(body, &info); err != nil || len(info.Tools) != 1 {
		th.t.Fatalf("%v in %s", err, body)
	}
	return info.Tools[0], string(body)
}

// call calls the tool where its address says, and gives what it was sent.
func (th *through) call(t recalled, args string) string {
	th.t.Helper()
	at, err := url.Parse(t.URL)
	if err != nil {
		th.t.Fatal(err)
	}
	th.takeSent()
	th.post(at.RequestURI(), args, http.StatusOK)
	sent := th.takeSent()
	last := sent[len(sent)-1]
	return last[strings.Index(last, "\n")+1:]
}

// wait lets time pass.
func (th *through) wait(d time.Duration) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.clock = th.clock.Add(d)
}

func TestWhatStandsBesideAReferenceReachesTheCaller(t *testing.T) {
	th := serve(t, "", `{"type":"object","properties":{"from":{"$ref":"#/$defs/Day","description":"the first day","default":"today"}},`+
		`"$defs":{"Day":{"type":"string","description":"a day"}}}`, `{}`)
	got, _ := th.recall()
	if want := `{"type":"object","properties":{"from":{"type":"string","description":"the first day","default":"today"}}}`; string(got.Parameters) != want {
		t.Errorf("got  %s\nwant %s", got.Parameters, want)
	}
	boxed := newWorld(t, inside, nil)
	boxed.answers[actionPath] = "200\n" + `{"action_source":{"type":"tool","box_id":"b","tool_id":"t"},"actions":[{"parameters":{}}]}`
	boxed.answers["GET /api/agent-operator-integration/internal-v1/tool-box/b/tool/t"] = "200\n" +
		`{"name":"t","metadata":{"api_spec":{"parameters":[{"name":"q","in":"query","schema":{"$ref":"#/components/schemas/Gone",` +
		`"default":1}}],` +
		`"request_body":{"content":{"application/json":{"schema":{"properties":{"from":{"$ref":"#/components/schemas/Day",` +
		`"description":"the first day"}}}}}},"components":{"schemas":{"Day":{"type":"string","description":"a day"}}}}}}`
	got, _ = serveWorld(t, boxed).recall()
	for _, want := range []string{`"from":{"description":"the first day","type":"string"}`, `"q":{"description":"(schema missing)"}`} {
		if !strings.Contains(string(got.Parameters), want) {
			t.Errorf("got  %s\nwant %s", got.Parameters, want)
		}
	}
}

func TestASimpleSchemaReachesTheCallerByteForByte(t *testing.T) {
	for _, in := range []string{
		"{ \"properties\" : {\"b\":{\"description\":\"<b> & \\u4e2d\\/\"},\n\t\"a\" : { \"type\":\"integer\", \"maximum\": 1.50E2 } } }",
		`{"type":"object","properties":{"body":{"type":"object","properties":{"x":{}}}},` +
			`"$schema":"http://json-schema.org/draft-07/schema#","additionalProperties":false}`,
		`{}`,
	} {
		for name, th := range map[string]*through{"theirs": serve(t, "", in, `{"z": 1}`), "ours": serveWorld(t, newWorld(t,
			"mcpServers: {m1: {command: x}}"+inside+"  actions: [{kn_id: kn1, at_id: at1, mcp_id: m1, tool_name: scale}]\n",
			map[string]string{"m1": `[{"name":"scale","inputSchema":` + in + `}]`}))} {
			if _, body := th.recall(); !strings.Contains(body, `"parameters":`+in+`,"api_url"`) ||
				!strings.Contains(body, `"original_schema":`+in+`,"fixed_params"`) {
				t.Errorf("%s: %s\nwant %s", name, body, in)
			}
		}
	}
}

func TestReferencesAreFollowedAsDeepAsTheConfigurationSays(t *testing.T) {
	defs := ""
	spec := ""
	for i := range 8 {
		link := fmt.Sprintf(`"D%d":{"type":"object","description":"%d","properties":{"n":{"$ref":"#/DEFS/D%d"}}},`, i, i, i+1)
		defs = defs + strings.ReplaceAll(link, "DEFS", "$defs")
		spec = spec + strings.ReplaceAll(link, "DEFS", "components/schemas")
	}
	in := `{"type":"object","properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{` + defs + `"D8":{"type":"string"}}}`
	for settings, followed := range map[string]int{"": 3, "  depth: 1\n": 1, "  depth: 6\n": 6} {
		th := serve(t, settings, in, `{}`)
		boxed := newWorld(t, inside+settings, nil)
		boxed.answers[actionPath] = "200\n" + `{"action_source":{"type":"tool","box_id":"b","tool_id":"t"},"actions":[{"parameters":{}}]}`
		boxed.answers["GET /api/agent-operator-integration/internal-v1/tool-box/b/tool/t"] = "200\n" +
			`{"name":"t","metadata":{"api_spec":{"request_body":{"content":{"application/json":{"schema":{"properties":{"a":` +
			`{"$ref":"#/components/schemas/D0"}}}}}},"components":{"schemas":{` + spec + `"D8":{"type":"string"}}}}}}`
		for kind, th := range map[string]*through{"mcp": th, "tool": serveWorld(t, boxed)} {
			got, _ := th.recall()
			links := strings.Count(string(got.Parameters), `"properties":{"n":`)
			if outline := fmt.Sprintf(`"description":"%d"`, followed); links != followed ||
				!strings.Contains(string(got.Parameters), outline) ||
				strings.Contains(string(got.Parameters), fmt.Sprintf(`"description":"%d"`, followed+1)) {
				t.Errorf("%s, %q: %d followed in %s", kind, settings, links, got.Parameters)
			}
		}
	}
}

const query = `{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"integer","default":5},"labels":{"type":"object",` +
	`"additionalProperties":{"type":"string"}},"where":{"$ref":"#/$defs/W"},"ns":{"type":"string"}},` +
	`"required":["q","ns"],"$defs":{"W":{"anyOf":[{"type":"object","properties":{"a b":{"type":"integer"}},"required":["a b"]},` +
	`{"type":"array","items":{"enum":[1,2]}}]}}}`

func TestArgumentsInTheDialectReachTheToolInItsOwnForm(t *testing.T) {
	for _, c := range []struct{ dialect, args, want string }{
		{"openai-strict", `{"q":"x","limit":null,"ns":"n"}`, `{"q":"x","ns":"n"}`},
		{"gemini-params", `{"q":"x","labels":[{"key":"a","value":"b"}],"ns":"n"}`, `{"q":"x","labels":{"a":"b"},"ns":"n"}`},
		{"openai", `{"q":"x","ns":"n"}`, `{"q":"x","ns":"n"}`},
	} {
		in := strings.Replace(query, `"where":{"$ref":"#/$defs/W"},`, "", 1)
		if c.dialect == "openai-strict" {
			in = strings.Replace(in, `"labels":{"type":"object","additionalProperties":{"type":"string"}},`, "", 1)
		}
		for name, th := range eachSide(t, "  dialect: "+c.dialect+"\n", in) {
			tool, _ := th.recall()
			if bad := schema.Check(tool.Parameters, schema.Dialect(c.dialect)); len(bad) > 0 ||
				tool.Strict != (c.dialect == "openai-strict") {
				t.Errorf("%s, %s: %v, strict %v in %s", c.dialect, name, bad, tool.Strict, tool.Parameters)
			}
			if got := th.call(tool, c.args); !strings.HasSuffix(got, `:`+c.want+`}`) {
				t.Errorf("%s, %s: the tool got %s, want %s", c.dialect, name, got, c.want)
			}
			if got := th.call(tool, c.want); !strings.HasSuffix(got, `:`+c.want+`}`) {
				t.Errorf("%s, %s: in its own form, the tool got %s, want %s", c.dialect, name, got, c.want)
			}
		}
	}
}

// eachSide has the same tool as one of ours, and as one of theirs.
func eachSide(t *testing.T, settings, in string) map[string]*through {
	own := newWorld(t, "mcpServers: {m1: {command: x}}"+inside+settings+
		"  actions: [{kn_id: kn1, at_id: at1, mcp_id: m1, tool_name: scale}]\n",
		map[string]string{"m1": `[{"name":"scale","inputSchema":` + in + `}]`})
	own.results["m1 scale"] = `{"content":[]}`
	return map[string]*through{"ours": serveWorld(t, own), "theirs": serve(t, settings, in, `{}`)}
}

// queryArguments are valid for query.
var queryArguments = [...]string{`{"q":"x","ns":"n"}`, `{"q":"","limit":7,"labels":{"a":"b","c":""},"ns":"n"}`,
	`{"q":"x","where":{"a b":3},"ns":"n"}`, `{"q":"x","where":[1,2],"ns":"n"}`}

// inDialect are queryArguments as a model sends them in the dialects that change them.
var inDialect = map[schema.Dialect][len(queryArguments)]string{
	schema.OpenAIStrict:   nullsAndPairs,
	schema.DeepSeekStrict: nullsAndPairs,
	schema.Anthropic: {queryArguments[0], queryArguments[1],
		`{"q":"x","where":{"a_b":3},"ns":"n"}`, queryArguments[3]},
	schema.AnthropicStrict: {queryArguments[0], `{"q":"","limit":7,"labels":[{"key":"a","value":"b"},{"key":"c","value":""}],"ns":"n"}`,
		`{"q":"x","where":{"a_b":3},"ns":"n"}`, queryArguments[3]},
	schema.GeminiParams: {queryArguments[0], `{"q":"","limit":7,"labels":[{"key":"a","value":"b"},{"key":"c","value":""}],"ns":"n"}`,
		`{"q":"x","where":{"a_b":3},"ns":"n"}`, `{"q":"x","where":["1","2"],"ns":"n"}`},
}

var nullsAndPairs = [len(queryArguments)]string{
	`{"q":"x","ns":"n","limit":null,"labels":null,"where":null}`,
	`{"q":"","limit":7,"labels":[{"key":"a","value":"b"},{"key":"c","value":""}],"ns":"n","where":null}`,
	`{"q":"x","where":{"a b":3},"ns":"n","limit":null,"labels":null}`,
	`{"q":"x","where":[1,2],"ns":"n","limit":null,"labels":null}`,
}

func TestEveryDialectIsUndone(t *testing.T) {
	flat, err := schema.Plan([]byte(query), schema.Inlined, nil)
	if err != nil {
		t.Fatal(err)
	}
	for d := range schema.Dialects() {
		plan, err := schema.Plan(flat.Parameters, d, nil)
		if err != nil {
			t.Fatal(d, err)
		}
		sent, changed := inDialect[plan.Dialect]
		if !changed {
			sent = queryArguments
		}
		for _, th := range eachSide(t, "  dialect: "+string(d)+"\n", query) {
			tool, _ := th.recall()
			if bad := schema.Check(tool.Parameters, plan.Dialect); len(bad) > 0 || hasReference(tool.Parameters) {
				t.Errorf("%s: %v in %s", d, bad, tool.Parameters)
			}
			for i, args := range queryArguments {
				if got := th.call(tool, sent[i]); !sameMembers(got[strings.Index(got, `{"q"`):len(got)-1], args) {
					t.Errorf("%s: %s was sent as %s, and the tool got %s", d, args, sent[i], got)
				}
			}
		}
	}
}

func sameMembers(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func TestADialectHoldsForWhatIsLeftOfBoundParameters(t *testing.T) {
	in := strings.Replace(strings.Replace(query, `"where":{"$ref":"#/$defs/W"},`, "", 1),
		`"labels":{"type":"object","additionalProperties":{"type":"string"}},`, "", 1)
	th := serve(t, "  dialect: openai-strict\n  fixed: bind\n", in, `{"ns":"prod"}`)
	tool, _ := th.recall()
	if bad := schema.Check(tool.Parameters, schema.OpenAIStrict); len(bad) > 0 || strings.Contains(string(tool.Parameters), "ns") {
		t.Errorf("%v in %s", bad, tool.Parameters)
	}
	if got := th.call(tool, `{"q":"x","limit":null}`); got != `{"tool_name":"scale","parameters":{"q":"x","ns":"prod"}}` {
		t.Errorf("the tool got %s", got)
	}
}

func TestADialectIsUndoneWhenTheListIsNoLongerAtHand(t *testing.T) {
	th := serve(t, "  dialect: openai-strict\n", `{"type":"object","properties":{"q":{"type":"string"}}}`, `{}`)
	tool, _ := th.recall()
	th.wait(listAge)
	if got := th.call(tool, `{"q":null}`); got != `{"tool_name":"scale","parameters":{}}` {
		t.Errorf("the tool got %s", got)
	}
	plain := serve(t, "", `{"type":"object","properties":{"q":{"type":"string"}}}`, `{}`)
	tool, _ = plain.recall()
	plain.wait(listAge)
	plain.takeSent()
	plain.post(strings.TrimPrefix(tool.URL, "http://agent-retrieval:30779"), `{}`, http.StatusOK)
	if sent := plain.takeSent(); len(sent) != 1 {
		t.Errorf("without a dialect a call is one request, and these were made: %q", sent)
	}
}

func TestADialectIsForToolsThatAreCalledThroughTheProxy(t *testing.T) {
	in := `{"type":"object","properties":{"q":{"type":"string"}}}`
	th := serve(t, "  dialect: openai-strict\n  answer: driver\n", in, `{}`)
	if tool, _ := th.recall(); !strings.Contains(string(tool.Parameters), `"dynamic_params":`+in) || tool.Strict {
		t.Errorf("got %s", tool.Parameters)
	}
}

func TestAToolThatTheDialectCannotCarryIsAnErrorWithTheReason(t *testing.T) {
	th := serve(t, "  dialect: openai\n", `{"type":"object","properties":{"a":false},"required":["a"]}`, `{}`)
	body := th.post(private+"/kn/get_action_info", `{"kn_id":"kn1","at_id":"at1"}`, http.StatusInternalServerError)
	if !strings.Contains(string(body), convertFailed) || !strings.Contains(string(body), "unsatisfiable") {
		t.Errorf("got %s", body)
	}
}

func TestBoundValuesAreEchoedOnlyWhereTheConfigurationSaysSo(t *testing.T) {
	const in, secret = `{"type":"object","properties":{"n":{"type":"integer"},"token":{"type":"string"}},"required":["n","token"]}`,
		"s3cret"
	for settings, echoed := range map[string]bool{"  fixed: bind\n": false, "  fixed: bind\n  echo: true\n": true,
		"  fixed: return\n": true, "  echo: true\n": true} {
		th := serve(t, settings, in, `{"token":"`+secret+`"}`)
		tool, body := th.recall()
		want := `{}`
		if echoed {
			want = `{"token":"` + secret + `"}`
		}
		if string(tool.Fixed) != want || strings.Contains(body, secret) != echoed {
			t.Errorf("%q: %s", settings, body)
		}
		for _, args := range []string{`{"n":1}`, `{"n":1,"token":"s3cret"}`} { // a caller that sends it anyway is served
			if bound := strings.Contains(settings, "bind"); bound || strings.Contains(args, "token") {
				if got := th.call(tool, args); got != `{"tool_name":"scale","parameters":{"n":1,"token":"s3cret"}}` {
					t.Errorf("%q, %s: the tool got %s", settings, args, got)
				}
			}
		}
	}
}

func TestPeopleSeeOnlyTheNamesOfBoundValues(t *testing.T) {
	const actions = "  actions: [{kn_id: k, at_id: a, mcp_id: m, tool_name: t, parameters: {token: s3cret}}, {kn_id: k, at_id: b, " +
		"tool: api__op, parameters: {x: 1}}]\n"
	for settings, want := range map[string]string{
		"": `{"token":"s3cret"} {"x":1}`, "  fixed: bind\n": `{"token":"…"} {"x":1}`,
		"  fixed: bind\n  echo: true\n": `{"token":"s3cret"} {"x":1}`,
	} {
		w := newWorld(t, inside+settings+actions, nil)
		list := w.Actions()
		if got := string(list[0].Parameters) + " " + string(list[1].Parameters); got != want {
			t.Errorf("%q: got %s, want %s", settings, got, want)
		}
	}
}

func TestAKeyForAnyProfileSeesWhatCallersSee(t *testing.T) {
	w := newWorld(t, `
mcpServers: {m1: {command: x}}
profiles: {default: {tools: {deny: ["*"]}}, crew: {servers: [m1]}}
recall: {profile: crew, actions: [{kn_id: kn1, at_id: at1, mcp_id: m1, tool_name: scale}]}
`, map[string]string{"m1": `[{"name":"scale","inputSchema":{}}]`})
	for key, want := range map[string]int{"tf_admin": http.StatusOK, "tf_good": http.StatusNotFound} {
		if res := w.do("POST " + private + "/kn/get_action_info\nAuthorization: Bearer " + key + "\n\n" +
			`{"kn_id":"kn1","at_id":"at1"}`); res.Code != want {
			t.Errorf("%s: %d %s", key, res.Code, res.Body)
		}
	}
}
