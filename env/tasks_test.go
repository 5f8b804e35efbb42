package env_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
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
	defer res.Body.Close()
	var m reply
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		p.t.Fatalf("%s: %v", body, err)
	}
	return m
}

const (
	bare    = `{"elicitation":{}}`
	declare = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

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

func TestModernTasks(t *testing.T) {
	p := tasks(t, nil)
	t.Run("a result", func(t *testing.T) {
		r := p.until(p.start(`"name":"quick","arguments":{"name":"Ada"}`), "completed")
		if text := fmt.Sprint(r.get("result", "content")); !strings.Contains(text, "你好 Ada") || r.text("resultType") != "complete" {
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
	if r := p.modern(`{}`, "tools/call", `"name":"ask"`); r.get("isError") != true || !strings.Contains(fmt.Sprint(r.get("content")), "cannot be asked") {
		t.Errorf("got %+v", r)
	}
}

// client is a legacy client that answers every question.
type client struct {
	*party
	header http.Header
	last   int // the id of the last request
	asked  []json.RawMessage
}

func (p *party) legacy(version string) *client {
	c := &client{party: p, header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}}
	r := c.send("initialize", `{"protocolVersion":"`+version+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}`)
	if has := r.get("capabilities", "tasks", "requests", "tools", "call") != nil; has != (version == "2025-11-25") {
		p.t.Errorf("%s: got %+v", version, r)
	}
	return c
}

func (c *client) send(method, params string) reply {
	c.t.Helper()
	c.last++
	res := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.last, method, params))
	defer res.Body.Close()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.header.Set("Mcp-Session-Id", id)
	}
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		data := strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		var m struct {
			reply
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		switch {
		case strings.HasPrefix(data, "{"):
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				c.t.Fatalf("%s: %v", data, err)
			}
		case err != nil:
			c.t.Fatalf("%s: %v", method, err)
		default:
			continue
		}
		if m.Method == "" {
			return m.reply
		}
		c.asked = append(c.asked, m.Params)
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"N%d"}}}`, m.ID, len(c.asked))
		c.post(answer).Body.Close()
	}
}

func (c *client) post(body string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.header.Clone()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

func (c *client) start(params string) string {
	c.t.Helper()
	r := c.send("tools/call", params)
	if r.text("task", "status") != "working" || r.text("task", "taskId") == "" {
		c.t.Fatalf("%s: %+v", params, r)
	}
	return fmt.Sprintf(`{"taskId":%q}`, r.text("task", "taskId"))
}

func TestLegacyTasks(t *testing.T) {
	p := tasks(t, nil)
	c := p.legacy("2025-11-25")
	t.Run("a result, with the mark of its task", func(t *testing.T) {
		id := c.start(`{"name":"quick","arguments":{"name":"Ada"},"task":{"ttl":60000.7}}`)
		r := c.send("tasks/result", id)
		marked := fmt.Sprintf(`{"taskId":%q}`, r.text("_meta", "io.modelcontextprotocol/related-task", "taskId"))
		if !strings.Contains(fmt.Sprint(r.get("content")), "你好 Ada") || marked != id {
			t.Errorf("got %+v", r)
		}
		if r := c.send("tasks/get", id); r.text("status") != "completed" || r.get("ttl") != 60000.0 || r.get("ttlMs") != nil || r.get("result") != nil {
			t.Errorf("got %+v", r)
		}
		if r := c.send("tasks/cancel", id); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("questions are asked while somebody waits for the result", func(t *testing.T) {
		id := c.start(`{"name":"ask","task":{}}`)
		for c.send("tasks/get", id).text("status") != "input_required" {
			time.Sleep(time.Millisecond)
		}
		r := c.send("tasks/result", id)
		if !strings.Contains(fmt.Sprint(r.get("content")), "N1 and N2") || len(c.asked) != 2 {
			t.Errorf("got %+v, asked %s", r, c.asked)
		}
		if !strings.Contains(string(c.asked[0]), `"io.modelcontextprotocol/related-task":`+id) {
			t.Errorf("got %s", c.asked[0])
		}
	})
	t.Run("questions without a task", func(t *testing.T) {
		c.asked = nil
		if r := c.send("tools/call", `{"name":"ask"}`); !strings.Contains(fmt.Sprint(r.get("content")), "N1 and N2") {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("errors", func(t *testing.T) {
		if r := c.send("tasks/result", c.start(`{"name":"wrong","task":{}}`)); r.get("isError") != true {
			t.Errorf("got %+v", r)
		}
		if r := c.send("tasks/result", c.start(`{"name":"refused","task":{}}`)); r.get("isError") != true {
			t.Errorf("got %+v", r)
		}
		if r := c.send("tasks/result", c.start(`{"name":"broken","task":{}}`)); r.Error == nil || r.Error.Code != -32603 {
			t.Errorf("got %+v", r)
		}
		for params, code := range map[string]int{
			`{"name":"must"}`: -32601, `{"name":"plain","task":{}}`: -32601, `{"name":"quick","task":7}`: -32602,
			`{"name":"quick","task":{"ttl":"1"}}`: -32602, `{"name":"quick","task":{"ttl":-1}}`: -32602, `{"name":"quick","task":{"ttl":0}}`: -32602,
		} {
			if r := c.send("tools/call", params); r.Error == nil || r.Error.Code != code {
				t.Errorf("%s: got %+v", params, r)
			}
		}
		if r := c.send("tasks/update", `{"taskId":"x","inputResponses":{}}`); r.Error == nil || r.Error.Code != -32601 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("cancel ends the tool and who waits for it", func(t *testing.T) {
		id := c.start(`{"name":"sleep","arguments":{"name":"legacy"},"task":{"ttl":1e400}}`)
		waits := make(chan reply)
		go func() { waits <- (&client{party: p, header: c.header.Clone(), last: 1000}).send("tasks/result", id) }()
		if r := c.send("tasks/cancel", id); r.text("status") != "cancelled" {
			t.Errorf("got %+v", r)
		}
		if r := <-waits; r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("got %+v", r)
		}
		<-p.ended
	})
	t.Run("a session sees its own tasks, and they end with it", func(t *testing.T) {
		other := p.legacy("2025-11-25")
		id := other.start(`{"name":"sleep","arguments":{"name":"mine"},"task":{}}`)
		if r := c.send("tasks/get", id); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("got %+v", r)
		}
		var named struct{ TaskID string }
		json.Unmarshal([]byte(id), &named)
		if r := p.modern(declare, "tasks/get", fmt.Sprintf(`"taskId":%q`, named.TaskID)); r.Error == nil {
			t.Errorf("got %+v", r)
		}
		if list, _ := other.send("tasks/list", `{}`).get("tasks").([]any); len(list) != 1 {
			t.Errorf("got %v", list)
		}
		if list, _ := c.send("tasks/list", `{}`).get("tasks").([]any); len(list) != 6 {
			t.Errorf("got %v", list)
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodDelete, p.url, nil)
		req.Header = other.header
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
		}
		if name := <-p.ended; name != "mine" {
			t.Errorf("%s has ended", name)
		}
	})
	t.Run("status changes are told, and tools say what they support", func(t *testing.T) {
		watcher := p.legacy("2025-11-25")
		watcher.send("tasks/result", watcher.start(`{"name":"must","task":{}}`))
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url, nil)
		req.Header = watcher.header
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		lines := bufio.NewScanner(io.LimitReader(res.Body, 1<<20))
		for lines.Scan() {
			if strings.Contains(lines.Text(), "notifications/tasks/status") && strings.Contains(lines.Text(), `"completed"`) {
				break
			}
		}
		list, _ := json.Marshal(watcher.send("tools/list", `{}`).Result)
		if n := strings.Count(string(list), `"taskSupport":"optional"`); n != 6 || !strings.Contains(string(list), `"taskSupport":"required"`) {
			t.Errorf("got %s", list)
		}
	})
	t.Run("older revisions have no tasks", func(t *testing.T) {
		old := p.legacy("2025-06-18")
		if r := old.send("tools/call", `{"name":"quick","arguments":{"name":"Bo"},"task":{}}`); r.get("content") == nil {
			t.Errorf("got %+v", r)
		}
		if r := old.send("tasks/list", `{}`); r.Error == nil || r.Error.Code != -32601 {
			t.Errorf("got %+v", r)
		}
		if list, _ := json.Marshal(old.send("tools/list", `{}`).Result); strings.Contains(string(list), "execution") {
			t.Errorf("got %s", list)
		}
	})
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

func TestTasksOverPipes(t *testing.T) {
	server, err := env.NewServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, tool := range workers(make(chan string, 10)) {
		if err := server.AddTool(tool); err != nil {
			t.Fatal(err)
		}
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	defer toServer.Close()
	go server.Run(t.Context(), fromClient, toClient)
	lines := bufio.NewScanner(fromServer)
	wait := func(part string) string {
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return lines.Text()
			}
		}
		t.Fatalf("there is no %s: %v", part, lines.Err())
		return ""
	}
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}`)
	wait(`"tasks":{"list"`)
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","task":{}}}`)
	var made struct {
		Result struct{ Task struct{ TaskID string } }
	}
	json.Unmarshal([]byte(wait(`"id":2`)), &made)
	fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":%q}}`+"\n", made.Result.Task.TaskID)
	for _, name := range []string{"Ada", "Bo"} {
		var asks struct{ ID json.RawMessage }
		json.Unmarshal([]byte(wait("elicitation/create")), &asks)
		fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":%q}}}`+"\n", asks.ID, name)
	}
	if last := wait(`"id":3`); !strings.Contains(last, "Ada and Bo") {
		t.Errorf("got %s", last)
	}
}
