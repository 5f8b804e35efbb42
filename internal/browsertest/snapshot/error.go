package snapshot

import (
	"cmp"
	"regexp"
	"strings"
)

// Code says by program what went wrong in the browser. Codes are append-only.
type Code string

const (
	NotFound         Code = "ELEMENT_NOT_FOUND"
	Ambiguous        Code = "ELEMENT_AMBIGUOUS"
	StaleRef         Code = "STALE_REF" // the element of an older snapshot
	BadParameters    Code = "PARAMETER_FORMAT_ERROR"
	BadValue         Code = "BAD_VALUE"        // a value that the element or the tool does not take
	NotInteractable  Code = "NOT_INTERACTABLE" // covered, hidden, disabled, or of the wrong kind
	OptionNotFound   Code = "OPTION_NOT_FOUND"
	TimedOut         Code = "TIMEOUT"
	DialogOpen       Code = "DIALOG_OPEN"
	NoDialog         Code = "NO_DIALOG"
	NavigationFailed Code = "NAVIGATION_FAILED"
	AssertionFailed  Code = "ASSERTION_FAILED"
	ToolMissing      Code = "TOOL_MISSING"
	PageChanged      Code = "PAGE_CHANGED" // the page went away while the call ran
	BrowserBusy      Code = "BROWSER_BUSY"
	ServerGone       Code = "SERVER_GONE"     // the session or the process ended; what it did is unknown
	CallFailed       Code = "MCP_CALL_FAILED" // anything else
	StepUnparsable   Code = "STEP_UNPARSABLE"
	StepInvalid      Code = "STEP_INVALID"
)

// NotSeen is the detail of a server that had no time for its snapshot.
const NotSeen = "not seen"

// Error is what the server says went wrong.
type Error struct {
	Code       Code
	Message    string   // the first line of the error
	Detail     string   // of NotInteractable: obscured, disabled, hidden or kind; of TimedOut: NotSeen or none
	Candidates []string // of Ambiguous: how the server would name each
	Modal      *Modal   // of DialogOpen
}

func (f *Error) Error() string { return f.Message }

// ErrorCode is the code.
func (f *Error) ErrorCode() Code { return f.Code }

// rules are tried in order. The first line decides: the others may quote the page.
var rules = []struct {
	text   string // occurs in the first line
	also   string // occurs anywhere
	code   Code
	detail string
}{
	{"not found in the current page snapshot", "Ref ", StaleRef, ""},
	{"does not match any elements", "", NotFound, ""},
	{"strict mode violation", "", Ambiguous, ""},
	{"does not handle the modal state", "", DialogOpen, ""},
	{"can only be used when there is related modal state present", "", NoDialog, ""},
	{"while parsing css selector", "", BadParameters, ""},
	{"Unexpected token", "while parsing", BadParameters, ""},
	{"is not a valid selector", "", BadParameters, ""},
	{"is not a valid XPath expression", "", BadParameters, ""},
	{"Invalid arguments for tool", "", BadParameters, ""},
	{`"invalid_type"`, `"path"`, BadParameters, ""},
	{`"code"`, `"path"`, BadParameters, ""},
	{"Either time, text or textGone must be provided", "", BadParameters, ""},
	{"Malformed value", "", BadValue, ""},
	{"Cannot type text into input", "", BadValue, ""},
	{"Unknown key:", "", BadValue, ""},
	{"Tab ", " not found", BadValue, ""},
	{"outside allowed roots", "", BadValue, ""},
	{"ENOENT: no such file", "", BadValue, ""}, // to upload
	{"cannot be filled", "", NotInteractable, "kind"},
	{"Element is not a", "", NotInteractable, "kind"},
	{"_snapshotForAI: Timeout", "", TimedOut, NotSeen},
	{"ms exceeded", "intercepts pointer events", NotInteractable, "obscured"},
	{"ms exceeded", "element is not enabled", NotInteractable, "disabled"},
	{"ms exceeded", "element is not visible", NotInteractable, "hidden"},
	{"ms exceeded", "did not find some options", OptionNotFound, ""},
	{"net::ERR_", "", NavigationFailed, ""},
	{"is interrupted by another navigation", "", NavigationFailed, ""},
	{"protocol is blocked", "", NavigationFailed, ""},
	{"Text not found", "", AssertionFailed, ""},
	{"Element with role", "not found", AssertionFailed, ""},
	{"Expected value ", "but got", AssertionFailed, ""},
	{"Item ", "not found", AssertionFailed, ""},
	{"Tool ", "not found", ToolMissing, ""},
	{"Execution context was destroyed", "", PageChanged, ""},
	{"Browser is already in use", "", BrowserBusy, ""},
	{"Session not found", "", ServerGone, ""},
	{"browser has been closed", "", ServerGone, ""},
	{"ms exceeded", "", TimedOut, ""},
}

// errorOf reads the error among the sections of an answer that is marked as one.
func errorOf(sections []section, modal *Modal) *Error {
	text := ""
	for _, s := range sections {
		if s.heading == "" || s.heading == "Error" || s.heading == "Result" {
			text += strings.TrimSpace(s.text) + "\n"
		}
	}
	return ErrorOf(text, modal)
}

// ErrorOf gives the text of an error its code.
func ErrorOf(text string, modal *Modal) *Error {
	text = strings.TrimSpace(text)
	f := &Error{Code: CallFailed, Message: message(text)}
	head, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(head, "[") { // a list of problems, as JSON
		head = text
	}
	for _, r := range rules {
		if strings.Contains(head, r.text) && strings.Contains(text, r.also) {
			f.Code = r.code
			f.Detail = r.detail
			break
		}
	}
	switch f.Code {
	case Ambiguous:
		f.Candidates = candidates(text)
	case NotInteractable:
		f.Message = whyNot(f, text)
	case DialogOpen:
		f.Modal = modal
	}
	return f
}

// cover is the line that names what lies over an element.
var cover = regexp.MustCompile(`(<.+>)(?: from <.+> subtree)? intercepts pointer events`)

// whyNot says why an element cannot be used.
func whyNot(f *Error, text string) string {
	switch f.Detail {
	case "obscured":
		if m := cover.FindStringSubmatch(text); m != nil {
			return "the element is covered by " + message(m[1])
		}
		return "the element is covered by another"
	case "disabled":
		return "the element is disabled"
	case "hidden":
		return "the element is not visible"
	}
	return f.Message
}

// functions are the names that servers put before what went wrong: "Error: locator.fill: Error: ".
var functions = regexp.MustCompile(`^(?:(?:[A-Za-z]*Error|[A-Za-z]+\.[_A-Za-z]+):(?: |$))+`)

// message is the first line that says something, without the names of functions before it.
func message(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(line, "[") { // a list of problems
		line = text
		rest = ""
	}
	line = strings.Join(strings.Fields(line), " ")
	line = line[len(functions.FindString(line)):]
	if line == "" || strings.HasSuffix(line, ":") {
		line += " " + strings.Join(strings.Fields(rest), " ")
	}
	return cmp.Or(strings.TrimSpace(line), "the server reported an error without a text")
}

// candidateLine is "1) <button>…</button> aka getByRole(…)".
var candidateLine = regexp.MustCompile(`(?m)^\s*\d+\) (.*)$`)

func candidates(text string) (list []string) {
	for _, m := range candidateLine.FindAllStringSubmatch(text, 5) {
		_, locator, found := strings.Cut(m[1], " aka ")
		if !found {
			locator = m[1]
		}
		list = append(list, strings.TrimSpace(locator))
	}
	return list
}
