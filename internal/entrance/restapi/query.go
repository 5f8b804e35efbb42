package restapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	defaultPage = 50
	maxPage     = 1000
	maxNumber   = math.MaxInt
)

// decode reads the body, which must have the form.
func (q *request) decode(into any, form string) error {
	if err := decode(q.body, into); err != nil {
		return fault.New(fault.BadRequest, "the body must be %s: %w", form, err)
	}
	return nil
}

// decode reads one JSON value without unknown members. Its errors speak of the text, not of
// Go types.
func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return rawjson.InWords(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

// number reads a parameter that is a whole number; 0 without it.
func number(q url.Values, name string, least, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err == nil && n >= least && n <= most:
		return n, nil
	case most == maxNumber:
		return 0, fault.New(fault.BadRequest, "%s must be a whole number from %d on, got %.40q", name, least, text)
	}
	return 0, fault.New(fault.BadRequest, "%s must be a whole number from %d to %d, got %.40q", name, least, most, text)
}

// parseTime reads a parameter that is a time; zero without it.
func parseTime(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.New(fault.BadRequest, "%s must be a time such as 2026-01-31T08:00:00Z, got %.40q", name, text).
			WithHint("write + as %%2B")
	}
	return t, nil
}

// parseTimes reads since and until.
func parseTimes(q url.Values) (since, until time.Time, err error) {
	since, err = parseTime(q, "since")
	if err == nil {
		until, err = parseTime(q, "until")
	}
	return since, until, err
}

// yesOrNo reads a parameter that is true or false; nil without it.
func yesOrNo(q url.Values, name string) (*bool, error) {
	text := q.Get(name)
	switch text {
	case "":
		return nil, nil
	case "true", "false":
		yes := text == "true"
		return &yes, nil
	}
	return nil, fault.New(fault.BadRequest, "%s must be true or false, got %.40q", name, text)
}

// Outcomes are the outcomes of calls, levels their levels, the gravest last.
var (
	Outcomes = []string{"ok", "tool_error", "question", "error", "canceled"}
	levels   = []string{"debug", "info", "warn", "error"}
)

// callFilter selects calls.
type callFilter struct {
	store.CallFilter
	who     access.Principal
	limit   int  // 0: not given
	waiting bool // open calls that outlive their requests, rather than records
}

// page is how many calls a page has.
func (f *callFilter) page() (int, error) {
	if f.limit > maxPage {
		return 0, fault.New(fault.BadRequest, "limit must be a whole number from 1 to %d, got %d", maxPage, f.limit)
	}
	return cmp.Or(f.limit, defaultPage), nil
}

// parseFilter reads the filters of a query. Callers see only their own calls.
func parseFilter(q url.Values, who access.Principal) (f callFilter, err error) {
	for key, into := range map[string]*string{
		"server": &f.Server, "tool": &f.Tool, "principal": &f.Principal, "agent": &f.Agent, "session": &f.Session,
		"outcome": &f.Outcome, "policy": &f.Policy, "parent": &f.Parent, "cursor": &f.Before, "profile": &f.Profile,
		"mcp_session": &f.MCPSession, "code": &f.Code, "level": &f.Level, "rule": &f.Rule, "trace": &f.Trace,
	} {
		*into = q.Get(key)
		if !isText(*into) {
			return f, fault.New(fault.BadRequest, "%s must be UTF-8 text without NUL", key)
		}
	}
	if f.Outcome != "" && !slices.Contains(Outcomes, f.Outcome) {
		return f, fault.New(fault.BadRequest, "unknown outcome %q", f.Outcome).WithHint("use %s", strings.Join(Outcomes, ", "))
	}
	if f.Level != "" && !slices.Contains(levels, f.Level) {
		return f, fault.New(fault.BadRequest, "unknown level %q", f.Level).WithHint("use %s", strings.Join(levels, ", "))
	}
	if f.Outcome == "error" || f.Outcome == "tool_error" {
		f.Level = "error" // all of them have it, and it is indexed
	}
	if err := f.parseValues(q); err != nil {
		return f, err
	}
	f.Since = f.Since.Add(time.Microsecond - 1).Truncate(time.Microsecond) // calls are stored to the microsecond
	if !f.Until.IsZero() {
		f.Until = f.Until.Add(-1) // until is exclusive
	}
	f.who = who
	if !who.MayRead() {
		f.Principal = who.ID
		if f.Policy != "" {
			return f, who.Forbidden("%s may not read the policy")
		}
	}
	return f, nil
}

// parseValues reads the filters that are no names.
func (f *callFilter) parseValues(q url.Values) (err error) {
	waiting, err := yesOrNo(q, "waiting")
	if err == nil {
		f.waiting = waiting != nil && *waiting
		f.Repaired, err = yesOrNo(q, "repaired")
	}
	if err == nil {
		f.Cut, err = yesOrNo(q, "cut")
	}
	oldest := (*bool)(nil)
	if err == nil {
		oldest, err = yesOrNo(q, "oldest")
	}
	if oldest != nil && *oldest {
		f.Oldest = true
		f.Before, f.After = "", f.Before
	}
	if err == nil {
		f.limit, err = number(q, "limit", 1, maxNumber)
	}
	larger := 0
	if err == nil {
		larger, err = number(q, "larger", 1, maxNumber)
		f.Larger = int64(larger)
	}
	if err == nil {
		f.Since, f.Until, err = parseTimes(q)
	}
	if text := q.Get("slower"); err == nil && text != "" {
		d, ok := config.ParseDuration(text)
		if !ok || d <= 0 {
			return fault.New(fault.BadRequest, "slower must be a duration such as 500ms or 2s, got %.40q", text)
		}
		f.Slower = d
	}
	return err
}

// matches tells whether a call that just ended is one of those.
func (f *callFilter) matches(c store.Call) bool {
	for _, one := range [][2]string{
		{f.Principal, c.Principal}, {f.Agent, c.Agent}, {f.Session, c.Session}, {f.Server, string(c.Server)}, {f.Tool, string(c.Tool)},
		{f.Outcome, c.Outcome}, {f.Parent, c.Parent}, {f.Profile, c.Profile}, {f.MCPSession, c.MCPSession}, {f.Code, c.Code},
		{f.Rule, c.Rule}, {f.Trace, c.Trace},
	} {
		if one[0] != "" && one[0] != one[1] {
			return false
		}
	}
	is := func(wanted *bool, so bool) bool { return wanted == nil || *wanted == so }
	return f.Began(c.At) && (f.Policy == "" || strings.Contains(c.Policy+",", " "+f.Policy+",")) &&
		slices.Index(levels, c.Level) >= slices.Index(levels, f.Level) && is(f.Repaired, c.Repairs != "") &&
		is(f.Cut, c.BytesSent < c.BytesFull) && c.Duration >= f.Slower && c.TokensFull >= f.Larger
}
