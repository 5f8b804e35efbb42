package upstream

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// TaskUse says whether a server may make a task of a call.
type TaskUse int

const (
	NoTask      TaskUse = iota // only if a modern server refuses the call otherwise
	MayTask                    // the caller can follow a task
	NeedsTask                  // a legacy tool that runs only as a task
	RefusesTask                // never: that a modern server insists is the client's to know
)

// Task is a server's task, as both eras describe it.
type Task struct {
	ID        string
	Status    string          // working, input_required, completed, failed or cancelled
	Message   string          // what the server says about the status, at most 1,000 bytes; may be ""
	Poll      time.Duration   // when to ask again, from 200 ms to a minute
	TTL       time.Duration   // how long the server keeps it; 0: no limit is known
	Questions json.RawMessage // modern, input_required: inputRequests, signed with the server's name; nil: none
	Result    json.RawMessage // modern, completed
	Error     *mcp.Error      // modern, failed
	Era       mcp.Era         // of the server
}

// The statuses of a task.
const (
	TaskWorking   = "working"
	TaskAsks      = "input_required"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskCancelled = "cancelled"
)

// Ended tells whether the task will not change any more.
func (t Task) Ended() bool {
	return t.Status == TaskCompleted || t.Status == TaskFailed || t.Status == TaskCancelled
}

const (
	getTask    = "tasks/get"
	taskResult = "tasks/result"
	updateTask = "tasks/update"
	cancelTask = "tasks/cancel"
)

// Bounds of what a server says about a task.
const (
	maxTaskID      = 1 << 10
	maxTaskMessage = 1000
	minPoll        = 200 * time.Millisecond
	maxPoll        = time.Minute
	maxTTL         = 365 * 24 * time.Hour
)

// taskTTL is how long we ask a legacy server to keep a task.
var taskTTL = []byte(`{"ttl":3600000}`)

// readTask reads a task without what a modern one has in addition when it is asked for: questions, result, error.
func readTask(server tool.ServerID, raw json.RawMessage, era mcp.Era) (Task, error) {
	ttl := "ttl"
	poll := "pollInterval"
	if era == mcp.Modern {
		ttl = "ttlMs"
		poll = "pollIntervalMs"
	}
	t := Task{Era: era, Poll: time.Second}
	t.ID, _ = rawjson.String(rawjson.Get(raw, "taskId"))
	t.Status, _ = rawjson.String(rawjson.Get(raw, "status"))
	t.Message, _ = rawjson.String(rawjson.Get(raw, "statusMessage"))
	t.Message = strings.ToValidUTF8(t.Message[:min(len(t.Message), maxTaskMessage)], "") // the cut may split a character
	if d, ok := milliseconds(rawjson.Get(raw, poll)); ok {
		t.Poll = min(max(d, minPoll), maxPoll)
	}
	if d, ok := milliseconds(rawjson.Get(raw, ttl)); ok {
		t.TTL = max(d, 0)
	}
	statuses := []string{TaskWorking, TaskAsks, TaskCompleted, TaskFailed, TaskCancelled}
	switch {
	case t.ID == "":
		return Task{}, fault.New(fault.UpstreamProtocol, "server %s made a task without an id", server)
	case len(t.ID) > maxTaskID:
		return Task{}, fault.New(fault.UpstreamProtocol, "server %s made a task with an id of %d bytes, over the limit of %d",
			server, len(t.ID), maxTaskID)
	case !slices.Contains(statuses, t.Status):
		return Task{}, fault.New(fault.UpstreamProtocol, "server %s has a task with an unknown status %.40q", server, t.Status)
	}
	return t, nil
}

// milliseconds reads a duration, at most maxTTL; false if it is not a number.
func milliseconds(raw json.RawMessage) (time.Duration, bool) {
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	limit := float64(maxTTL / time.Millisecond)
	return time.Duration(min(max(ms, -1), limit)) * time.Millisecond, true
}
