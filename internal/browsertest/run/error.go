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

// ErrorCode is the finer kind.
func (e *Error) ErrorCode() snapshot.Code { return e.Details.Code }

// Ended is the code of a step during which the whole run was ended.
const Ended snapshot.Code = "RUN_ENDED"

// broken are the codes of errors of the environment rather than of the page.
var broken = []snapshot.Code{snapshot.ServerGone, snapshot.BrowserBusy, snapshot.ToolMissing, Ended}

// endedBy is err, or that the run was ended, where that is the reason.
func endedBy(ctx context.Context, err error) error {
	switch ended := ctx.Err(); {
	case err == nil || ended == nil:
		return err
	case errors.Is(ended, context.DeadlineExceeded):
		return fail(Ended, "the time of the whole run was over during this step")
	}
	return fail(Ended, "the run was ended during this step")
}

// stepError is an error of a step that this package found.
type stepError struct {
	code             snapshot.Code
	message          string
	expected, actual string
	acted            bool // the page may have changed, so nothing is retried
}

func (e *stepError) Error() string { return e.message }

func (e *stepError) ErrorCode() snapshot.Code { return e.code }

func fail(code snapshot.Code, format string, args ...any) *stepError {
	return &stepError{code: code, message: fmt.Sprintf(format, args...)}
}

// codeOf is the code of any error that a step can end with.
func codeOf(err error) snapshot.Code {
	var coded interface{ ErrorCode() snapshot.Code }
	switch {
	case errors.As(err, &coded):
		return coded.ErrorCode()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return snapshot.TimedOut
	}
	return snapshot.ServerGone // the transport broke
}

// unactedCodes are the codes of errors that come before anything was done.
var unactedCodes = []snapshot.Code{
	snapshot.NotFound, snapshot.Ambiguous, snapshot.StaleRef, snapshot.NotInteractable, snapshot.BadParameters, snapshot.BadValue,
	snapshot.OptionNotFound, snapshot.DialogOpen, snapshot.NoDialog, snapshot.ToolMissing,
}

// unacted tells whether a failed step is known to have done nothing.
func unacted(err error) bool {
	var own *stepError
	if errors.As(err, &own) && own.acted {
		return false
	}
	return slices.Contains(unactedCodes, codeOf(err))
}

// errorTypes are the Error.Type of codes; all others are MCP_CALL_FAILED.
var errorTypes = map[snapshot.Code]string{
	snapshot.NotFound: "ELEMENT_NOT_FOUND", snapshot.Ambiguous: "ELEMENT_NOT_FOUND", snapshot.StaleRef: "ELEMENT_NOT_FOUND",
	snapshot.BadParameters: formatError, snapshot.BadValue: formatError,
	snapshot.StepInvalid: formatError, snapshot.StepUnparsable: formatError,
}

// errorOf is an error as it is reported.
func (r *Runner) errorOf(err error, s *steps.Step) *Error {
	code := codeOf(err)
	e := &Error{Type: cmp.Or(errorTypes[code], "MCP_CALL_FAILED"), Message: r.said(err), Details: Details{RunID: r.opts.ID, Code: code}}
	if s != nil && s.Target != nil {
		e.Details.Selector = r.mask(r.shown(s.Target.Text))
	}
	var own *stepError
	if errors.As(err, &own) {
		e.Details.ExpectedFormat = r.mask(own.expected)
		e.Details.ActualFormat = r.mask(own.actual)
	}
	if e.Type == formatError && e.Details.ExpectedFormat == "" {
		e.Details.ExpectedFormat = cmp.Or(r.takes(code), stepForms)
	}
	return e
}

const formatError = "PARAMETER_FORMAT_ERROR"

// stepForms are the forms of a step, for those who wrote something else.
const stepForms = `a sentence (click Save), a mapping ({click: Save}) or a command ({action: click, selector: Save})`

// Unreadable is the error of steps that cannot be parsed.
func Unreadable(id, given string, err error) *Error {
	return formatProblem(id, snapshot.StepUnparsable, err.Error(), stepForms, given)
}

// Misplaced is the error of an expectation that was sent to browser_snapshot.
func Misplaced(id, given string) *Error {
	return formatProblem(id, snapshot.BadParameters,
		`browser_snapshot compares nothing, so it would always succeed; `+
			`send the same as run_steps {"steps": {"action": "expect", "selector": …, "condition": …, "text": …}}`,
		"run_steps {steps: {action: expect, selector, condition, text?}}", given)
}

func formatProblem(id string, code snapshot.Code, message, expected, given string) *Error {
	details := Details{RunID: id, Code: code, ExpectedFormat: expected, ActualFormat: clip(given)}
	return &Error{Type: formatError, Message: message, Details: details}
}

// takes lists the arguments of the tool that refused its arguments: {target, text, slowly?}.
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

// said is the message of an error, masked before it is cut: a cut could halve a secret.
func (r *Runner) said(err error) string {
	const most = 2000
	text := err.Error()
	var noMatch *find.Error
	if errors.As(err, &noMatch) && error(noMatch) == err { // the candidates stand beside it
		text = noMatch.Brief()
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
