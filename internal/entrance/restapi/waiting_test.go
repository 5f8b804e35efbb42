package restapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/store"
)

// keyID is the id of somebody's key.
func (g *gateway) keyID(who string) string { return strings.Split(g.keys[who], "_")[1] }

// waits makes a waiting call of somebody's on which nobody works but the test.
func (g *gateway) waits(t testing.TB, who string) *waiting.Live {
	t.Helper()
	_, cancel := context.WithCancelCause(t.Context())
	l, err := g.app.Waiting.Add(t.Context(), store.Waiting{
		ID: g.app.Records.NewID(), Owner: g.keyID(who), Profile: "orders", Server: "shop", Tool: "shop__slow_report",
		State: store.Working, For: store.ForServer, Message: "3 of 10: 正在生成报告", Expires: time.Now().Add(time.Hour), Body: []byte("{}"),
	}, cancel)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.End(context.Background(), store.Cancelled, func(*store.Waiting) {}) })
	return l
}

// ends ends a call with an answer.
func ends(t testing.TB, l *waiting.Live, state store.WaitState, answer string) {
	t.Helper()
	ours, err := l.End(t.Context(), state, func(w *store.Waiting) { w.Answer = []byte(answer) })
	if !ours || err != nil {
		t.Error(ours, err)
	}
}

// one asks for a call, which must be as the document says.
func (g *gateway) one(t testing.TB, who, method, path, body string) restapi.Call {
	t.Helper()
	status, text := g.ask(t, who, method, "/api/v1/calls/"+path, body)
	var c restapi.Call
	if err := json.Unmarshal([]byte(text), &c); err != nil || status != 200 {
		t.Fatalf("HTTP %d, %v: %.300s", status, err, text)
	}
	newSchemas(t).check(t, "Call", text)
	return c
}

const greeting = `{"content":[{"type":"text","text":"报告完成"}]}`

func TestAWaitingCallIsSeenByWhoMaySeeIt(t *testing.T) {
	g := newGateway(t)
	l := g.waits(t, "ann")
	answers := `{"answers":{"q1":{"action":"accept"}}}`
	tests := []struct {
		name, method, path, body string
		ann, bob, eye, root      int
	}{
		{"reading", "GET", "", "", 200, 404, 200, 200},
		{"waiting", "GET", "?wait=10ms", "", 200, 404, 200, 200},
		{"answering what is not asked", "POST", "/answers", answers, 400, 404, 403, 400},
		{"canceling", "POST", "/cancel", "", 200, 404, 403, 200},
		{"canceling again", "POST", "/cancel", "", 200, 404, 403, 200},
		{"answering one that has ended", "POST", "/answers", answers, 409, 404, 403, 409},
		{"reading one that has ended", "GET", "", "", 200, 404, 200, 200},
	}
	for _, tt := range tests {
		for _, who := range []string{"bob", "eye", "ann", "root"} {
			want := map[string]int{"ann": tt.ann, "bob": tt.bob, "eye": tt.eye, "root": tt.root}[who]
			status, body := g.ask(t, who, tt.method, "/api/v1/calls/"+l.ID+tt.path, tt.body)
			if status != want {
				t.Errorf("%s, %s: HTTP %d, want %d: %s", tt.name, who, status, want, body)
			}
			checkForm(t, status, body)
			if want != 404 {
				continue
			}
			_, unknown := g.ask(t, who, tt.method, "/api/v1/calls/c_0000000000000000"+tt.path, tt.body)
			if body != strings.ReplaceAll(unknown, "c_0000000000000000", l.ID) {
				t.Errorf("%s: another's call %s, an unknown one %s", tt.name, body, unknown)
			}
		}
	}
}

func TestOpenCallsAreListedNewestFirst(t *testing.T) {
	g := newGateway(t)
	var ids []string
	for _, who := range []string{"ann", "bob", "ann", "ann"} {
		ids = append(ids, g.waits(t, who).ID)
	}
	ends(t, g.waits(t, "ann"), store.Completed, `{"result":`+greeting+`}`)
	slices.Reverse(ids)
	list := func(who, query string) (found []string) {
		for cursor := ""; ; {
			status, text := g.ask(t, who, "GET", "/api/v1/calls?waiting=true&limit=2&cursor="+cursor+query, "")
			var page restapi.CallPage
			if err := json.Unmarshal([]byte(text), &page); err != nil || status != 200 {
				t.Fatalf("HTTP %d, %v: %s", status, err, text)
			}
			newSchemas(t).check(t, "CallList", text)
			for _, c := range page.Calls {
				if !c.Open() || c.Message != "3 of 10: 正在生成报告" || c.Expires.IsZero() || c.Outcome != "" {
					t.Errorf("%+v", c)
				}
				found = append(found, c.ID)
			}
			if cursor = page.Next; cursor == "" {
				return found
			}
		}
	}
	annes := []string{ids[0], ids[1], ids[3]}
	for _, tt := range []struct {
		who, query string
		want       []string
	}{
		{"ann", "", annes}, {"bob", "", ids[2:3]}, {"eye", "", ids}, {"root", "", ids},
		{"root", "&principal=" + g.keyID("ann"), annes}, {"bob", "&principal=" + g.keyID("ann"), ids[2:3]},
	} {
		if got := list(tt.who, tt.query); !slices.Equal(got, tt.want) {
			t.Errorf("%s %s: %v, want %v", tt.who, tt.query, got, tt.want)
		}
	}
	for _, query := range []string{"waiting=yes", "waiting=true&tool=x", "waiting=true&limit=0", "waiting=true&limit=1001", "waiting=true&cursor=x",
		"waiting=true&outcome=ok", "waiting=true&since=2026-01-01T00:00:00Z"} {
		if status, body := g.ask(t, "root", "GET", "/api/v1/calls?"+query, ""); status != 400 {
			t.Errorf("%s: HTTP %d %s", query, status, body)
		}
	}
	if status, body := g.ask(t, "ann", "GET", "/api/v1/calls?waiting=false", ""); status != 200 || strings.Contains(body, ids[0]) {
		t.Errorf("HTTP %d %s", status, body)
	}
}

func TestAWaitEndsWithTheCall(t *testing.T) {
	g := newGateway(t)
	for name, tt := range map[string]struct {
		state         store.WaitState
		answer        string
		result, fault string
	}{
		"a result":               {store.Completed, `{"result":` + greeting + `}`, greeting, ""},
		"a result of 8 MB":       {store.Completed, `{"result":{"content":[],"x":"` + strings.Repeat("长", 8<<20/3) + `"}}`, "长长长", ""},
		"an error":               {store.Completed, `{"fault":{"code":"upstream_timeout","message":"超时","hint":"h"}}`, "", "upstream_timeout"},
		"a server's own error":   {store.Failed, `{"error":{"code":-32000,"message":"坏了"}}`, "", "upstream_error"},
		"an answer that is lost": {store.Failed, ``, "", "internal"},
		"canceled":               {store.Cancelled, ``, "", "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			l := g.waits(t, "ann")
			if c := g.one(t, "ann", "GET", l.ID+"?wait=0s", ""); c.State != store.Working || c.For != store.ForServer {
				t.Errorf("%+v", c)
			}
			began := time.Now()
			var seen sync.WaitGroup
			var c restapi.Call
			seen.Go(func() { c = g.one(t, "ann", "GET", l.ID+"?wait=60s", "") })
			time.Sleep(20 * time.Millisecond)
			ends(t, l, tt.state, tt.answer)
			seen.Wait()
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			code := ""
			if c.Failure != nil {
				code = string(c.Failure.Code)
			}
			if c.State != tt.state || code != tt.fault || !strings.Contains(string(c.Result), tt.result) || c.Open() {
				t.Errorf("%.500s", fmt.Sprintf("%+v", c))
			}
		})
	}
}

func TestWaitsAreChecked(t *testing.T) {
	g := newGateway(t)
	l := g.waits(t, "ann")
	for _, wait := range []string{"61s", "-1s", "soon", "30", "1h", "%00", "9999999999999h", "NaN"} {
		if status, body := g.ask(t, "ann", "GET", "/api/v1/calls/"+l.ID+"?wait="+wait, ""); status != 400 || !strings.Contains(body, "wait must be") {
			t.Errorf("%s: HTTP %d %s", wait, status, body)
		}
	}
	for _, wait := range []string{"", "0", "0s", "1ms"} {
		if c := g.one(t, "ann", "GET", l.ID+"?wait="+wait, ""); !c.Open() {
			t.Errorf("%s: %+v", wait, c)
		}
	}
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	began := time.Now()
	id := g.call(t, "ann", "shop__list_orders", `{}`)
	if c := g.one(t, "ann", "GET", id+"?wait=60s", ""); c.Outcome != "ok" || c.State != "" || time.Since(began) > 30*time.Second {
		t.Errorf("a call that never waited: %+v", c)
	}
	if status, body := g.ask(t, "ann", "POST", "/api/v1/calls/"+id+"/cancel", ""); status != 409 || !strings.Contains(body, "has ended") {
		t.Errorf("canceling a call that never waited: HTTP %d %s", status, body)
	}
}

// TestCancelsRace holds that of many who cancel and one who ends a call all see the same end.
func TestCancelsRace(t *testing.T) {
	g := newGateway(t)
	for range 20 {
		l := g.waits(t, "ann")
		var all sync.WaitGroup
		statuses := make([]int, 4)
		for i := range statuses {
			all.Go(func() {
				statuses[i], _ = g.ask(t, []string{"ann", "root"}[i%2], "POST", "/api/v1/calls/"+l.ID+"/cancel", "")
			})
		}
		var ours bool
		all.Go(func() {
			ours, _ = l.End(t.Context(), store.Completed, func(w *store.Waiting) { w.Answer = []byte(`{"result":` + greeting + `}`) })
		})
		all.Wait()
		want := map[bool]int{true: http.StatusConflict, false: http.StatusOK}[ours]
		c := g.one(t, "ann", "GET", l.ID, "")
		if slices.ContainsFunc(statuses, func(s int) bool { return s != want }) || (c.State == store.Completed) != ours {
			t.Fatalf("ended by itself %v, canceling said %v, it is %s", ours, statuses, c.State)
		}
	}
}

func TestQuestionsAreAnsweredByKey(t *testing.T) {
	g := newGateway(t)
	l := g.waits(t, "ann")
	var asking sync.WaitGroup
	var said json.RawMessage
	asking.Go(func() {
		said, _ = l.Ask(t.Context(), "elicitation/create", json.RawMessage(`{"message":"哪个季度？"}`))
	})
	c := g.one(t, "ann", "GET", l.ID+"?wait=60s", "")
	if c.State != store.InputRequired || len(c.Questions) != 1 || c.Questions[0].Method != "elicitation/create" ||
		string(c.Questions[0].Params) != `{"message":"哪个季度？"}` {
		t.Fatalf("%+v", c)
	}
	key := c.Questions[0].Key
	for name, body := range map[string]string{
		"nothing": ``, "no JSON": `{`, "no answers": `{}`, "none": `{"answers":{}}`, "null": `{"answers":null}`, "a list": `{"answers":[]}`,
		"a string": `{"answers":{"` + key + `":"yes"}}`, "a null": `{"answers":{"` + key + `":null}}`,
		"another key": `{"answers":{"` + key + `":{},"问题":{}}}`, "another member": `{"answers":{"` + key + `":{}},"x":1}`,
	} {
		if status, body := g.ask(t, "ann", "POST", "/api/v1/calls/"+l.ID+"/answers", body); status != 400 {
			t.Errorf("%s: HTTP %d %s", name, status, body)
		}
	}
	for range 2 { // the second is too late and changes nothing
		c = g.one(t, "ann", "POST", l.ID+"/answers", `{"answers":{"`+key+`": {"action":"accept","content":{"季度":1}}}}`)
		if c.State != store.Working || c.Questions != nil {
			t.Errorf("%+v", c)
		}
	}
	asking.Wait()
	if string(said) != `{"action":"accept","content":{"季度":1}}` {
		t.Errorf("the server got %s", said)
	}
}

// TestADetachedCallHasItsRecordAtTheEnd takes a call of an agent all the way.
func TestADetachedCallHasItsRecordAtTheEnd(t *testing.T) {
	g := newGatewayWith(t, "detach: 1s\n")
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	start := func(seconds int) (id string) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", g.URL+"/mcp", strings.NewReader(fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop__slow_report","arguments":{"seconds":%d},"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},`+
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`, seconds)))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer " + g.keys["ann"], "Content-Type": "application/json", "Mcp-Method": "tools/call",
			"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Name": "shop__slow_report"} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var answer struct {
			Result struct {
				Meta struct {
					Waiting struct{ Ref string } `json:"toolfit/waiting"`
				} `json:"_meta"`
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Result.Meta.Waiting.Ref == "" {
			t.Fatalf("HTTP %d, %v: not detached: %+v", resp.StatusCode, err, answer)
		}
		return answer.Result.Meta.Waiting.Ref
	}
	id := start(5) // seconds, of which the machine may be busy for some
	if c := g.one(t, "ann", "GET", id, ""); !c.Open() || c.Tool != "shop__slow_report" || c.Outcome != "" {
		t.Errorf("%+v", c)
	}
	if _, body := g.ask(t, "root", "GET", "/metrics", ""); !strings.Contains(body, "\ntoolfit_waiting_calls 1\n") {
		t.Error("the open call is not counted")
	}
	if c := g.one(t, "ann", "GET", id+"?wait=60s", ""); c.State != store.Completed || c.Outcome != "ok" || c.Upstream != "slow_report" ||
		!strings.Contains(string(c.Result), "returned") {
		t.Errorf("%+v", c)
	}
	id = start(60)
	if c := g.one(t, "root", "POST", id+"/cancel", ""); c.State != store.Cancelled || c.Failure.Code != "canceled" {
		t.Errorf("%+v", c)
	}
	wait(t, "the record of the canceled call", func() bool { return g.one(t, "ann", "GET", id, "").Outcome == "canceled" })
}
