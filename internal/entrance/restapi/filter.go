package restapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// outcomes are what a call's outcome may be.
var outcomes = []string{"ok", "tool_error", "question", "error", "canceled"}

// callFilter chooses calls.
type callFilter struct {
	store.CallFilter
	limit int // 0: none was asked for
}

// parseFilter reads the filters of a query. Callers see their own calls only, whatever they ask for.
func parseFilter(q url.Values, who access.Principal) (f callFilter, err error) {
	for key, into := range map[string]*string{
		"server": &f.Server, "tool": &f.Tool, "principal": &f.Principal, "agent": &f.Agent, "session": &f.Session, "outcome": &f.Outcome, "cursor": &f.Before,
	} {
		*into = q.Get(key)
		if strings.ContainsRune(*into, 0) || !utf8.ValidString(*into) {
			return f, fault.New(fault.BadRequest, "%s holds characters that nothing has", key)
		}
	}
	if f.Outcome != "" && !slices.Contains(outcomes, f.Outcome) {
		return f, fault.New(fault.BadRequest, "unknown outcome %q", f.Outcome).WithHint("use %s", strings.Join(outcomes, ", "))
	}
	if f.Outcome == "error" || f.Outcome == "tool_error" {
		f.Level = "error" // as all of them have, and an index
	}
	if s := q.Get("limit"); s != "" {
		if f.limit, err = strconv.Atoi(s); err != nil || f.limit < 1 {
			return f, fault.New(fault.BadRequest, "limit must be a number from 1 to %d, got %q", maxPage, s)
		}
	}
	if f.Since, err = parseTime(q, "since"); err != nil {
		return f, err
	}
	if f.Until, err = parseTime(q, "until"); err != nil {
		return f, err
	}
	f.Since = f.Since.Add(time.Microsecond - 1).Truncate(time.Microsecond) // up to the next one: calls are kept to the microsecond
	if !f.Until.IsZero() {
		f.Until = f.Until.Add(-1) // the end itself is excluded
	}
	if !who.MayRead() {
		f.Principal = who.ID
	}
	return f, nil
}

func parseTime(q url.Values, key string) (time.Time, error) {
	s := q.Get(key)
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fault.New(fault.BadRequest, "%s must be a time such as 2026-01-31T08:00:00Z, got %q", key, s).
			WithHint("write + as %%2B")
	}
	return t, nil
}

// hears tells whether a call that just ended is one that was asked for.
func (f *callFilter) hears(c store.Call) bool {
	for _, one := range [][2]string{
		{f.Principal, c.Principal}, {f.Agent, c.Agent}, {f.Session, c.Session}, {f.Server, string(c.Server)}, {f.Tool, string(c.Tool)}, {f.Outcome, c.Outcome},
	} {
		if one[0] != "" && one[0] != one[1] {
			return false
		}
	}
	return f.Began(c.At)
}
