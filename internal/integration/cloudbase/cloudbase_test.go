package cloudbase

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
	"github.com/toolfit/toolfit/internal/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env is a lookup in "NAME=value" pairs, with the key that the fake takes unless they name one.
func env(pairs ...string) func(string) (string, bool) {
	values := map[string]string{"TENCENTCLOUD_SECRETID": fake.SecretID, "TENCENTCLOUD_SECRETKEY": fake.SecretKey}
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		values[name] = value
	}
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

// open makes a server against a fake API of its own.
func open(t *testing.T, pairs ...string) (*Server, *fake.API) {
	t.Helper()
	api := fake.New(nil)
	s, err := New(env(pairs...), nil, &Options{Transport: api.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, api
}

// answered is what came of a call.
type answered struct {
	Content    []struct{ Type, Text string }
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

func call(t *testing.T, h mcp.Handler, name, args string) answered {
	t.Helper()
	raw, err := h.Serve(t.Context(), request(name, args, mcp.Deaf))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return parse(t, raw)
}

func request(name, args string, client mcp.Peer) *mcp.Request {
	return &mcp.Request{
		ID: json.RawMessage(`1`), Method: "tools/call", Client: client,
		Params: json.RawMessage(`{"name":"` + name + `","arguments":` + args + `,"_meta":{"progressToken":"p7"}}`),
	}
}

func parse(t *testing.T, raw json.RawMessage) answered {
	t.Helper()
	var a answered
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if len(a.Content) != 1 || a.Content[0].Text != string(a.Structured) {
		t.Fatalf("text and structured content differ: %s", raw)
	}
	return a
}

// toolError is the error of a call as a program reads it.
type toolError struct {
	Code      fault.Code
	Message   string
	Hint      string
	Variables []string
	APICode   string
	RequestID string
}

// errorOf is the typed error of a call that did not work.
func errorOf(t *testing.T, a answered) toolError {
	t.Helper()
	var got struct{ Error toolError }
	if err := json.Unmarshal(a.Structured, &got); err != nil || !a.IsError {
		t.Fatalf("no tool error: %s", a.Structured)
	}
	return got.Error
}

func TestToolsAreListedAndFitTheirSchemas(t *testing.T) {
	s, _ := open(t)
	raw, err := s.Serve(t.Context(), &mcp.Request{Method: "tools/list", Client: mcp.Deaf})
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 2 || list.Tools[0].Name != "envQuery" || list.Tools[1].Name != "queryEnv" {
		t.Errorf("got %s", raw)
	}
	for _, tool := range list.Tools {
		if _, err := fit.Compile(tool.InputSchema, nil); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

func TestOldNamesStillWork(t *testing.T) {
	s, api := open(t)
	id := api.EnvIDs()[3]
	for name, want := range map[string]string{
		"listEnvs": `"TotalCount":40`, "getEnvInfo": `"EnvId":"` +
			id, "getEnvAuthDomains": `"Domains":[`, "getWebsiteConfig": `"StaticDomain"`,
	} {
		args := `{"envId":"` + id + `"}`
		if name == "listEnvs" {
			args = `{}`
		}
		if a := call(t, s, name, args); a.IsError || !strings.Contains(string(a.Structured), want) {
			t.Errorf("%s: got %.300s", name, a.Structured)
		}
	}
}

func TestOtherActionsGiveTheAnswerAsItCame(t *testing.T) {
	s, api := open(t)
	id := api.EnvIDs()[0]
	for _, c := range []struct{ tool, args, action, body string }{
		{"envQuery", `{"action":"info"}`, "DescribeEnvs", `{"EnvId":"` + id + `"}`},
		{"envQuery", `{"action":"domains"}`, "DescribeAuthDomains", `{"EnvId":"` + id + `"}`},
		{"envQuery", `{"action":"hosting"}`, "DescribeStaticStore", `{"EnvId":"` + id + `"}`},
		{"queryEnv", `{"action":"usage","metric":"DbReadpkg"}`, "DescribeQuotaData", `{"EnvId":"` + id + `","MetricName":"DbReadpkg"}`},
		{"queryEnv", `{"action":"metrics","metric":"DbRead","startTime":"2026-01-02 00:00:00","endTime":"2026-01-03 00:00:00"}`,
			"DescribeCurveData",
			`{"EndTime":"2026-01-03 00:00:00","EnvId":"` + id + `","MetricName":"DbRead","StartTime":"2026-01-02 00:00:00"}`},
	} {
		api.Play(c.action, fake.Answer(`{"b":1.0,"a":9007199254740993,"RequestId":"r"}`))
		args := strings.TrimSuffix(c.args, "}") + `,"envId":"` + id + `"}`
		if got := call(t, s, c.tool, args); string(got.Structured) != `{"b":1.0,"a":9007199254740993,"RequestId":"r"}` {
			t.Errorf("%s: got %s", c.args, got.Structured)
		}
		reqs := api.Requests()
		if last := reqs[len(reqs)-1]; last.Action != c.action || last.Body != c.body || last.Region != "ap-shanghai" {
			t.Errorf("%s: sent %+v", c.args, last)
		}
	}
}

func TestTheBoundEnvironmentIsReadWhenNoneIsNamed(t *testing.T) {
	s, api := open(t, "CLOUDBASE_ENV_ID=bound-1", "TENCENTCLOUD_REGION=ap-guangzhou")
	call(t, s, "envQuery", `{"action":"domains"}`)
	if got := api.Requests()[0]; got.Body != `{"EnvId":"bound-1"}` || got.Region != "ap-guangzhou" {
		t.Errorf("sent %+v", got)
	}
	s, _ = open(t)
	f := errorOf(t, call(t, s, "getEnvInfo", `{}`))
	if f.Code != fault.BadArguments || len(f.Variables) != 1 || f.Variables[0] != "CLOUDBASE_ENV_ID" {
		t.Errorf("got %+v", f)
	}
}

func TestMetricsAreOfTheLastDayUnlessTheCallSaysOtherwise(t *testing.T) {
	api := fake.New(nil)
	now := time.Date(2026, 1, 2, 20, 0, 0, 0, time.UTC)
	s, err := New(env(), nil, &Options{Transport: api.Transport(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, "queryEnv", `{"action":"metrics","metric":"DbRead","envId":"x"}`)
	want := `{"EndTime":"2026-01-03 04:00:00","EnvId":"x","MetricName":"DbRead","StartTime":"2026-01-02 04:00:00"}`
	if got := api.Requests()[0].Body; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestWrongArgumentsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	s, api := open(t)
	for args, want := range map[string]string{
		`{}`:                                   "action: expected one of list, info, domains, usage, metrics, got nothing",
		`{"action":"hosting"}`:                 `got the string "hosting"`,
		`{"action":7}`:                         "got the number 7",
		`[]`:                                   "arguments: expected an object, got an array",
		`"x"`:                                  "arguments: expected an object",
		`{"action":"list","Action":"info"}`:    "Action: there is no such argument",
		`{"action":"list","action":"info"}`:    "action: stands there twice",
		`{"action":"info","action":null}`:      "action: stands there twice",
		`{"action":"list","limit":0}`:          "limit: expected an integer from 1 to 1000, got the number 0",
		`{"action":"list","limit":1e99}`:       "limit: expected an integer",
		`{"action":"list","limit":1.5}`:        "limit: expected an integer",
		`{"action":"list","offset":-1}`:        "offset: expected",
		`{"action":"list","aliasExact":"yes"}`: "aliasExact: expected true or false",
		`{"action":"list","aliasExact":true}`:  "alias: expected a text beside aliasExact",
		`{"action":"list","alias":""}`:         "alias: expected a string of 1 to 128",
		`{"action":"list","fields":[]}`:        "fields: expected a list of names",
		`{"action":"list","fields":"EnvId"}`:   "fields: expected a list of names",
		`{"action":"list","fields":["a)"]}`:    "fields[0]: expected the name of a field",
		`{"action":"list","fields":[1]}`:       "fields[0]: expected the name of a field, got the number 1",
		`{"action":"list","fields":["~3"]}`:    "fields: expected a list of names",
		`{"action":"info","fields":["EnvId"]}`: "fields: expected nothing for action info",
		`{"action":"usage","envId":"x"}`:       "metric: expected the name of a metric for action usage, got nothing",
		`{"action":"metrics","envId":"x","metric":"m","startTime":"now"}`: "startTime: expected a time such as",
		`{"action":"info","envId":"` + strings.Repeat("x", 65) + `"}`:     "envId: expected a string of 1 to 64",
	} {
		f := errorOf(t, call(t, s, "queryEnv", args))
		if f.Code != fault.BadArguments || !strings.Contains(f.Message, want) {
			t.Errorf("%s: got %s %q, want %q", args, f.Code, f.Message, want)
		}
	}
	if n := len(api.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
	for _, params := range []string{``, `[]`, `{"name":7}`, `{"name":"nope"}`, `{"name":"envPick"}`, `{"name":`} {
		if _, err := s.Serve(t.Context(), &mcp.Request{Method: "tools/call", Params: json.RawMessage(params),
			Client: mcp.Deaf}); err == nil {
			t.Errorf("%s was taken", params)
		}
	}
}

func TestServersShareNothing(t *testing.T) {
	one, first := open(t, "CLOUDBASE_ENV_ID=a")
	two, second := open(t, "CLOUDBASE_ENV_ID=b")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { call(t, one, "getEnvInfo", `{}`) })
		wg.Go(func() { call(t, two, "getEnvInfo", `{}`) })
	}
	wg.Wait()
	for id, api := range map[string]*fake.API{"a": first, "b": second} {
		for _, r := range api.Requests() {
			if r.Body != `{"EnvId":"`+id+`"}` {
				t.Errorf("%s: %+v", id, r)
			}
		}
	}
}

func FuzzReadQuery(f *testing.F) {
	f.Add(`{"action":"list","fields":["EnvId","a(b)"],"limit":3}`)
	f.Add(`{"action":"metrics","metric":"m","startTime":"2026-01-02 03:04:05"}`)
	f.Add(`{"action":"list","fields":["x~1"],"limit":1e2,"alias":"\ud83d\ude00"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := readQuery(json.RawMessage(raw), actionsOf["queryEnv"])
		if err != nil {
			return
		}
		if _, err := q.page([]json.RawMessage{[]byte(`{"EnvId":"a"}`), []byte(`null`)}, q.filters()); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	})
}

func BenchmarkList(b *testing.B) {
	api := fake.New(nil)
	s, err := New(env(), nil, &Options{Transport: api.Transport()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Serve(b.Context(), request("envQuery", `{"action":"list"}`, mcp.Deaf)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	var rows []json.RawMessage
	for i := range 400 {
		rows = append(rows, fmt.Appendf(nil, `{"EnvId":"env-%d","Alias":"别名","Databases":[{"a":1}]}`, i))
	}
	q := query{action: "list", alias: "别"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := q.page(slices.DeleteFunc(slices.Clone(rows), q.excludes), q.filters()); err != nil {
			b.Fatal(err)
		}
	}
}

// The gateway only calls tools that are listed, so the old names lead there too.
func TestTheGatewayLeadsOldNamesToTheToolsThatAreListed(t *testing.T) {
	like := fit.Recognize(fit.Builtin(), []string{"envQuery", "queryEnv", "envPick"})
	for old, action := range map[string]string{"listEnvs": "list", "getEnvInfo": "info", "getEnvAuthDomains": "domains",
		"getWebsiteConfig": "hosting"} {
		name, args, ok := like.Route(old, json.RawMessage(`{"envId":"x"}`))
		if !ok || name != "envQuery" || string(args) != `{"envId":"x","action":"`+action+`"}` {
			t.Errorf("%s: got %s %s", old, name, args)
		}
		if actions := actionsOf[old]; len(actions) != 1 || actions[0] != action {
			t.Errorf("%s stands for %v", old, actions)
		}
	}
}
