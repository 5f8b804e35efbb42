package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Error is what went wrong, in the form that callers know.
type Error struct {
	Type    string  `json:"type"` // ELEMENT_NOT_FOUND, PARAMETER_FORMAT_ERROR or MCP_CALL_FAILED
	Message string  `json:"message"`
	Details Details `json:"details"`
}

// Details say more. Code is the finer kind.
type Details struct {
	Selector       string        `json:"selector,omitempty"`
	ExpectedFormat string        `json:"expectedFormat,omitempty"`
	ActualFormat   string        `json:"actualFormat,omitempty"`
	RunID          string        `json:"runId"`
	Code           snapshot.Code `json:"code,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Ended is the code of a step during which the whole run was ended.
const Ended snapshot.Code = "RUN_ENDED"

// broken tells whether the environment failed rather than the page.
func (e *Error) broken() bool {
	return slices.Contains([]snapshot.Code{snapshot.ServerGone, snapshot.BrowserBusy, snapshot.ToolMissing, Ended}, e.Details.Code)
}

// endedBy is the error of a step whose run was ended; else it is the step's own.
func endedBy(ctx context.Context, err error) error {
	switch ended := ctx.Err(); {
	case err == nil || ended == nil:
		return err
	case errors.Is(ended, context.DeadlineExceeded):
		return fail(Ended, "the time of the whole run was over during this step")
	}
	return fail(Ended, "the run was ended during this step")
}

// failure is an error of ours with its code.
type failure struct {
	code             snapshot.Code
	message          string
	expected, actual string
	acted            bool // the page may have changed, so nothing is tried again
}

func (f *failure) Error() string { return f.message }

func fail(code snapshot.Code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// codeOf is the code of any error that a step can end with.
func codeOf(err error) snapshot.Code {
	var own *failure
	var server *snapshot.Error
	var refusal *find.Error
	var fault *Error
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &server):
		return server.Code
	case errors.As(err, &refusal):
		return refusal.Code
	case errors.As(err, &fault):
		return fault.Details.Code
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return snapshot.TimedOut
	}
	return snapshot.ServerGone // the transport broke
}

// harmless are the failures after which nothing has been done.
var harmless = []snapshot.Code{
	snapshot.NotFound, snapshot.Ambiguous, snapshot.StaleRef, snapshot.NotInteractable, snapshot.BadParameters, snapshot.BadValue,
	snapshot.OptionNotFound, snapshot.DialogOpen, snapshot.NoDialog, snapshot.ToolMissing,
}

// unacted tells whether a failed step is known to have done nothing.
func unacted(err error) bool {
	var own *failure
	if errors.As(err, &own) && own.acted {
		return false
	}
	return slices.Contains(harmless, codeOf(err))
}

var outside = map[snapshot.Code]string{
	snapshot.NotFound: "ELEMENT_NOT_FOUND", snapshot.Ambiguous: "ELEMENT_NOT_FOUND", snapshot.StaleRef: "ELEMENT_NOT_FOUND",
	snapshot.BadParameters: formatError, snapshot.BadValue: formatError, snapshot.StepInvalid: formatError, snapshot.StepUnparsable: formatError,
}

// errorOf is an error as it is reported.
func (r *Runner) errorOf(err error, s *steps.Step) *Error {
	e := &Error{Type: "MCP_CALL_FAILED", Message: r.said(err), Details: Details{RunID: r.opts.ID, Code: codeOf(err)}}
	if t, known := outside[e.Details.Code]; known {
		e.Type = t
	}
	if s != nil && s.Target != nil {
		e.Details.Selector = r.mask(r.shown(s.Target.Text))
	}
	var own *failure
	if errors.As(err, &own) {
		e.Details.ExpectedFormat, e.Details.ActualFormat = r.mask(own.expected), r.mask(own.actual)
	}
	if e.Type == formatError && e.Details.ExpectedFormat == "" {
		e.Details.ExpectedFormat = cmp.Or(r.takes(e.Details.Code), stepForms)
	}
	return e
}

const formatError = "PARAMETER_FORMAT_ERROR"

// stepForms are the forms of a step, for those who wrote something else.
const stepForms = `a sentence (click Save), a mapping ({click: Save}) or a command ({action: click, selector: Save})`

// Unreadable is the error of steps that cannot be read.
func Unreadable(id, given string, err error) *Error {
	return &Error{Type: formatError, Message: err.Error(), Details: Details{RunID: id, Code: snapshot.StepUnparsable, ExpectedFormat: stepForms, ActualFormat: clip(given)}}
}

// Misplaced is the error of an expectation that was sent to browser_snapshot, which looks and
// compares nothing.
func Misplaced(id, given string) *Error {
	return &Error{
		Type: formatError, Message: `browser_snapshot compares nothing, so it would always succeed; send the same as run_steps {"steps": {"action": "expect", "selector": …, "condition": …, "text": …}}`,
		Details: Details{RunID: id, Code: snapshot.BadParameters, ExpectedFormat: "run_steps {steps: {action: expect, selector, condition, text?}}", ActualFormat: clip(given)},
	}
}

// takes are the arguments of the tool whose call was refused for its own: {target, text, slowly?}.
func (r *Runner) takes(code snapshot.Code) string {
	if code != snapshot.BadParameters || r.step == nil || len(r.step.Calls) == 0 {
		return ""
	}
	tool := r.step.Calls[len(r.step.Calls)-1].Tool
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	json.Unmarshal(r.tools[tool].InputSchema, &schema) // no schema, no names
	var names []string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(schema.Required, name) {
			name += "?"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return tool + " {" + strings.Join(names, ", ") + "}"
}

// shown is text for people, with its variables filled in as far as they are known.
func (r *Runner) shown(text string) string {
	if filled, err := r.vars.Fill(text); err == nil {
		return filled
	}
	return text
}

// said is what an error says, for people: masked first, since a cut could halve a secret.
func (r *Runner) said(err error) string {
	const most = 2000
	text := err.Error()
	var refusal *find.Error
	if errors.As(err, &refusal) && error(refusal) == err { // the candidates stand beside it
		text = refusal.Brief()
	}
	text = r.tell(text)
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// tell is a sentence of ours in the language of the test, without secrets.
func (r *Runner) tell(text string) string { return r.lang.Translate(r.mask(text)) }

func (r *Runner) mask(text string) string {
	if r.vars == nil {
		return text
	}
	return r.vars.Mask(text)
}
