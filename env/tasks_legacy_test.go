package env_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

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
		r = c.send("tasks/get", id)
		if r.text("status") != "completed" || r.get("ttl") != 60000.0 || r.get("ttlMs") != nil || r.get("result") != nil {
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
