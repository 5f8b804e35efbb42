package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Capabilities of clients.
const (
	knowsTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	onlyAsked  = `{"elicitation":{}}`
	nothing    = `{}`
)

func wantCode(t *testing.T, err error, code int) *mcp.Error {
	t.Helper()
	var rpc *mcp.Error
	if !errors.As(err, &rpc) || rpc.Code != code {
		t.Fatalf("got %v, want code %d", err, code)
	}
	return rpc
}

// calling are the params of tools/call.
func calling(name, more string) string {
	return fmt.Sprintf(`{"name":"s__%s","arguments":{}%s}`, name, more)
}

func naming(id string) string { return fmt.Sprintf(`{"taskId":%q}`, id) }

// modernTask makes a call that becomes a task.
func modernTask(t *testing.T, s *shop, name string) string {
	t.Helper()
	got, err := s.modern(t.Context(), "ann", knowsTasks, "tools/call", calling(name, ""))
	if err != nil || text(got, "resultType") != "task" || text(got, "status") != "working" || text(got, "taskId") == "" {
		t.Fatalf("%s, %v", got, err)
	}
	return text(got, "taskId")
}

// getUntil polls a modern task until it has the status.
func getUntil(t *testing.T, s *shop, id, status string) (got string) {
	t.Helper()
	soon(t, "it is "+status, func() bool {
		var err error
		got, err = s.modern(t.Context(), "ann", knowsTasks, "tasks/get", naming(id))
		if err != nil || text(got, "resultType") != "complete" {
			t.Fatalf("%s, %v", got, err)
		}
		return text(got, "status") == status
	})
	return got
}

func TestASlowCallOfAModernClientBecomesATask(t *testing.T) {
	s := newShop(t)
	got, err := s.modern(t.Context(), "ann", knowsTasks, "tools/call", calling("quick", ""))
	if err != nil || text(got, "resultType") != "complete" {
		t.Errorf("a quick call: %s, %v", got, err)
	}
	id := modernTask(t, s, "slow")
	got = getUntil(t, s, id, "working")
	for _, member := range []string{"createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs", "_meta"} {
		if text(got, member) == "" {
			t.Errorf("no %s in %s", member, got)
		}
	}
	for _, member := range []string{"result", "error", "inputRequests"} {
		if text(got, member) != "" {
			t.Errorf("a %s in %s", member, got)
		}
	}
	failing := modernTask(t, s, "fails")
	s.let()
	got = getUntil(t, s, id, "completed")
	if !strings.Contains(text(got, "result", "content"), "done slow") {
		t.Errorf("got %s", got)
	}
	if got = getUntil(t, s, failing, "failed"); text(got, "error", "code") != "-32099" || text(got, "error", "message") != "broken" {
		t.Errorf("got %s", got)
	}
	soon(t, "they are on record", func() bool { return s.recorded("slow") == "ok" && s.recorded("fails") == "error" })
}

func TestAModernTaskIsCanceled(t *testing.T) {
	s := newShop(t)
	id := modernTask(t, s, "slow")
	for range 2 {
		got, err := s.modern(t.Context(), "ann", knowsTasks, "tasks/cancel", naming(id))
		if err != nil || text(got, "resultType") != "complete" {
			t.Fatalf("%s, %v", got, err)
		}
	}
	getUntil(t, s, id, "cancelled")
	soon(t, "the server is told", func() bool { return s.told() == 1 })
	soon(t, "it is on record", func() bool { return s.recorded("slow") == "canceled" })
	done := modernTask(t, s, "slow")
	s.let()
	getUntil(t, s, done, "completed")
	if _, err := s.modern(t.Context(), "ann", knowsTasks, "tasks/cancel", naming(done)); err != nil {
		t.Errorf("canceling one that has ended: %v", err)
	}
	getUntil(t, s, done, "completed")
}

func TestAModernTaskAsks(t *testing.T) {
	s := newShop(t)
	id := modernTask(t, s, "asks")
	got := getUntil(t, s, id, "input_required")
	q := text(got, "inputRequests", "q1")
	if text(q, "method") != "elicitation/create" || !strings.Contains(text(q, "params"), "name?") {
		t.Fatalf("got %s", got)
	}
	update := func(responses string) error {
		got, err := s.modern(t.Context(), "ann", knowsTasks, "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":%s}`, id, responses))
		if err == nil && text(got, "resultType") != "complete" {
			t.Errorf("got %s", got)
		}
		return err
	}
	for _, responses := range []string{`{}`, `{"other":{}}`, `{"q1":5}`, `{"q1":null}`} {
		if err := update(responses); err != nil {
			t.Errorf("%s: %v", responses, err)
		}
		getUntil(t, s, id, "input_required")
	}
	for _, responses := range []string{`[]`, `5`, `null`, `"q1"`} {
		wantCode(t, update(responses), mcp.CodeInvalidParams)
	}
	_, err := s.modern(t.Context(), "ann", knowsTasks, "tasks/update", naming(id))
	wantCode(t, err, mcp.CodeInvalidParams)
	if err := update(`{"q1":{"action":"accept","content":{"n":9007199254740993}},"other":{}}`); err != nil {
		t.Fatal(err)
	}
	soon(t, "it asks again", func() bool { return strings.Contains(getUntil(t, s, id, "input_required"), "color?") })
	if got := getUntil(t, s, id, "input_required"); text(got, "inputRequests", "q2") == "" || text(got, "inputRequests", "q1") != "" {
		t.Errorf("got %s", got)
	}
	if err := update(`{"q1":{"action":"decline"}}`); err != nil { // answered before
		t.Error(err)
	}
	if err := update(`{"q2":{"action":"decline"}}`); err != nil {
		t.Fatal(err)
	}
	got = getUntil(t, s, id, "completed")
	if !strings.Contains(got, `{\"action\":\"accept\",\"content\":{\"n\":9007199254740993}} {\"action\":\"decline\"}`) {
		t.Errorf("got %s", got)
	}
	if err := update(`{"q2":{}}`); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func TestModernMethodsOfTasksThatAreRefused(t *testing.T) {
	s := newShop(t)
	id := modernTask(t, s, "slow")
	defer s.let()
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		for _, caps := range []string{onlyAsked, nothing} {
			_, err := s.modern(t.Context(), "ann", caps, method, naming(id))
			rpc := wantCode(t, err, mcp.CodeMissingCapability)
			if !strings.Contains(rpc.Error()+string(dataOf(rpc)), "io.modelcontextprotocol/tasks") {
				t.Errorf("%s: %v %s", method, rpc, dataOf(rpc))
			}
		}
		_, err := s.modern(t.Context(), "ann", knowsTasks, method, `{"inputResponses":{}}`)
		wantCode(t, err, mcp.CodeInvalidParams)
	}
	for _, method := range []string{"tasks/list", "tasks/result", "tasks/other"} {
		_, err := s.modern(t.Context(), "ann", knowsTasks, method, naming(id))
		wantCode(t, err, mcp.CodeMethodNotFound)
	}
}

// What belongs to somebody else must look as if it were not there, in every word.
func TestAnothersTaskIsUnknown(t *testing.T) {
	s := newShop(t)
	id := modernTask(t, s, "slow")
	defer s.let()
	bob := s.open("bob", mcp.Latest, onlyAsked)
	modern := func(method, more string) func(id string) error {
		return func(id string) error {
			_, err := s.modern(t.Context(), "bob", knowsTasks, method, fmt.Sprintf(`{"taskId":%q%s}`, id, more))
			return err
		}
	}
	legacy := func(method string) func(id string) error {
		return func(id string) error {
			_, err := bob.request(t.Context(), method, naming(id))
			return err
		}
	}
	for name, do := range map[string]func(id string) error{
		"modern get": modern("tasks/get", ""), "modern cancel": modern("tasks/cancel", ""),
		"modern update": modern("tasks/update", `,"inputResponses":{"q1":{}}`),
		"legacy get":    legacy("tasks/get"), "legacy cancel": legacy("tasks/cancel"), "legacy result": legacy("tasks/result"),
	} {
		known := wantCode(t, do(id), mcp.CodeInvalidParams)
		unknown := wantCode(t, do("c_none"), mcp.CodeInvalidParams)
		if a, b := strings.ReplaceAll(string(known.Raw), id, "c_none"), string(unknown.Raw); a != b {
			t.Errorf("%s: %s is not %s", name, a, b)
		}
	}
	fetched := func(id string) string {
		got, err := bob.request(t.Context(), "tools/call", fmt.Sprintf(`{"name":"fetch_result","arguments":{"ref":%q}}`, id))
		if err != nil || text(got, "isError") != "true" {
			t.Errorf("%s, %v", got, err)
		}
		return strings.ReplaceAll(got, id, "ID")
	}
	if a, b := fetched(id), fetched("c_none"); a != b {
		t.Errorf("%s is not %s", a, b)
	}
	if got, err := bob.request(t.Context(), "tasks/list", `{}`); err != nil || got != `{"tasks":[]}` {
		t.Errorf("%s, %v", got, err)
	}
	if w, err := s.calls.Get(t.Context(), "ann", id); err != nil || w.State != store.Working {
		t.Errorf("bob has changed it: %+v, %v", w, err)
	}
}

func TestAModernClientListensToItsTasks(t *testing.T) {
	s := newShop(t)
	mine := modernTask(t, s, "slow")
	again := modernTask(t, s, "fails")
	got, err := s.modern(t.Context(), "bob", knowsTasks, "tools/call", calling("slow", ""))
	if err != nil {
		t.Fatal(err)
	}
	bobs := text(got, "taskId")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ids, _ := json.Marshal([]string{mine, bobs, "c_none", again, mine})
	resp, err := s.modernStream(ctx, "ann", knowsTasks, "subscriptions/listen", `{"notifications":{"taskIds":`+string(ids)+`}}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	acknowledged := false
	last := map[string]string{}
	read(resp, func(m mcp.Message) bool {
		switch m.Method {
		case "notifications/subscriptions/acknowledged":
			want, _ := json.Marshal([]string{mine, again})
			if text(string(m.Params), "notifications", "taskIds") != string(want) {
				t.Errorf("acknowledged %s", m.Params)
			}
			acknowledged = true
		case "notifications/tasks":
			id := text(string(m.Params), "taskId")
			if !acknowledged {
				t.Error("told before it was acknowledged")
			}
			if len(last) == 0 {
				defer s.let()
			}
			p := string(m.Params)
			last[id] = text(p, "status") + " " + text(p, "result", "content") + text(p, "error", "message")
		default:
			t.Errorf("heard %s %s", m.Method, m.Params)
		}
		return strings.HasPrefix(last[mine], "completed") && strings.HasPrefix(last[again], "failed")
	})
	if !strings.Contains(last[mine], "done slow") || last[again] != "failed broken" || len(last) != 2 {
		t.Errorf("heard %v", last)
	}
	leave()
	soon(t, "nothing is left", func() bool { return s.watched() == 0 })
	_, err = s.modern(t.Context(), "ann", onlyAsked, "subscriptions/listen", `{"notifications":{"taskIds":["`+mine+`"]}}`)
	wantCode(t, err, mcp.CodeMissingCapability)
}

// watched is how many calls somebody hears of.
func (s *shop) watched() int {
	s.server.watchers.mu.Lock()
	defer s.server.watchers.mu.Unlock()
	return len(s.server.watchers.of)
}

func TestACallInAModernConversationBecomesATask(t *testing.T) {
	s := newShop(t)
	got, err := s.modern(t.Context(), "ann", onlyAsked, "tools/call", calling("asks", ""))
	if err != nil || text(got, "resultType") != "complete" || text(got, "_meta", "toolfit/waiting", "ref") == "" {
		t.Fatalf("%s, %v", got, err)
	}
	params := fmt.Sprintf(`{"name":"fetch_result","arguments":{"ref":%q,"wait":"10s"}}`, text(got, "_meta", "toolfit/waiting", "ref"))
	got, err = s.modern(t.Context(), "ann", onlyAsked, "tools/call", params)
	for n := 1; n <= 2; n++ {
		if err != nil || text(got, "resultType") != "input_required" {
			t.Fatalf("%s, %v", got, err)
		}
		answers := fmt.Sprintf(`{"q%d":{"action":"accept","content":{"n":%d}}}`, n, n)
		again := mcp.With(json.RawMessage(params), "inputResponses", json.RawMessage(answers))
		state, _ := json.Marshal(text(got, "requestState"))
		got, err = s.modern(t.Context(), "ann", onlyAsked, "tools/call", string(mcp.With(again, "requestState", state)))
	}
	if err != nil || !strings.Contains(got, `\"n\":1`) || !strings.Contains(got, `\"n\":2`) {
		t.Errorf("%s, %v", got, err)
	}
}

// Whether a call ends or is detached first: its caller gets the result, one way or the other.
func TestTheEndRacesWithDetaching(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", "2025-06-18", onlyAsked)
	params := calling("races", "")
	detached := 0
	for name, do := range map[string]func(method, params string) (string, error){
		"legacy": func(method, params string) (string, error) { return ann.request(t.Context(), method, params) },
		"modern, with tasks": func(method, params string) (string, error) {
			return s.modern(t.Context(), "ann", knowsTasks, method, params)
		},
		"modern, asked": func(method, params string) (string, error) {
			return s.modern(t.Context(), "ann", onlyAsked, method, params)
		},
		"modern, deaf": func(method, params string) (string, error) {
			return s.modern(t.Context(), "ann", nothing, method, params)
		},
	} {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 25 {
			wg.Go(func() {
				got, err := do("tools/call", params)
				ref := cmp.Or(text(got, "taskId"), text(got, "_meta", "toolfit/waiting", "ref"))
				if ref != "" {
					mu.Lock()
					detached++
					mu.Unlock()
					got, err = do("tools/call", fmt.Sprintf(`{"name":"fetch_result","arguments":{"ref":%q,"wait":"10s"}}`, ref))
				}
				if err != nil || !strings.Contains(got, "done races") {
					t.Errorf("%s: %s, %v", name, got, err)
				}
			})
		}
		wg.Wait()
	}
	t.Logf("%d of 100 were detached", detached)
	if got := strings.Fields(s.recorded("races")); len(got) != 100 || strings.Count(s.recorded("races"), "ok") != 100 {
		t.Errorf("on record: %s", got)
	}
}

func TestAClientWithoutTasksGetsAHandle(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", "2025-06-18", nothing)
	got, err := ann.request(t.Context(), "tools/call", calling("slow", ""))
	ref := text(got, "_meta", "toolfit/waiting", "ref")
	if err != nil || text(got, "isError") != "" || !strings.Contains(got, `fetch_result {\"ref\":\"`+ref) {
		t.Fatalf("%s, %v", got, err)
	}
	got, err = ann.request(t.Context(), "tools/call", calling("typed", ""))
	if err != nil || text(got, "isError") != "true" || text(got, "_meta", "toolfit/error", "code") != "still_running" {
		t.Fatalf("%s, %v", got, err)
	}
	typed := strings.SplitN(strings.SplitN(text(got, "_meta", "toolfit/error", "message"), `"ref":"`, 2)[1], `"`, 2)[0]
	fetch := func(args string) string {
		t.Helper()
		got, err := ann.request(t.Context(), "tools/call", `{"name":"fetch_result","arguments":`+args+`}`)
		if err != nil {
			t.Errorf("%s: %v", args, err)
		}
		return got
	}
	began := time.Now()
	for _, wait := range []string{"", `,"wait":"0s"`, `,"wait":"100ms"`, `,"wait":"0.1"`} {
		got := fetch(`{"ref":"` + ref + `"` + wait + `}`)
		if text(got, "_meta", "toolfit/waiting", "state") != "working" || !strings.Contains(got, "still running") {
			t.Errorf("wait %s: %s", wait, got)
		}
	}
	if time.Since(began) > 3*time.Second {
		t.Errorf("it took %s", time.Since(began))
	}
	for _, wait := range []string{`"soon"`, `"-1s"`, `"1 minute"`, `true`, `"NaN"`} {
		if got := fetch(`{"ref":"` + ref + `","wait":` + wait + `}`); text(got, "isError") != "true" {
			t.Errorf("wait %s: %s", wait, got)
		}
	}
	time.AfterFunc(100*time.Millisecond, s.let)
	if got := fetch(`{"ref":"` + ref + `","wait":"30s"}`); !strings.Contains(got, "done slow") {
		t.Errorf("got %s", got)
	}
	if got := fetch(`{"ref":"` + typed + `","wait":"30s"}`); text(got, "structuredContent", "n") != "1" {
		t.Errorf("got %s", got)
	}
	if got := fetch(`{"ref":"` + ref + `","cancel":true}`); !strings.Contains(got, "done slow") {
		t.Errorf("canceled after the end: %s", got)
	}
	if got := fetch(`{"ref":"c_none"}`); text(got, "isError") != "true" {
		t.Errorf("got %s", got)
	}
}

func TestAHandleCancelsItsCall(t *testing.T) {
	s := newShop(t)
	ann := s.open("ann", "2025-06-18", nothing)
	got, _ := ann.request(t.Context(), "tools/call", calling("slow", ""))
	ref := text(got, "_meta", "toolfit/waiting", "ref")
	got, err := ann.request(t.Context(), "tools/call", `{"name":"fetch_result","arguments":{"ref":"`+ref+`","cancel":true}}`)
	if err != nil || !strings.Contains(got, "canceled") {
		t.Errorf("%s, %v", got, err)
	}
	soon(t, "the server is told", func() bool { return s.told() == 1 })
	soon(t, "it is on record", func() bool { return s.recorded("slow") == "canceled" })
}
