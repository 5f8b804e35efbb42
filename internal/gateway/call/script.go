package call

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ScriptRuns stores the scripts that were run.
type ScriptRuns interface {
	SaveScriptRun(ctx context.Context, r store.ScriptRun) error
	ClaimScriptRun(ctx context.Context, owner, profile, tool, digest string) (store.ScriptRun, bool, error)
	ScriptRun(ctx context.Context, owner, id string) (store.ScriptRun, error)
}

// Limits of a run, beside those of the engine.
const (
	maxParallel = 8                // calls at a time
	maxReturned = 64 << 10         // bytes of what a script returned, to propose a type from
	maxRecipes  = 3                // that call each other
	stillOn     = time.Minute      // how long answers that come once more do not go on with a run: its gateway may have gone, or not
	scriptIdle  = 10 * time.Second // how long the engine waits for answers; then it is started anew for them
)

// run is a script while it runs. What it has called is in its log: to go on after a pause, the script is run from the beginning,
// and what is in the log is answered from there. So a pause holds nothing but a row of the store.
type run struct {
	c    *Caller
	s    *sent
	req  *Request
	rec  *recording
	row  store.ScriptRun
	kept bool // results are kept, so that it can be run again

	mu sync.Mutex // guards the body: calls note in it that they are sent
	RunBody
	flying  map[int]bool // calls that are being made, or are to be
	ready   []int        // those that are to be
	results chan finished
	answers json.RawMessage // of the client, to what calls have asked
	blocked error           // a call needs a person, who cannot be asked here
	printed strings.Builder // in this pass
	unsaved error           // why a call could not be noted
	taken   error           // another call goes on with the run
	over    bool            // calls that are not sent yet need not be
}

// RunBody is what is stored of a run.
type RunBody struct {
	Code  string          `json:"code"`
	Input json.RawMessage `json:"input,omitempty"`
	Seed  string          `json:"seed"`
	Began time.Time       `json:"began"`
	Log   []LoggedCall    `json:"log,omitempty"`
	Order []int           `json:"order,omitempty"` // in which they were answered, by their numbers from 1

	Result json.RawMessage `json:"result,omitempty"` // what it returned, unless that is large
	Failed bool            `json:"failed,omitempty"`
}

// runScript is the tool run_script, and every recipe.
func (c *Caller) runScript(ctx context.Context, s *sent, req *Request, rec *recording) (upstream.Outcome, error) {
	if c.opts.Scripts == nil || c.opts.ScriptRuns == nil {
		return upstream.Outcome{}, fault.New(fault.BadRequest, "scripts are not run here")
	}
	if s.entry.Server == catalog.Recipes && req.script.recipes() >= maxRecipes {
		return upstream.Outcome{}, fault.New(fault.BadRequest, "recipes call each other more than %d deep", maxRecipes)
	}
	r := &run{c: c, s: s, req: req, rec: rec, flying: map[int]bool{}, results: make(chan finished, 2*maxParallel)}
	if err := r.read(ctx); err != nil {
		return upstream.Outcome{}, err
	}
	if err := r.open(ctx); err != nil {
		return upstream.Outcome{}, err
	}
	if req.script != nil && !r.kept { // whose process would wait for ours, which may wait for its place
		return upstream.Outcome{}, fault.New(fault.BadRequest, "a script can call a recipe only where results are kept")
	}
	rec.run = r.row.ID
	rec.sends(s, req)
	switch after := c.detachAfter(s, req); {
	case rec.live != nil:
	case req.Tasks == AsTask:
		if err := rec.now(ctx); err != nil {
			return upstream.Outcome{}, err
		}
	case after > 0:
		timer := time.AfterFunc(rec.left(after), func() { rec.Slow(rec.stop) })
		defer timer.Stop()
	}
	calls, cancel := context.WithCancel(ctx)
	defer cancel() // those that the script did not wait for
	for {
		turn, err := r.pass(ctx, calls)
		if err == errIdle {
			err = r.wait(ctx, calls, nil)
		}
		switch {
		case err == nil && !turn.Done:
		case err == errPaused:
			return r.pause(ctx)
		default:
			return r.end(ctx, turn, err)
		}
	}
}

// read finds out what is to be run.
func (r *run) read(ctx context.Context) error {
	args := r.s.fitted.Args
	if r.s.own(RunScript) {
		r.Code, _ = rawjson.String(rawjson.Get(args, "code"))
		r.Input = rawjson.Get(args, "input")
		return nil
	}
	recipe, err := r.c.opts.Recipe(ctx, r.s.entry)
	r.Code = recipe
	r.Input = orNone(args)
	return err
}

// open finds the run that this call goes on with, or begins one.
func (r *run) open(ctx context.Context) error {
	sum := sha256.New()
	sum.Write([]byte(r.Code + "\x00"))
	sum.Write(r.Input)
	now := r.c.opts.Now()
	call := &r.rec.call
	r.row = store.ScriptRun{
		ID: call.ID, Owner: call.Principal, Profile: call.Profile, Tool: string(r.s.entry.Name), Digest: hex.EncodeToString(sum.Sum(nil)),
		State: store.ScriptRunning, At: now, Expires: now.Add(max(r.c.opts.Retain(), longestWait)),
	}
	r.kept = r.c.opts.Results != nil && r.s.view.Results.Keep != "none"
	before, found, err := r.find(ctx)
	switch {
	case err != nil:
		return err
	case found && before.Err != nil:
		return before.Err
	case found:
		r.row.ID = before.ID
		r.row.At = before.At
		r.row.Version = before.Version
		r.answers = rawjson.Get(r.req.Params.Raw, "inputResponses")
		if before.ID != call.ID {
			r.rec.note(goesOn + before.ID)
		}
		if err := json.Unmarshal(before.Body, &r.RunBody); err != nil {
			return err
		}
	default:
		r.Seed = rand.Text()
		r.Began = now.Truncate(time.Millisecond)
	}
	return r.save(ctx, store.ScriptRunning) // from here on nobody else goes on with it
}

// goesOn begins the note in the record of a call that goes on with the run of another one.
const goesOn = "goes on with "

// RunOf is the id of the run that a call went on with by the message of its record, or else began.
func RunOf(id, message string) string {
	for note := range strings.SplitSeq(message, "; ") {
		if run, found := strings.CutPrefix(note, goesOn); found {
			return run
		}
	}
	return id
}

// find returns the run that the call goes on with: the one that its client brings answers for, the one that another gateway
// has left, or a paused one of the same script and input. Calls of a run that is not found are not made once more.
func (r *run) find(ctx context.Context) (found store.ScriptRun, ok bool, err error) {
	state, _ := rawjson.String(rawjson.Get(r.req.Params.Raw, "requestState"))
	id := cmp.Or(state, r.rec.run)
	if id == "" {
		return r.c.opts.ScriptRuns.ClaimScriptRun(ctx, r.row.Owner, r.row.Profile, r.row.Tool, r.row.Digest)
	}
	found, err = r.c.opts.ScriptRuns.ScriptRun(ctx, r.row.Owner, id)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
	case r.rec.run != "" && err != nil:
		err = lostCall(r.s.entry.Shown)
	case r.rec.run != "": // its end may not be stored yet, though the run's is: then it is run through the log
	case err != nil || found.Digest != r.row.Digest || found.Tool != r.row.Tool || found.State == store.ScriptEnded:
		err = fault.New(fault.Conflict, "no run of this script waits for these answers: it has ended, or is not kept any more").
			WithHint("look at what it has done; to run it from the beginning, make the call without requestState")
	case found.State == store.ScriptRunning && found.Expires.After(r.row.Expires.Add(-stillOn)):
		err = fault.New(fault.Conflict, "another call goes on with the script").
			WithHint("wait for its result; if there is none, try again in a minute")
	}
	return found, err == nil, err
}

// save stores the run. Where results are not kept, what it has called is not either.
func (r *run) save(ctx context.Context, state store.ScriptState) (err error) {
	body := r.RunBody
	if !r.kept {
		body.Log = nil
		body.Order = nil
		body.Result = nil
	}
	r.row.State = state
	if r.row.Body, err = json.Marshal(&body); err != nil {
		return err
	}
	err = r.c.opts.ScriptRuns.SaveScriptRun(context.WithoutCancel(ctx), r.row)
	switch {
	case err == nil:
		r.row.Version++
	case fault.Is(err, fault.Conflict):
		r.taken = err
	}
	return err
}

// pause ends the pass of a script that waits for a person. The same call, or the answers, go on with it.
func (r *run) pause(ctx context.Context) (upstream.Outcome, error) {
	r.rec.ended()
	if err := r.save(ctx, store.ScriptPaused); err != nil {
		return upstream.Outcome{}, err
	}
	if r.blocked != nil {
		f := *fault.As(r.blocked)
		f.Hint = strings.TrimPrefix(f.Hint+"; then make the same call again: the script goes on where it stopped", "; ")
		return upstream.Outcome{}, &f
	}
	b := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i := range r.Log {
		for w := rawjson.Object(r.Log[i].Asks); r.Log[i].Asks != nil && w.Next(); {
			b = rawjson.AppendString(mcp.Comma(b), strconv.Itoa(i+1)+"."+string(w.Key))
			b = append(append(b, ':'), w.Value...)
		}
	}
	b = rawjson.AppendString(append(b, `},"requestState":`...), r.row.ID)
	return upstream.Outcome{Kind: upstream.InputRequired, Era: mcp.Modern, Raw: append(b, '}')}, nil
}

// end makes what the script returned, threw and printed its result.
func (r *run) end(ctx context.Context, turn script.Turn, err error) (upstream.Outcome, error) {
	r.rec.ended()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.unsaved != nil {
		r.rec.warn("calls of the script are not stored: " + fault.As(r.unsaved).Message)
	}
	switch {
	case r.rec.live != nil && (r.taken != nil || ctx.Err() != nil && context.Cause(ctx) != waiting.ErrCanceled):
		return upstream.Outcome{}, ErrHandedOver // another gateway goes on with it
	case r.taken != nil:
		return upstream.Outcome{}, r.taken
	}
	r.Failed = err != nil || turn.Err != nil
	if len(turn.Result) <= maxReturned {
		r.Result = turn.Result
	}
	if saveErr := r.save(ctx, store.ScriptEnded); saveErr != nil {
		r.rec.warn("the run could not be stored: " + fault.As(saveErr).Message)
	}
	if err != nil {
		return upstream.Outcome{}, err
	}
	b := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), returned(turn))
	if printed := r.printed.String(); printed != "" {
		b = rawjson.AppendString(append(b, `},{"type":"text","text":`...), "Printed:\n"+printed)
	}
	b = append(b, "}]"...)
	switch {
	case turn.Err != nil:
		b = append(b, `,"isError":true`...)
	case len(turn.Result) > 0 && turn.Result[0] == '{':
		b = append(append(b, `,"structuredContent":`...), turn.Result...)
	}
	return upstream.Outcome{Raw: append(b, '}')}, nil
}

// returned is what a script returned or threw, as text.
func returned(turn script.Turn) string {
	if t := turn.Err; t != nil {
		text := cmp.Or(t.Name, "Error") + ": " + t.Message
		if t.Line > 0 {
			text += " (line " + strconv.Itoa(t.Line) + ")"
		}
		return strings.TrimSpace(text + "\n" + t.Hint)
	}
	if text, ok := rawjson.String(turn.Result); ok {
		return text
	}
	if turn.Result == nil {
		return "The script returned nothing."
	}
	return string(turn.Result)
}

// runs tells whether calls of the tool run a script.
func (s *sent) runs() bool { return s.own(RunScript) || s.entry.Server == catalog.Recipes }

// recipes is how many recipes are being run for a call.
func (s *scripted) recipes() (n int) {
	for ; s != nil; s = s.run.req.script {
		if s.run.s.entry.Server == catalog.Recipes {
			n++
		}
	}
	return n
}

// may refuses calls of a recipe that it was not saved with: nobody has looked at them, and its hints do not tell of them.
func (s *scripted) may(e *catalog.Entry) error {
	if s == nil || s.run.s.entry.Server != catalog.Recipes {
		return nil
	}
	if slices.ContainsFunc(s.run.s.entry.Uses(), func(u catalog.Used) bool { return u.Name == e.Name }) {
		return nil
	}
	return fault.New(fault.Denied, "the recipe %s was saved from a run that did not call %s", s.run.s.entry.Definition.Name, e.Name).
		WithHint("save it from a run that does")
}
