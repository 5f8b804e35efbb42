package env_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

// workers are tools that run as tasks. Ended gets a value when the context of a sleeper ends.
func workers(ended chan<- string) []env.Tool {
	type name struct {
		Name string `json:"name"`
	}
	sleep := env.NewTool("sleep", "", func(ctx context.Context, in name) (any, error) {
		env.Progress(ctx, "sleeping")
		<-ctx.Done()
		ended <- in.Name
		return nil, ctx.Err()
	})
	ask := env.NewTool("ask", "", func(ctx context.Context, _ struct{}) (any, error) {
		answers, err := env.Ask(ctx, env.Form[name]("Who?"))
		if err != nil {
			return nil, err
		}
		again, err := env.Ask(ctx, env.Form[name]("And who else?"))
		if err != nil {
			return nil, err
		}
		var a, b name
		_, err = answers[0].Accepted(&a)
		_, more := again[0].Accepted(&b)
		return a.Name + " and " + b.Name, errors.Join(err, more)
	})
	quick := env.NewTool("quick", "", func(_ context.Context, in name) (any, error) { return "你好 " + in.Name, nil })
	wrong := env.NewTool("wrong", "", func(context.Context, struct{}) (any, error) { return nil, errors.New("no luck") })
	broken := env.NewTool("broken", "", func(context.Context, struct{}) (any, error) { panic("secret") })
	must := env.NewTool("must", "", func(context.Context, struct{}) (any, error) { return "done", nil })
	plain := env.NewTool("plain", "", func(context.Context, struct{}) (any, error) { return "done", nil })
	refused := must
	refused.Name = "refused"
	refused.Prepare = func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("not today") }
	all := []env.Tool{sleep, ask, quick, wrong, broken, must, plain, refused}
	for i := range all {
		all[i].Task = env.TaskOptional
	}
	all[5].Task = env.TaskRequired
	all[6].Task = ""
	return all
}

type party struct {
	t      *testing.T
	server *env.Server
	url    string
	ended  chan string
}

func tasks(t *testing.T, opts *env.Options) *party {
	t.Helper()
	server, err := env.NewServer(nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 2000)
	for _, tool := range workers(ended) {
		if err := server.AddTool(tool); err != nil {
			t.Fatal(err)
		}
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	t.Cleanup(server.Close)
	return &party{t, server, web.URL, ended}
}

// reply is what a message is answered with.
type reply struct {
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (r reply) get(path ...string) any {
	var v any = r.Result
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

func (r reply) text(path ...string) string { s, _ := r.get(path...).(string); return s }

// modern sends a request of revision 2026-07-28, with these capabilities.
func (p *party) modern(capabilities, method, params string) reply {
	p.t.Helper()
	res := p.send(capabilities, method, params)
	defer res.Body.Close()
	var m reply
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		p.t.Fatalf("%s %s: %v", method, params, err)
	}
	return m
}

const (
	bare    = `{"elicitation":{}}`
	declare = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// send sends a modern request and returns the response.
func (p *party) send(capabilities, method, params string) *http.Response {
	p.t.Helper()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, meta, params)
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	var named struct{ Name, TaskID string }
	json.Unmarshal([]byte("{"+params+"}"), &named)
	req.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method},
		"Mcp-Name": {named.Name + named.TaskID}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	return res
}

// until polls a modern task until it has the status.
func (p *party) until(id, status string) reply {
	p.t.Helper()
	for range 500 {
		r := p.modern(declare, "tasks/get", fmt.Sprintf(`"taskId":%q`, id))
		if r.text("status") == status {
			return r
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.t.Fatalf("task %s does not become %s", id, status)
	return reply{}
}

func (p *party) start(params string) string {
	p.t.Helper()
	r := p.modern(declare, "tools/call", params)
	if r.text("resultType") != "task" || r.text("taskId") == "" {
		p.t.Fatalf("%s: %+v", params, r)
	}
	return r.text("taskId")
}

func TestStreamHearsOfItsTasks(t *testing.T) {
	p := tasks(t, nil)
	id := p.start(`"name":"ask"`)
	res := p.send(declare, "subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q,"another"]}`, id))
	defer res.Body.Close()
	said := make(chan string, 100)
	go func() {
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				said <- data
			}
		}
	}()
	hear := func(want ...string) {
		t.Helper()
		for {
			select {
			case data := <-said:
				if strings.Contains(data, want[0]) {
					for _, part := range want {
						if !strings.Contains(data, part) {
							t.Fatalf("%s is not in %s", part, data)
						}
					}
					return
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%q is not heard", want)
			}
		}
	}
	hear("acknowledged", `"taskIds":["`+id+`"]`)
	hear(`"status":"input_required"`, `"method":"notifications/tasks"`, `"inputRequests":{"q1":`)
	p.modern(declare, "tasks/cancel", fmt.Sprintf(`"taskId":%q`, id))
	hear(`"status":"cancelled"`, id)
}

func TestModernTasks(t *testing.T) {
	p := tasks(t, nil)
	t.Run("an extension, not a capability", func(t *testing.T) {
		r := p.modern(bare, "server/discover", `"x":1`)
		if r.get("capabilities", "extensions", "io.modelcontextprotocol/tasks") == nil || r.get("capabilities", "tasks") != nil {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("a result", func(t *testing.T) {
		r := p.until(p.start(`"name":"quick","arguments":{"name":"Ada"}`), "completed")
		if text := fmt.Sprint(r.get("result", "content")); !strings.Contains(text, "你好 Ada") || r.text("resultType") != "complete" {
			t.Errorf("got %+v", r)
		}
		if r.text("result", "resultType") != "complete" { // as the call itself would have said
			t.Errorf("got %+v", r)
		}
		if r.get("ttlMs") != 3600000.0 || r.get("ttl") != nil || r.get("inputRequests") != nil {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("an error of the tool completes, a panic fails", func(t *testing.T) {
		r := p.until(p.start(`"name":"wrong"`), "completed")
		if r.get("result", "isError") != true {
			t.Errorf("got %+v", r)
		}
		r = p.until(p.start(`"name":"broken"`), "failed")
		if r.get("error", "code") != -32603.0 || r.get("error", "message") != "internal error" || r.get("result") != nil {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("questions one after the other, with keys of their own", func(t *testing.T) {
		id := p.start(`"name":"ask"`)
		first := p.until(id, "input_required")
		if first.text("inputRequests", "q1", "method") != "elicitation/create" {
			t.Fatalf("got %+v", first)
		}
		update := func(answers string) reply {
			return p.modern(declare, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":%s`, id, answers))
		}
		for answers, code := range map[string]int{`7`: -32602, `{"q1":7}`: -32602, `{"q9":{}}`: 0, `{}`: 0} {
			if r := update(answers); code == 0 && r.Error != nil || code != 0 && (r.Error == nil || r.Error.Code != code) {
				t.Errorf("%s: got %+v", answers, r)
			}
		}
		update(`{"q1":{"action":"accept","content":{"name":"Ada"}}}`)
		for p.until(id, "input_required").get("inputRequests", "q2") == nil {
			time.Sleep(time.Millisecond)
		}
		update(`{"q1":{"action":"accept","content":{"name":"nobody"}},"q2":{"action":"accept","content":{"name":"Bo"}}}`)
		if r := p.until(id, "completed"); !strings.Contains(fmt.Sprint(r.get("result")), "Ada and Bo") {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("cancel ends the tool, and may come twice", func(t *testing.T) {
		id := p.start(`"name":"sleep","arguments":{"name":"cancel"}`)
		for p.until(id, "working").text("statusMessage") != "sleeping" {
			time.Sleep(time.Millisecond)
		}
		for range 2 {
			if r := p.modern(declare, "tasks/cancel", fmt.Sprintf(`"taskId":%q`, id)); r.text("resultType") != "complete" || r.get("taskId") != nil {
				t.Errorf("got %+v", r)
			}
		}
		p.until(id, "cancelled")
		if name := <-p.ended; name != "cancel" {
			t.Errorf("%s has ended", name)
		}
	})
	t.Run("refused before there is a task", func(t *testing.T) {
		for params, text := range map[string]string{
			`"name":"refused"`: "not today", `"name":"quick","arguments":{"name":[]}`: "name",
		} {
			r := p.modern(declare, "tools/call", params)
			if r.get("isError") != true || r.text("resultType") != "complete" || !strings.Contains(fmt.Sprint(r.get("content")), text) {
				t.Errorf("%s: got %+v", params, r)
			}
		}
	})
	t.Run("nobody gets more than they may", func(t *testing.T) {
		for _, c := range []struct {
			capabilities, method, params string
			code                         int
		}{
			{bare, "tools/call", `"name":"must"`, -32021},
			{`{"extensions":{"io.modelcontextprotocol/tasks":null}}`, "tools/call", `"name":"must"`, -32021},
			{bare, "tasks/get", `"taskId":"x"`, -32021},
			{bare, "tasks/update", `"taskId":"x"`, -32021},
			{bare, "tasks/cancel", `"taskId":"x"`, -32021},
			{declare, "tasks/get", `"taskId":"x"`, -32602},
			{declare, "tasks/update", `"taskId":"x","inputResponses":{}`, -32602},
			{declare, "tasks/cancel", `"taskId":"x"`, -32602},
			{declare, "tasks/result", `"taskId":"x"`, -32601},
			{declare, "tasks/list", `"x":1`, -32601},
			{declare, "tasks/nothing", `"x":1`, -32601},
		} {
			if r := p.modern(c.capabilities, c.method, c.params); r.Error == nil || r.Error.Code != c.code {
				t.Errorf("%s %s: got %+v", c.method, c.params, r)
			}
		}
		if r := p.modern(bare, "tools/call", `"name":"quick","arguments":{"name":"Bo"}`); r.text("resultType") != "complete" {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAModernCallWithoutTaskAsksByItsAnswer(t *testing.T) {
	p := tasks(t, nil)
	answer := func(more string) reply { return p.modern(bare, "tools/call", `"name":"ask"`+more) }
	key := func(r reply) string {
		t.Helper()
		asked, _ := r.get("inputRequests").(map[string]any)
		if r.text("resultType") != "input_required" || len(asked) != 1 {
			t.Fatalf("got %+v", r)
		}
		for name := range asked {
			return name
		}
		return ""
	}
	said := func(key, name string) string {
		return fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{"name":%q}}}`, key, name)
	}
	first := answer("")
	if first.get("requestState") != nil {
		t.Errorf("got %+v", first)
	}
	second := answer(said(key(first), "Ada"))
	state, _ := json.Marshal(second.text("requestState"))
	last := answer(said(key(second), "Bo") + `,"requestState":` + string(state))
	if !strings.Contains(fmt.Sprint(last.get("content")), "Ada and Bo") || last.get("isError") != nil {
		t.Errorf("got %+v", last)
	}
	if again := answer(said("q1-00000000", "Ada")); key(again) != key(first) || again.get("requestState") != nil {
		t.Errorf("got %+v", again)
	}
	for _, wrong := range []string{`,"requestState":7`, `,"requestState":"[1]"`, `,"requestState":"null"`, `,"inputResponses":[]`,
		`,"inputResponses":{"q1":"Ada"}`} {
		if r := answer(wrong); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("%s: got %+v", wrong, r)
		}
	}
	r := p.modern(`{}`, "tools/call", `"name":"ask"`)
	if r.get("isError") != true || !strings.Contains(fmt.Sprint(r.get("content")), "cannot be asked") {
		t.Errorf("got %+v", r)
	}
}

func TestTasksExpireAndEndWithTheServer(t *testing.T) {
	p := tasks(t, &env.Options{TaskTTL: 50 * time.Millisecond})
	id := p.start(`"name":"sleep","arguments":{"name":"old"}`)
	if name := <-p.ended; name != "old" {
		t.Errorf("%s has ended", name)
	}
	for p.modern(declare, "tasks/get", fmt.Sprintf(`"taskId":%q`, id)).Error == nil {
		time.Sleep(time.Millisecond)
	}
	q := tasks(t, nil)
	q.start(`"name":"sleep","arguments":{"name":"closed"}`)
	q.server.Close()
	if name := <-q.ended; name != "closed" {
		t.Errorf("%s has ended", name)
	}
	if r := q.modern(declare, "tools/call", `"name":"quick","arguments":{"name":"late"}`); r.Error == nil || r.Error.Code != -32603 {
		t.Errorf("got %+v", r)
	}
}

func TestNobodyCanTakeAllTasks(t *testing.T) {
	p := tasks(t, nil)
	n := 0
	for ; p.modern(declare, "tools/call", `"name":"quick","arguments":{"name":"x"}`).Error == nil; n++ {
		if n > 1000 {
			t.Fatal("there is no limit")
		}
	}
	c := p.legacy("2025-11-25")
	c.send("tasks/result", c.start(`{"name":"must","task":{}}`))
	if n != 750 {
		t.Errorf("%d tasks", n)
	}
}
