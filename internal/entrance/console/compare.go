package console

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/linediff"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// comparePage shows how two calls differ.
type comparePage struct {
	A, B      comparedCall // A is the one before
	Swapped   string       // the address of the same the other way round
	Differ    []fact
	Same      []fact
	Arguments compared
	Result    compared
}

type comparedCall struct {
	restapi.Call
	arguments json.RawMessage // as the tool got them; nil: they are not known
	result    json.RawMessage // in full; nil: it is not stored
}

// fact is something that records tell, as they have it of both calls.
type fact struct {
	Name   string // the text of its name is console.fact.NAME
	A, B   string
	Change string // of a number; "": it is none
}

// compared is how two texts differ.
type compared struct {
	Name    string // for screen readers
	Diff    []linediff.Line
	Equal   bool
	Unknown bool // one of them is not stored
	Cut     bool // only the beginning is compared or shown
}

// compareCalls compares two calls: a and b, or the two that were ticked in the list, or b with the last call of its tool before.
func (c *Console) compareCalls(v *visit) (*comparePage, error) {
	q := v.URL.Query()
	a, b := q.Get("a"), q.Get("b")
	if ticked := q["id"]; len(ticked) > 0 {
		if len(ticked) != 2 {
			return nil, fault.New(fault.BadRequest, "two calls can be compared, not %d", len(ticked)).WithHint("tick two in the list")
		}
		a, b = ticked[1], ticked[0] // the newest comes first
	}
	if b == "" {
		return nil, fault.New(fault.BadRequest, "there are no calls to compare").WithHint("tick two in the list")
	}
	p := &comparePage{}
	var err error
	if p.B, err = c.comparedCall(v, b); err != nil {
		return nil, err
	}
	if a == "" {
		if a, err = c.callBefore(v, p.B.Call); err != nil {
			return nil, err
		}
	}
	if p.A, err = c.comparedCall(v, a); err != nil {
		return nil, err
	}
	p.Swapped = c.at("/calls/compare?") + url.Values{"a": {p.B.ID}, "b": {p.A.ID}}.Encode()
	p.addFacts(v.lang)
	p.Arguments = compare(text(v.lang, "compare.arguments"), p.A.arguments, p.B.arguments, indentLines)
	p.Result = compare(text(v.lang, "compare.result"), p.A.result, p.B.result, resultLines)
	return p, nil
}

// mostSteps is how many times lookAt calls are searched for the one before.
const mostSteps = 5

// callBefore is the id of the last call of the same tool before one.
func (c *Console) callBefore(v *visit, one restapi.Call) (string, error) {
	q := url.Values{"tool": {one.Tool}, "cursor": {one.ID}, "limit": {"1"}}
	for step := 0; step < mostSteps && one.Tool != "" && q.Get("cursor") != ""; step++ {
		found, err := c.Calls.ListCalls(v.Context(), v.who, q, lookAt)
		if err != nil {
			return "", err
		}
		if len(found.Calls) > 0 {
			return found.Calls[0].ID, nil
		}
		q.Set("cursor", found.Next)
	}
	return "", fault.New(fault.NotFound, "there is no call of %s before this one to compare it with", one.Tool)
}

func (c *Console) comparedCall(v *visit, id string) (comparedCall, error) {
	one, err := c.Calls.ReadCall(v.Context(), v.who, id)
	if err != nil {
		return comparedCall{}, err
	}
	out := comparedCall{Call: one, result: one.Result}
	full, err := c.Results.StoredResult(v.Context(), v.who, one.ID)
	switch {
	case err == nil:
		out.arguments, out.result = full.Arguments, full.Result
	case !fault.Is(err, fault.NotFound):
		return out, err
	}
	if out.arguments == nil && one.Arguments != nil {
		out.arguments = one.Arguments.Fitted
		if out.arguments == nil {
			out.arguments = one.Arguments.Sent
		}
	}
	return out, nil
}

// addFacts sorts what the records tell by whether it is the same in both.
func (p *comparePage) addFacts(lang locale.Language) {
	add := func(name string, of func(restapi.Call) string, change string) {
		f := fact{name, of(p.A.Call), of(p.B.Call), change}
		switch {
		case f.A != f.B:
			p.Differ = append(p.Differ, f)
		case f.A != "":
			p.Same = append(p.Same, f)
		}
	}
	count := func(name string, of func(restapi.Call) int64) {
		a, b := of(p.A.Call), of(p.B.Call)
		add(name, func(c restapi.Call) string { return number(of(c)) }, changed(float64(a), float64(b)))
	}
	add("tool", func(c restapi.Call) string { return c.Tool }, "")
	add("outcome", func(c restapi.Call) string { return word(lang, "outcome.", c.Outcome) }, "")
	add("code", func(c restapi.Call) string { return c.Code }, "")
	add("message", func(c restapi.Call) string { return shortened(say(lang, c.Message)) }, "")
	add("took", func(c restapi.Call) string { return millis(c.DurationMS) }, changed(p.A.DurationMS, p.B.DurationMS))
	count("tokensIn", func(c restapi.Call) int64 { return c.TokensIn })
	count("tokensFull", func(c restapi.Call) int64 { return c.TokensFull })
	count("tokensSent", func(c restapi.Call) int64 { return c.TokensSent })
	add("repairs", func(c restapi.Call) string { return repairsOf(lang, c) }, "")
	add("rule", func(c restapi.Call) string { return c.Rule }, "")
	add("policy", func(c restapi.Call) string { return c.Policy }, "")
	add("principal", func(c restapi.Call) string { return c.Principal }, "")
	add("profile", func(c restapi.Call) string { return c.Profile }, "")
	add("agent", func(c restapi.Call) string { return c.Agent }, "")
	add("session", func(c restapi.Call) string { return c.Session }, "")
	add("parent", func(c restapi.Call) string { return c.Parent }, "")
}

// repairsOf names what was repaired in the arguments of a call.
func repairsOf(lang locale.Language, c restapi.Call) string {
	var repairs []fit.Repair
	_ = json.Unmarshal(c.Repairs, &repairs) // none if they cannot be read
	var names []string
	for _, r := range repairs {
		names = append(names, r.Field+": "+word(lang, "repaired.", string(r.Kind)))
	}
	return strings.Join(names, "\n")
}

// changed is by how much a number is another one.
func changed(a, b float64) string {
	switch {
	case a == b || a == 0:
		return ""
	case b >= 10*a:
		return "× " + number(int64(math.Round(b/a)))
	}
	percent := math.Round(100 * (b - a) / a)
	if percent == 0 {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%+.0f%%", percent), "-", "−", 1)
}

const (
	// maxCompared is how many lines of a text are compared, maxDiff how many of the difference are shown, maxRun how many of those in a
	// row that only one text has, and maxLetters how many letters of each.
	maxCompared = 2000
	maxDiff     = 600
	maxRun      = 150
	maxLetters  = 300
)

// compare compares two values by their lines.
func compare(name string, a, b json.RawMessage, linesOf func(json.RawMessage) []string) compared {
	c := compared{Name: name, Unknown: a == nil || b == nil, Cut: len(a) > maxIndented || len(b) > maxIndented}
	if c.Unknown {
		return c
	}
	before, after := linesOf(a), linesOf(b)
	c.Cut = c.Cut || len(before) > maxCompared || len(after) > maxCompared
	lines := linediff.Compare(before[:min(len(before), maxCompared)], after[:min(len(after), maxCompared)], sameJSON)
	c.Equal = true
	for _, l := range lines {
		c.Equal = c.Equal && l.Mark == " "
	}
	c.Diff = shortRuns(linediff.Shorten(lines))
	if len(c.Diff) > maxDiff {
		c.Diff = c.Diff[:maxDiff]
		c.Cut = true
	}
	for i, l := range c.Diff {
		if letters := []rune(l.Text); len(letters) > maxLetters {
			c.Diff[i].Text = string(letters[:maxLetters]) + "…"
		}
	}
	return c
}

// shortRuns leaves out lines where many follow each other that only one text has, so that those of the other are seen, too.
func shortRuns(lines []linediff.Line) (short []linediff.Line) {
	run := 0
	for i, l := range lines {
		if run++; i == 0 || l.Mark != lines[i-1].Mark {
			run = 1
		}
		switch {
		case run <= maxRun:
			short = append(short, l)
		case run == maxRun+1:
			short = append(short, linediff.Line{Mark: "…"})
		}
	}
	return short
}

// resultLines are the lines of a result: texts by their own lines, JSON in them indented, and the rest as indented JSON.
func resultLines(raw json.RawMessage) (lines []string) {
	var result struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
	}
	if json.Unmarshal(raw, &result) != nil || len(result.Content) == 0 {
		return indentLines(raw)
	}
	for _, one := range result.Content {
		if len(lines) > maxCompared {
			return lines
		}
		var part struct{ Type, Text string }
		if json.Unmarshal(one, &part) == nil && part.Type == "text" {
			one = json.RawMessage(part.Text)
		}
		lines = append(lines, indentLines(one)...)
	}
	if result.Structured != nil {
		lines = append(lines, "structuredContent:")
		lines = append(lines, indentLines(result.Structured)...)
	}
	if result.IsError {
		lines = append(lines, "isError: true")
	}
	return lines
}
