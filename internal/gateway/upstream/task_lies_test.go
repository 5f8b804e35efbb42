//go:build unix

package upstream

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
)

func TestServersThatLieAboutTasks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ name, answer, says string }{
		{"no id", `{"resultType":"task","status":"working"}`, "server new made a task without an id"},
		{"an id that is no text", `{"resultType":"task","taskId":7,"status":"working"}`, "without an id"},
		{"a huge id", `{"resultType":"task","taskId":"` + long + `","status":"working"}`, "an id of 1048576 bytes, over the limit of 1024"},
		{"no status", `{"resultType":"task","taskId":"t"}`, `unknown status ""`},
		{"an unknown status", `{"resultType":"task","taskId":"t","status":"` + long + `"}`, `unknown status "xxxx`},
		{"another type", `{"resultType":"job","taskId":"t","status":"working"}`, `a result of type "job", which was not asked for`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, c.answer) })
			p, _ := newPool(t, nil, s.config())
			_, err := p.Call(t.Context(), taskCall("new", MayTask))
			wantFault(t, err, fault.UpstreamProtocol, c.says)
			if len(err.Error()) > 300 {
				t.Errorf("it says %d bytes", len(err.Error()))
			}
		})
	}
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		writeJSON(w, m.ID, modernTask("task", "working", ""))
	})
	p, _ := newPool(t, nil, s.config())
	_, err := p.Call(t.Context(), taskCall("new", NoTask))
	wantFault(t, err, fault.UpstreamProtocol, `a result of type "task", which was not asked for`)
	_, err = p.Call(t.Context(), Call{Server: "new", Method: "prompts/get", Params: json.RawMessage(`{"name":"p"}`), Task: MayTask})
	wantFault(t, err, fault.UpstreamProtocol, `a result of type "task", which was not asked for`)
	for name, answer := range map[string]string{
		"server old made a task without an id":             `{"task":"t"}`,
		`server old has a task with an unknown status "x"`: `{"task":{"taskId":"t","status":"x"}}`,
	} {
		s := newOldWeb(t, taskHello, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, answer) })
		p, _ := newPool(t, nil, s.config())
		_, err := p.Call(t.Context(), taskCall("old", MayTask))
		wantFault(t, err, fault.UpstreamProtocol, name)
	}
}

func TestServersThatLieAboutAKnownTask(t *testing.T) {
	t.Parallel()
	answer := ""
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, answer) })
	p, _ := newPool(t, nil, s.config())
	for lie, says := range map[string]string{
		`{"resultType":"complete","taskId":"other","status":"working"}`:                  "answered tasks/get with another task",
		`{"resultType":"complete","content":[]}`:                                         "without an id",
		modernTask("input_required", "working", ""):                                      `answered tasks/get with a result of type "input_required"`,
		modernTask("complete", "completed", ""):                                          "has a completed task without its result",
		modernTask("complete", "completed", `,"result":[]`):                              "has a completed task without its result",
		modernTask("complete", "completed", `,"result":{"resultType":"input_required"}`): "has a completed task without its result",
		modernTask("complete", "input_required", `,"inputRequests":[{"method":"x"}]`):    "sent invalid questions of a task",
		`[]`: "without an id",
	} {
		answer = lie
		_, err := p.GetTask(t.Context(), taskCall("new", MayTask), taskID)
		wantFault(t, err, fault.UpstreamProtocol, says)
	}
}

func TestWhatAServerSaysOfTimesIsBounded(t *testing.T) {
	for said, want := range map[string][2]time.Duration{
		``: {time.Second, 0}, `"pollIntervalMs":null,"ttlMs":null`: {time.Second, 0}, `"pollIntervalMs":0,"ttlMs":0`: {minPoll, 0},
		`"pollIntervalMs":-9e99,"ttlMs":-1`: {minPoll, 0}, `"pollIntervalMs":9e999,"ttlMs":9e999`: {maxPoll, maxTTL},
		`"pollIntervalMs":"1","ttlMs":{}`: {time.Second, 0}, `"pollIntervalMs":1500.5,"ttlMs":1`: {1500 * time.Millisecond, time.Millisecond},
	} {
		raw := strings.Replace(`{"taskId":"t","status":"working",`+said+`}`, ",}", "}", 1)
		got, err := readTask("s", json.RawMessage(raw), mcp.Modern)
		if err != nil || got.Poll != want[0] || got.TTL != want[1] {
			t.Errorf("%s: %s, %s, %v", said, got.Poll, got.TTL, err)
		}
	}
	got, err := readTask("s", json.RawMessage(`{"taskId":"t","status":"working","statusMessage":"`+strings.Repeat("任", 500)+`"}`), mcp.Legacy)
	if err != nil || got.Message != strings.Repeat("任", 333) {
		t.Errorf("%d bytes, %v", len(got.Message), err)
	}
}
