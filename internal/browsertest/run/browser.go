package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// place is where the browser is, as far as answers have told.
type place struct {
	url, title string
	tabs       []snapshot.Tab
	modal      *snapshot.Modal
}

// page is the last snapshot with its look-ups, valid until the next call that may change the page.
type page struct {
	index *find.Index
	tree  *snapshot.Page
	at    time.Time
	found map[find.Query]found
}

type found struct {
	hit *find.Hit
	err error
}

// maxAge is how long a snapshot is used without a new one. The page may move by itself.
const maxAge = time.Second

// minPageWait is how long a page may take to answer even where the step has less time left.
const minPageWait = 15 * time.Second

// reads are the calls that leave the page and its refs unchanged.
var reads = []string{"browser_snapshot", "browser_take_screenshot", "browser_console_messages", "browser_network_requests", "browser_find"}

// moves are the calls without an element: the server takes its snapshot only after them.
var moves = []string{"browser_navigate", "browser_navigate_back"}

// act makes a call whose answer does not matter.
func (r *Runner) act(ctx context.Context, tool string, args map[string]any) error {
	_, err := r.call(ctx, tool, args)
	return err
}

// call fits, records and makes one call. The error is a *snapshot.Error when the server sent one.
func (r *Runner) call(ctx context.Context, tool string, args map[string]any) (snapshot.Answer, error) {
	if args == nil {
		return r.callRaw(ctx, Call{Tool: tool})
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return snapshot.Answer{}, fail(snapshot.BadParameters, "arguments of %s: %v", tool, err)
	}
	return r.callRaw(ctx, Call{tool, raw})
}

func (r *Runner) callRaw(ctx context.Context, c Call) (snapshot.Answer, error) {
	if len(c.Arguments) == 0 {
		c.Arguments = json.RawMessage("{}")
	}
	rec := CallRecord{Tool: c.Tool, Before: r.maskJSON(c.Arguments)}
	started := r.opts.Now()
	fitted, err := r.fit(ctx, c)
	r.metrics.converted(r.opts.Now().Sub(started))
	if err != nil {
		rec.Error = r.said(err)
		r.record(rec)
		return snapshot.Answer{}, &stepError{code: snapshot.BadParameters, message: err.Error(), actual: string(c.Arguments)}
	}
	rec.Tool, rec.After = fitted.Tool, r.maskJSON(fitted.Arguments)
	if !slices.Contains(reads, fitted.Tool) {
		r.page = nil
	}
	answer, err := r.send(ctx, c, fitted)
	rec.Duration = Took{r.opts.Now().Sub(started)}
	if err != nil {
		rec.Error = r.said(err)
	}
	r.record(rec)
	return answer, err
}

func (r *Runner) send(ctx context.Context, asked, fitted Call) (snapshot.Answer, error) {
	if _, known := r.tools[fitted.Tool]; !known && len(r.tools) > 0 {
		return snapshot.Answer{}, fail(snapshot.ToolMissing, "the browser server has no tool %s", fitted.Tool)
	}
	raw, err := r.browser.Call(ctx, asked, fitted)
	r.metrics.Calls.count(err == nil)
	if err != nil {
		return snapshot.Answer{}, err
	}
	answer := snapshot.ReadAnswer(raw)
	r.awake = true
	r.look(answer)
	if f := answer.Err; f != nil && f.Detail == snapshot.NotSeen && slices.Contains(moves, fitted.Tool) {
		r.warn("the server had no time to look at the page afterwards")
		answer.Err = nil
	}
	if answer.Err != nil {
		r.metrics.Calls.OK--
		if none := notStarted(raw); none != nil {
			return answer, none
		}
		return answer, answer.Err
	}
	return answer, nil
}

// warn notes something for the report.
func (r *Runner) warn(what string) {
	if r.step != nil {
		r.step.Warnings = append(r.step.Warnings, r.tell(what))
	}
}

// look remembers where the browser is.
func (r *Runner) look(a snapshot.Answer) {
	if a.URL != "" {
		r.where.url, r.where.title = a.URL, a.Title
	}
	if len(a.Tabs) > 0 {
		r.where.tabs = a.Tabs
	}
	r.where.modal = a.Modal
	if a.Err != nil && a.Err.Modal != nil {
		r.where.modal = a.Err.Modal
	}
}

func (r *Runner) record(c CallRecord) {
	if r.step != nil && len(r.step.Calls) < maxCalls {
		r.step.Calls = append(r.step.Calls, c)
	}
}

// maxCalls bounds what is kept of a step that polls.
const maxCalls = 50

// maskJSON is what is kept of arguments.
func (r *Runner) maskJSON(raw json.RawMessage) json.RawMessage {
	masked := r.mask(string(raw))
	switch {
	case !json.Valid([]byte(masked)):
		return json.RawMessage(`"masked"`)
	case len(masked) > maxArguments: // a script of ours
		return json.RawMessage(fmt.Sprintf(`"%d bytes"`, len(masked)))
	}
	return json.RawMessage(masked)
}

// maxArguments bounds what is kept of one call.
const maxArguments = 1500

// snapshot is the last one while it is good, else a new one.
func (r *Runner) snapshot(ctx context.Context, fresh bool) (*page, error) {
	if !fresh && r.page != nil && r.opts.Now().Sub(r.page.at) < maxAge {
		r.metrics.CacheHits++
		return r.page, nil
	}
	r.page = nil
	answer, err := r.lookAtPage(ctx)
	if err != nil {
		return nil, err
	}
	r.metrics.Snapshots++
	if answer.Modal != nil {
		return nil, dialogOpen("a dialog is open: ", answer.Modal)
	}
	tree := answer.Page
	if tree == nil {
		tree = snapshot.Parse("") // an empty page
	}
	if tree.Partial {
		return nil, fail(snapshot.CallFailed, "the server answered with a part of the page where the whole was asked for")
	}
	index := find.New(tree, &find.Options{Synonyms: r.opts.Synonyms, Mask: r.mask})
	r.page = &page{tree: tree, index: index, at: r.opts.Now(), found: map[find.Query]found{}}
	r.metrics.SnapshotBytes += answer.Size
	return r.page, nil
}

// lookAtPage asks for the tree. A browser that is still to be started has its own time.
func (r *Runner) lookAtPage(ctx context.Context) (snapshot.Answer, error) {
	if !r.awake {
		return r.call(ctx, "browser_snapshot", nil)
	}
	limit := max(minPageWait, r.until.Sub(r.opts.Now()))
	looking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := r.call(looking, "browser_snapshot", nil)
	if err != nil && looking.Err() != nil && ctx.Err() == nil {
		return answer, fail(snapshot.TimedOut, "the page did not answer in %s", limit.Round(time.Second))
	}
	return answer, err
}

func modalText(m *snapshot.Modal) string {
	if m.Kind == "file" {
		return "the file chooser"
	}
	return strings.TrimSpace(m.Kind + " " + m.Message)
}

// takesTarget tells whether elements are addressed by target, which also takes selectors.
func (r *Runner) takesTarget() bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	json.Unmarshal(r.tools["browser_click"].InputSchema, &schema) // no schema, no target
	_, has := schema.Properties["target"]
	return has
}
