package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

const asTask = `,"task":{"ttl":60000}`

// legacyTaskOf makes a call that is a task from the beginning.
func legacyTaskOf(t *testing.T, c *session, name string) string {
	t.Helper()
	began := time.Now()
	got, err := c.request(t.Context(), "tools/call", calling(name, asTask))
	if err != nil || text(got, "task", "taskId") == "" || text(got, "task", "status") != "working" || text(got, "task", "ttl") == "" {
		t.Fatalf("%s, %v", got, err)
	}
	if time.Since(began) > time.Second {
		t.Errorf("it took %s", time.Since(began))
	}
	return text(got, "task", "taskId")
}

func TestALegacyClientMakesATask(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", mcp.Latest, onlyAsked)
	ann.listen()
	id := legacyTaskOf(t, ann, "slow")
	failing := legacyTaskOf(t, ann, "fails")
	unknown := legacyTaskOf(t, ann, "quick")
	got, err := ann.request(t.Context(), "tasks/get", naming(id))
	if err != nil || text(got, "taskId") != id || text(got, "status") != "working" || text(got, "pollInterval") == "" {
		t.Errorf("%s, %v", got, err)
	}
	time.AfterFunc(2*detachAfter, s.let)
	got, err = ann.request(t.Context(), "tasks/result", naming(id))
	if err != nil || !strings.Contains(got, "done slow") || text(got, "_meta", "io.modelcontextprotocol/related-task", "taskId") != id {
		t.Errorf("%s, %v", got, err)
	}
	if got, err = ann.request(t.Context(), "tasks/result", naming(id)); err != nil || !strings.Contains(got, "done slow") {
		t.Errorf("a second time: %s, %v", got, err)
	}
	_, err = ann.request(t.Context(), "tasks/result", naming(failing))
	wantCode(t, err, -32099)
	got, err = ann.request(t.Context(), "tasks/get", naming(failing))
	if err != nil || text(got, "status") != "failed" || text(got, "statusMessage") != "broken" {
		t.Errorf("%s, %v", got, err)
	}
	if got, err = ann.request(t.Context(), "tasks/result", naming(unknown)); err != nil || !strings.Contains(got, "done quick") {
		t.Errorf("%s, %v", got, err)
	}
	soon(t, "the client hears of the end", func() bool {
		all := strings.Join(ann.heard("notifications/tasks/status"), "\n")
		return strings.Contains(all, id+`","status":"completed"`) && strings.Contains(all, failing+`","status":"failed"`)
	})
	if s.watched() != 0 {
		t.Error("calls that have ended are watched")
	}
}

func TestALegacyTaskIsCanceled(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", mcp.Latest, onlyAsked)
	ann.listen()
	id := legacyTaskOf(t, ann, "slow")
	result := make(chan error, 1)
	go func() {
		_, err := ann.request(context.WithoutCancel(t.Context()), "tasks/result", naming(id))
		result <- err
	}()
	time.Sleep(50 * time.Millisecond)
	got, err := ann.request(t.Context(), "tasks/cancel", naming(id))
	if err != nil || text(got, "status") != "cancelled" || text(got, "taskId") != id {
		t.Errorf("%s, %v", got, err)
	}
	if err := <-result; err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("who waits for the result gets %v", err)
	}
	_, err = ann.request(t.Context(), "tasks/cancel", naming(id))
	wantCode(t, err, mcp.CodeInvalidParams)
	done := legacyTaskOf(t, ann, "quick")
	if _, err := ann.request(t.Context(), "tasks/result", naming(done)); err != nil {
		t.Error(err)
	}
	_, err = ann.request(t.Context(), "tasks/cancel", naming(done))
	if rpc := wantCode(t, err, mcp.CodeInvalidParams); !strings.Contains(rpc.Message, "completed") {
		t.Error(rpc)
	}
	soon(t, "the server is told", func() bool { return s.told() == 1 })
	soon(t, "the client hears of it", func() bool {
		return strings.Contains(strings.Join(ann.heard("notifications/tasks/status"), ""), `"status":"cancelled"`)
	})
}

func TestALegacyTaskAsksWhoWaitsForItsResult(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", mcp.Latest, onlyAsked)
	var mu sync.Mutex
	var asked []string
	ann.answer = func(method string, params json.RawMessage) string {
		mu.Lock()
		defer mu.Unlock()
		of := text(string(params), "_meta", "io.modelcontextprotocol/related-task", "taskId")
		asked = append(asked, method+" "+text(string(params), "message")+" "+of)
		return fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, len(asked))
	}
	id := legacyTaskOf(t, ann, "asks")
	soon(t, "it asks", func() bool {
		got, err := ann.request(t.Context(), "tasks/get", naming(id))
		return err == nil && text(got, "status") == "input_required"
	})
	got, err := ann.request(t.Context(), "tasks/result", naming(id))
	if err != nil || !strings.Contains(got, `\"n\":1`) || !strings.Contains(got, `\"n\":2`) {
		t.Errorf("%s, %v", got, err)
	}
	want := fmt.Sprintf("[elicitation/create [server s] name? %s elicitation/create [server s] color? %s]", id, id)
	if fmt.Sprint(asked) != want {
		t.Errorf("asked %v", asked)
	}
}

// A client that leaves while it waits for a result can come back for it.
func TestWhoWaitsForAResultMayLeave(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", mcp.Latest, onlyAsked)
	id := legacyTaskOf(t, ann, "slow")
	ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	if got, err := ann.request(ctx, "tasks/result", naming(id)); err == nil {
		t.Errorf("got %s", got)
	}
	s.let()
	if got, err := ann.request(t.Context(), "tasks/result", naming(id)); err != nil || !strings.Contains(got, "done slow") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestATaskTellsItsProgress(t *testing.T) {
	s := newShop(t)
	defer s.let()
	ann := s.open("ann", mcp.Latest, onlyAsked)
	id := legacyTaskOf(t, ann, "counts")
	soon(t, "its progress is known", func() bool {
		got, err := ann.request(t.Context(), "tasks/get", naming(id))
		return err == nil && text(got, "statusMessage") == "3 of 10"
	})
}

// A request in a batch cannot be answered before the others: its call goes on with it.
func TestACallInABatchIsNotDetached(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", "2025-03-26", nothing)
	time.AfterFunc(3*detachAfter, s.let)
	resp, err := s.post(t.Context(), "ann", "["+s.door.request("tools/call", calling("slow", ""))+"]", ann.header)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(got), "done slow") {
		t.Errorf("%s, %v", got, err)
	}
	if all, err := s.store.WaitingCalls(t.Context(), store.WaitingFilter{}); err != nil || len(all) != 0 {
		t.Errorf("%d calls wait, %v", len(all), err)
	}
}

func TestATaskOutlivesItsSession(t *testing.T) {
	s := newShop(t)
	id := func() string {
		ann := s.open("ann", mcp.Latest, onlyAsked)
		defer func() {
			req := mustDelete(t, ann)
			resp, err := s.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}()
		return legacyTaskOf(t, ann, "slow")
	}()
	soon(t, "its session hears no more of it", func() bool { return s.watched() == 0 })
	s.let()
	again := s.open("ann", mcp.Latest, onlyAsked)
	if got, err := again.request(t.Context(), "tasks/result", naming(id)); err != nil || !strings.Contains(got, "done slow") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTasksAreListedInPages(t *testing.T) {
	s := newShop(t)
	defer s.let()
	ann := s.open("ann", mcp.Latest, onlyAsked)
	real := legacyTaskOf(t, ann, "slow")
	for i := range 150 {
		w := store.Waiting{ID: fmt.Sprintf("c_%03d", i), Owner: "ann", State: store.Completed}
		w.Created = time.Now().Add(-time.Hour)
		w.Expires = time.Now().Add(time.Hour)
		if i%10 == 0 {
			w.Owner = "bob"
		}
		if err := s.store.AddWaiting(t.Context(), w, store.WaitingLimits{}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	params := `{}`
	for pages := 0; params != ""; pages++ {
		got, err := ann.request(t.Context(), "tasks/list", params)
		if err != nil || pages > 2 {
			t.Fatalf("%s, %v", got, err)
		}
		for w := rawjson.Array(rawjson.Get([]byte(got), "tasks")); w.Next(); {
			id := text(string(w.Value), "taskId")
			if seen[id] || len(seen) == 0 && id != real {
				t.Errorf("%s is there twice, or the newest is not the first", id)
			}
			seen[id] = true
		}
		params = ""
		if cursor := text(got, "nextCursor"); cursor != "" {
			params = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
	}
	if len(seen) != 136 || seen["c_000"] {
		t.Errorf("%d are listed", len(seen))
	}
	for _, cursor := range []string{`"x"`, `"-"`, `"ü"`} {
		_, err := ann.request(t.Context(), "tasks/list", `{"cursor":`+cursor+`}`)
		wantCode(t, err, mcp.CodeInvalidParams)
	}
}

func TestWhatIsNoTask(t *testing.T) {
	s := newShop(t)
	defer s.let()
	for name, c := range map[string]struct{ version, more string }{
		"a task of a revision that has none": {"2025-06-18", asTask},
		"a task that is no object":           {mcp.Latest, `,"task":5`},
		"a null":                             {mcp.Latest, `,"task":null`},
	} {
		ann := s.open("ann", c.version, nothing)
		got, err := ann.request(t.Context(), "tools/call", calling("slow", c.more))
		if err != nil || text(got, "task") != "" || text(got, "_meta", "toolfit/waiting", "ref") == "" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	ann := s.open("ann", mcp.Latest, nothing)
	for _, c := range []struct {
		method, params string
		code           int
	}{
		{"tasks/get", `{}`, mcp.CodeInvalidParams},
		{"tasks/result", `{"taskId":5}`, mcp.CodeInvalidParams},
		{"tasks/cancel", `{"taskId":"a","taskId":"b"}`, mcp.CodeInvalidParams},
		{"tasks/update", `{"taskId":"c_none"}`, mcp.CodeMethodNotFound},
		{"tasks/other", `{}`, mcp.CodeMethodNotFound},
	} {
		_, err := ann.request(t.Context(), c.method, c.params)
		wantCode(t, err, c.code)
	}
	// What is refused before it is sent is a task that has ended.
	got, err := ann.request(t.Context(), "tools/call", `{"name":"fetch_result","arguments":{"ref":"c_none"}`+asTask+`}`)
	if err != nil || text(got, "task", "taskId") == "" {
		t.Fatalf("%s, %v", got, err)
	}
	got, err = ann.request(t.Context(), "tasks/result", naming(text(got, "task", "taskId")))
	if err != nil || text(got, "isError") != "true" {
		t.Errorf("%s, %v", got, err)
	}
	_, err = ann.request(t.Context(), "tools/call", calling("nobody", asTask))
	wantCode(t, err, mcp.CodeInvalidParams)
}
