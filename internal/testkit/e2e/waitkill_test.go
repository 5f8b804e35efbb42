package e2e

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const maybe = "may or may not have happened"

// walk is a call on its way through a kill.
type walk struct {
	name   string
	server string // old or new
	begin  func(w *world, server, n string) string
	killed func(w *world, s *heldServer, n, id string) // before the kill, when the call waits
	after  func(w *world, s *heldServer, n, id string) // after the restart
	want   string
	sent   string // what the server must have seen
	times  int
}

// world is a gateway with its servers.
type world struct {
	*testing.T
	url     string
	servers map[string]*heldServer
}

// detached makes a call that goes on after a second.
func detached(tool, more string) func(*world, string, string) string {
	return func(w *world, server, n string) string {
		w.Helper()
		c, err := dialRaw(w.url+"/mcp", "")
		if err != nil {
			w.Fatal(err)
		}
		result, err := c.request("tools/call", fmt.Sprintf(`{"name":"%s__%s","arguments":{"n":%q}%s}`, server, tool, n, more))
		return handle(w.T, result, err)
	}
}

// asTask makes a call of a modern client that has tasks.
func asTask(tool, args string) func(*world, string, string) string {
	return func(w *world, server, n string) string {
		w.Helper()
		name := server + "__" + tool
		return handle(w.T, modernTask(w.T, w.url, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{"n":%q%s}`, name, n, args)), nil)
	}
}

// let lets the server end the call.
func let(_ *world, s *heldServer, n, _ string) { s.let(n) }

// asks waits until a call asks.
func asks(w *world, _ *heldServer, _, id string) {
	w.Helper()
	eventually(w.T, id+" asks", func() bool { return taskStatus(w.T, w.url, id) == "input_required" })
}

// says answers what a call asks.
func says(w *world, _ *heldServer, _, id string) {
	w.Helper()
	modernTask(w.T, w.url, "tasks/update", id, `"taskId":"`+id+`","inputResponses":{"who":{"action":"accept","content":{"name":"ann"}}}`)
}

var walks = []walk{
	{name: "sent to a server", server: "old", begin: detached("hold", ""), want: maybe, sent: "hold", times: 1},
	{name: "sent to a modern server", server: "new", begin: detached("hold", ""), want: maybe, sent: "hold", times: 1},
	{name: "sent by a client with tasks", server: "old", begin: asTask("hold", ""), want: maybe, sent: "hold", times: 1},
	{name: "a task from the beginning", server: "old", begin: detached("hold", `,"task":{}`), want: maybe, sent: "hold", times: 1},
	{name: "read-only", server: "old", begin: detached("look", ""), after: let, want: "done", sent: "look", times: 2},
	{name: "idempotent", server: "new", begin: detached("put", `,"task":{}`), after: let, want: "done", sent: "put", times: 2},
	{name: "answered before", server: "old", begin: detached("hold", ""), want: "done", sent: "hold", times: 1,
		killed: func(w *world, s *heldServer, n, id string) {
			s.let(n)
			if got := collect(w.T, w.url, id); !strings.Contains(got, "done "+n) {
				w.Errorf("before the kill: %s", got)
			}
		}},
	{name: "asks its client", server: "new", begin: asTask("ask", `,"ms":1500`), killed: asks, want: "ann", sent: "ask", times: 1,
		after: func(w *world, s *heldServer, n, id string) {
			if status := taskStatus(w.T, w.url, id); status != "input_required" {
				w.Errorf("it is %s", status)
			}
			s.let(n + " answered")
			says(w, s, n, id)
			says(w, s, n, id) // once more is ignored
			collect(w.T, w.url, id)
			if times := s.saw("answer " + n); times != 1 {
				w.Errorf("answered %d times", times)
			}
		}},
	{name: "answered by its client", server: "new", begin: asTask("ask", `,"ms":1500`), want: maybe, sent: "answer", times: 1,
		killed: func(w *world, s *heldServer, n, id string) {
			asks(w, s, n, id)
			says(w, s, n, id)
			eventually(w.T, "the server has the answer", func() bool { return s.saw("answer "+n) == 1 })
		}},
	{name: "a server's task", server: "old", begin: asTask("job", ""), killed: polled, after: let, want: "done", sent: "job", times: 1},
	{name: "a modern server's task", server: "new", begin: asTask("job", ""), killed: polled, after: let, want: "done", sent: "job", times: 1},
	{name: "a server's task, held for its client", server: "old", begin: detached("must", ""), killed: polled, after: let, want: "done",
		sent: "job", times: 1},
	{name: "canceled", server: "old", begin: detached("hold", ""), want: "canceled", sent: "hold", times: 1,
		killed: func(w *world, _ *heldServer, _, id string) {
			modernTask(w.T, w.url, "tasks/cancel", id, `"taskId":"`+id+`"`)
		},
		after: func(w *world, _ *heldServer, _, id string) {
			if status := taskStatus(w.T, w.url, id); status != "cancelled" {
				w.Errorf("it is %s", status)
			}
		}},
}

// polled waits until the server's task was looked at.
func polled(w *world, s *heldServer, n, _ string) {
	w.Helper()
	eventually(w.T, "the task is looked at", func() bool { return s.saw("tasks/get "+n) > 0 })
}

// TestWaitingCallsOutliveAKill brings a call into each of the states that it can wait in, kills the
// gateway, and looks what became of each: none is lost, none is sent twice.
func TestWaitingCallsOutliveAKill(t *testing.T) {
	w := &world{T: t, servers: map[string]*heldServer{"old": newHeldServer(t, false), "new": newHeldServer(t, true)}}
	path := write(t, lines("mcpServers:", "  old: {url: "+w.servers["old"].URL+"}", "  new: {url: "+w.servers["new"].URL+"}", "detach: 1s"))
	first, _ := runChild(t, path)
	w.url = first.url
	awaitTools(t, w.url, "")
	ids := make([]string, len(walks))
	var begun sync.WaitGroup
	for i, c := range walks {
		begun.Go(func() {
			ids[i] = c.begin(w, c.server, fmt.Sprint("n", i))
			if c.killed != nil {
				c.killed(w, w.servers[c.server], fmt.Sprint("n", i), ids[i])
			}
		})
	}
	begun.Wait()
	if t.Failed() {
		return
	}
	first.kill(t)
	second, _ := runChild(t, path)
	for i, c := range walks {
		t.Run(c.name, func(t *testing.T) {
			if ids[i] == "" {
				t.Fatal("it has no handle")
			}
			w := &world{T: t, url: second.url, servers: w.servers}
			s := w.servers[c.server]
			n := fmt.Sprint("n", i)
			if c.after != nil {
				c.after(w, s, n, ids[i])
			}
			if got := collect(t, second.url, ids[i]); !strings.Contains(got, c.want) {
				t.Errorf("%s became %s", ids[i], got)
			}
			if times := s.saw(c.sent + " " + n); times != c.times {
				t.Errorf("sent %d times", times)
			}
		})
	}
}

// awaitTools waits until the gateway knows the tools of both servers.
func awaitTools(t *testing.T, url, key string) {
	t.Helper()
	c, err := dialRaw(url+"/mcp", key)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tools are listed", func() bool {
		list, err := c.request("tools/list", "{}")
		return err == nil && strings.Contains(list, "old__hold") && strings.Contains(list, "new__hold")
	})
}

// leftHandle is a handle that a client has of a call.
type leftHandle struct {
	id, server, n, tool, want string
}

// leave makes calls that are tasks from the beginning, until the gateway is dead. After the last rounds
// the gateway is killed at most once more.
func leave(url string, round, i int, last bool, left func(leftHandle)) {
	c, err := dialRaw(url+"/mcp", "")
	if err != nil {
		return
	}
	h := leftHandle{server: []string{"old", "new"}[i%2], tool: "hold", want: maybe}
	ms := 0
	switch i % 3 {
	case 1: // it may have answered in time
		ms = 5
		h.want = "happened|done"
	case 2: // it may be sent again, but not after each of many kills
		ms = 5
		h.tool = "look"
		h.want = "happened|done"
		if last {
			h.want = "done"
		}
	}
	for k := 0; ; k++ {
		h.n = fmt.Sprintf("r%d-%d-%d", round, i, k)
		params := fmt.Sprintf(`{"name":"%s__%s","arguments":{"n":%q,"ms":%d},"task":{}}`, h.server, h.tool, h.n, ms)
		result, err := c.request("tools/call", params)
		if err != nil {
			return
		}
		h.id = handlePattern.FindString(result)
		left(h)
	}
}

// TestNoHandleIsUnknownAfterAKill kills the gateway again and again, moments after handles have left it.
func TestNoHandleIsUnknownAfterAKill(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	s := map[string]*heldServer{"old": newHeldServer(t, false), "new": newHeldServer(t, true)}
	path := write(t, lines("mcpServers:", "  old: {url: "+s["old"].URL+"}", "  new: {url: "+s["new"].URL+"}"))
	var mu sync.Mutex
	var handles []leftHandle
	for round := range rounds {
		r, _ := runChild(t, path)
		if round == 0 {
			awaitTools(t, r.url, "")
		}
		enough := make(chan struct{})
		need := rand.IntN(8) + 1
		var work sync.WaitGroup
		for i := range 6 {
			work.Go(func() {
				leave(r.url, round, i, round >= rounds-2, func(h leftHandle) {
					mu.Lock()
					defer mu.Unlock()
					handles = append(handles, h)
					if need--; need == 0 {
						close(enough)
					}
				})
			})
		}
		<-enough
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // at no moment in particular
		r.kill(t)
		work.Wait()
	}
	last, _ := runChild(t, path)
	for _, h := range handles {
		result := collect(t, last.url, h.id)
		times := s[h.server].saw(h.tool + " " + h.n)
		if !regexp.MustCompile(h.want).MatchString(result) || times > 1 && h.tool != "look" || times > 4 {
			t.Errorf("%s of %s, sent %d times: %s", h.tool, h.id, times, result)
		}
	}
	t.Log(len(handles), "handles")
}
