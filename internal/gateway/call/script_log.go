package call

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// LoggedCall is one call of a script.
type LoggedCall struct {
	Name   string          `json:"name"`           // as the script wrote it: shop.list, search
	Digest string          `json:"digest"`         // of the arguments
	Tool   tool.Name       `json:"tool,omitempty"` // canonical; "" for what is no tool, or is not known
	Hash   string          `json:"hash,omitempty"` // of the tool's definition
	Call   string          `json:"call,omitempty"` // its record
	Sent   bool            `json:"sent,omitempty"` // the server may have it, and must not get it twice
	Done   bool            `json:"done,omitempty"`
	At     time.Time       `json:"at,omitzero"`     // when it was answered
	Ref    string          `json:"ref,omitempty"`   // of its result
	Value  json.RawMessage `json:"value,omitempty"` // the answer, where there is no result
	Thrown *script.Thrown  `json:"thrown,omitempty"`
	Asks   json.RawMessage `json:"asks,omitempty"`  // what a modern server asks the client
	State  json.RawMessage `json:"state,omitempty"` // which that server gets back

	asked script.Call
	fresh json.RawMessage // the result, until the script has it
}

// finished is how a call ended.
type finished struct {
	seq   int
	value json.RawMessage // an answer that is no result
	res   *Result
	err   error
}

// Why a pass ends before its script does.
var (
	errIdle   = errors.New("the script waits for answers")
	errPaused = errors.New("the script waits for a person")
)

// pass runs the script until it ends or waits for long. What is in the log is answered from there.
func (r *run) pass(ctx, calls context.Context) (script.Turn, error) {
	r.printed.Reset()
	p, turn, err := r.c.opts.Scripts.Start(ctx, script.Job{
		Who: r.req.Principal.ID, Code: r.Code, Input: r.Input, Globals: globals(r.s.view.As(r.req.Principal)), Seed: r.Seed, Now: r.Began,
	})
	if err != nil {
		return turn, err
	}
	defer p.Close()
	for next := 0; ; next++ {
		r.printed.WriteString(turn.Log)
		if err := r.begun(ctx, calls, turn.Calls); err != nil || turn.Done {
			return turn, err
		}
		if next == len(r.Order) {
			if err := r.wait(ctx, calls, time.After(r.c.idle)); err != nil {
				return turn, err
			}
		}
		a, err := r.answer(ctx, r.Order[next])
		if err != nil {
			return turn, err
		}
		if turn, err = p.Answer(ctx, a); err != nil {
			return turn, err
		}
	}
}

// begun compares what the script calls with the log, and makes the calls that are new.
func (r *run) begun(ctx, making context.Context, calls []script.Call) error {
	for _, call := range calls {
		was, err := r.logged(call)
		switch {
		case err != nil:
			return err
		case was.Done || r.flying[call.Seq]:
		case was.Sent && was.Asks == nil:
			if err := r.finish(ctx, finished{seq: call.Seq, err: lostCall(was.Name)}); err != nil {
				return err
			}
		default:
			r.flying[call.Seq] = true
			r.ready = append(r.ready, call.Seq)
		}
	}
	r.fly(making)
	return nil
}

// logged returns what the log has of a call, which it then has in any case.
func (r *run) logged(call script.Call) (LoggedCall, error) {
	sum := sha256.Sum256(call.Args)
	e := LoggedCall{Name: nameInScript(call), Digest: hex.EncodeToString(sum[:8])}
	r.mu.Lock()
	defer r.mu.Unlock()
	if call.Seq > len(r.Log) {
		r.Log = append(r.Log, e)
	}
	was := &r.Log[call.Seq-1]
	if was.Name != e.Name || was.Digest != e.Digest {
		return e, fault.New(fault.Conflict, "the script did not go the same way as before its pause: call %d was %s, and is %s now",
			call.Seq, was.Name, e.Name).WithHint("run it anew; give another input, such as {\"again\": 1}")
	}
	was.asked = call
	return *was, nil
}

// fly makes as many of the calls that are to be made as may be made at a time.
func (r *run) fly(ctx context.Context) {
	for len(r.ready) > 0 && len(r.flying)-len(r.ready) < maxParallel && r.blocked == nil {
		seq := r.ready[0]
		r.ready = r.ready[1:]
		r.mu.Lock()
		e := r.Log[seq-1]
		r.mu.Unlock()
		keepAlive(ctx, r.req, seq, e.Name)
		go func() { r.results <- r.make(ctx, seq, e) }()
	}
}

// wait waits until a call is answered. Nothing is in the air any more if all calls need a person.
func (r *run) wait(ctx, making context.Context, idle <-chan time.Time) error {
	if !r.kept {
		idle = nil // it could not be run again
	}
	for before := len(r.Order); len(r.Order) == before; r.fly(making) {
		if len(r.flying) == len(r.ready) {
			return errPaused
		}
		select {
		case f := <-r.results:
			if ctx.Err() != nil && f.err != nil { // it failed for that reason, which another gateway may not have
				return canceledScript(ctx)
			}
			if err := r.finish(ctx, f); err != nil {
				return err
			}
		case <-idle:
			return errIdle
		case <-ctx.Done():
			return canceledScript(ctx)
		}
	}
	return nil
}

func canceledScript(ctx context.Context) error {
	return fault.New(fault.Canceled, "the script was canceled: %w", fault.Plain(context.Cause(ctx)))
}

// make makes a call.
func (r *run) make(ctx context.Context, seq int, e LoggedCall) finished {
	f := finished{seq: seq}
	switch e.asked.Do {
	case "sleep":
		f.err = sleep(ctx, e.asked.Args)
		f.value = json.RawMessage("null")
	case "search":
		f.value, f.err = r.c.findTools(ctx, r.req, e.asked.Args)
		f.value = rawjson.Get(f.value, "structuredContent", "tools")
	case "describe":
		f.value, f.err = r.c.describeTool(ctx, r.req, mcp.With(e.asked.Args, "detail", []byte(`"ts"`)))
		f.value = rawjson.Get(f.value, "structuredContent", "declaration")
	default:
		f.res, f.err = r.call(ctx, seq, e)
	}
	return f
}

// maxSleep limits one sleep of a script.
const maxSleep = 30 * time.Second

func sleep(ctx context.Context, args json.RawMessage) error {
	ms, err := strconv.ParseFloat(string(rawjson.Get(args, "ms")), 64)
	if err != nil || ms < 0 || ms > float64(maxSleep.Milliseconds()) {
		return fault.New(fault.BadArguments, "sleep takes milliseconds, from 0 to %d", maxSleep.Milliseconds())
	}
	select {
	case <-time.After(time.Duration(ms * float64(time.Millisecond))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// scripted says of a request that a script makes it.
type scripted struct {
	run *run
	seq int
}

// call makes a call of a tool, as the caller of the script would, but with the whole result.
func (r *run) call(ctx context.Context, seq int, e LoggedCall) (*Result, error) {
	args := orNone(e.asked.Args)
	raw, _ := r.req.Params.forServer(r.toolFor(e.asked), args)
	raw = mcp.Without(raw, "inputResponses", "requestState", "task")
	if meta := rawjson.Get(raw, "_meta"); meta != nil {
		raw = mcp.With(mcp.Without(raw, "_meta"), "_meta", mcp.Without(meta, "progressToken"))
	}
	if e.Asks != nil {
		raw = mcp.With(raw, "inputResponses", r.answersFor(seq))
		if e.State != nil {
			raw = mcp.With(raw, "requestState", e.State)
		}
	}
	params, err := ParseParams(raw)
	if err != nil {
		return nil, err
	}
	req := r.req
	return r.c.Do(ctx, Request{
		Principal: req.Principal, Profile: req.Profile, MCPSession: req.MCPSession, From: req.From, Agent: req.Agent, Reader: Model,
		Whole: true, Params: params, Client: r.rec, Environment: req.Environment, May: req.May, script: &scripted{r, seq},
	})
}

// answersFor are the client's answers to what a call has asked.
func (r *run) answersFor(seq int) json.RawMessage {
	b := []byte{'{'}
	for w := rawjson.Object(r.answers); r.answers != nil && w.Next(); {
		if key, ok := strings.CutPrefix(string(w.Key), strconv.Itoa(seq)+"."); ok {
			b = append(append(rawjson.AppendString(mcp.Comma(b), key), ':'), w.Value...)
		}
	}
	return append(b, '}')
}

// toolFor is the name under which the profile shows a tool that the script names by its server, or as it is shown.
func (r *run) toolFor(call script.Call) string {
	if call.Server == "" {
		return call.Tool
	}
	name := tool.Canonical(tool.ServerID(call.Server), call.Tool)
	if e := r.s.view.Named(name); e != nil {
		return e.Shown
	}
	if e, err := r.s.view.Find(call.Tool); err == nil && string(e.Server) == call.Server { // an override renames it
		return e.Shown
	}
	return string(name)
}

// sends notes that the server gets a call now. One that must not be made twice is noted in the store first.
func (s *scripted) sends(ctx context.Context, entry *catalog.Entry, id string) error {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return fault.New(fault.Canceled, "the script has ended before the call was made")
	}
	e := &r.Log[s.seq-1]
	e.Tool = entry.Name
	e.Hash = tool.Hash(entry.Definition.Raw)
	e.Call = id
	if entry.ReadOnly() || entry.Idempotent() || entry.Server == catalog.Recipes {
		return nil
	}
	e.Sent = true
	e.Asks = nil
	return r.save(ctx, store.ScriptRunning)
}

// finish notes how a call ended. One that needs a person is not answered; the others are, one after the other. The error says that
// another call goes on with the run.
func (r *run) finish(ctx context.Context, f finished) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken != nil {
		return r.taken
	}
	delete(r.flying, f.seq)
	e := &r.Log[f.seq-1]
	if f.res != nil {
		e.Call = f.res.ID
	}
	switch {
	case r.kept && (fault.Is(f.err, fault.ApprovalRequired) || fault.Is(f.err, fault.LoginRequired)):
		e.Sent = false
		r.blocked = f.err
		return nil
	case r.kept && f.err == nil && f.res != nil && f.res.Kind == upstream.InputRequired:
		e.Asks = orNone(rawjson.Get(f.res.Raw, "inputRequests"))
		e.State = rawjson.Get(f.res.Raw, "requestState")
		return nil
	}
	e.Done = true
	e.At = r.c.opts.Now().Truncate(time.Millisecond)
	e.Asks = nil
	e.Value = f.value
	e.Thrown = thrownBy(f)
	if e.Thrown == nil && f.res != nil {
		e.Ref = f.res.Ref
		e.fresh = f.res.Raw
	}
	r.Order = append(r.Order, f.seq)
	if e.Sent {
		if err := r.save(ctx, store.ScriptRunning); err != nil {
			r.unsaved = err
		}
	}
	return r.taken
}

// thrownBy is what a script catches; nil: nothing.
func thrownBy(f finished) *script.Thrown {
	var rpc *mcp.Error
	switch {
	case errors.As(f.err, &rpc):
		return &script.Thrown{Name: "ToolError", Message: rpc.Message, Code: strconv.Itoa(rpc.Code)}
	case f.err != nil:
		e := fault.As(f.err)
		return &script.Thrown{Name: "ToolError", Message: e.Message, Code: string(e.Code), Hint: e.Hint}
	case f.res == nil:
		return nil
	case f.res.Kind == upstream.InputRequired:
		return &script.Thrown{Name: "ToolError", Message: "the server asks something, and nothing is kept here to go on with it"}
	case isToolError(f.res.Raw):
		text := strings.TrimSpace(project.Text(f.res.Raw))
		return &script.Thrown{Name: "ToolError", Message: text, Code: outcomeToolError, Content: rawjson.Get(f.res.Raw, "content")}
	}
	return nil
}

// answer is what the script gets for a call.
func (r *run) answer(ctx context.Context, seq int) (script.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &r.Log[seq-1]
	a := script.Answer{Seq: seq, Err: e.Thrown, Value: e.Value, Now: e.At}
	raw := e.fresh
	e.fresh = nil
	switch {
	case raw == nil && e.Ref != "":
		stored, err := r.c.storedResult(ctx, r.req, e.Ref)
		if err != nil {
			return a, fault.New(fault.NotFound, "the result of call %d, %s, is not kept any more", seq, e.Name).
				WithHint("run the script anew; give another input, such as {\"again\": 1}")
		}
		raw = stored.Body
	case raw == nil:
		return a, nil
	case e.Ref == "" && r.kept: // it could not be stored
		e.Value = valueOf(raw, e.asked.Raw)
	}
	a.Value = valueOf(raw, e.asked.Raw)
	return a, nil
}

// valueOf is a result as a script gets it: the value in it, or all of it if there is none.
func valueOf(raw json.RawMessage, whole bool) json.RawMessage {
	if value := project.Value(raw); value != nil && !whole {
		return value
	}
	return raw
}

// nameInScript is a call as the script writes it.
func nameInScript(call script.Call) string {
	switch {
	case call.Do != "call":
		return call.Do
	case call.Server == "":
		return "tools." + call.Tool
	}
	return call.Server + "." + call.Tool
}

// globals are the servers of a view that scripts can name.
func globals(v *catalog.View) map[string]string {
	names := map[string]string{}
	for _, e := range v.Entries {
		if object, _ := e.InScripts(); object == string(e.Server) {
			names[object] = object
		}
	}
	return names
}
