package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestNumbersSayByHowMuchTheyChanged(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want string
	}{{100, 100, ""}, {0, 5, ""}, {100, 150, "+50%"}, {100, 20, "−80%"}, {100, 0, "−100%"}, {1000, 999, ""}, {1, 4887, "× 4,887"}, {10, 100, "× 10"}, {3, 100, "× 33"}} {
		if got := changed(c.a, c.b); got != c.want {
			t.Errorf("from %v to %v: %q", c.a, c.b, got)
		}
	}
}

func TestResultsAreComparedByTheLinesOfTheirTexts(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"JSON in a text": {`{"content":[{"type":"text","text":"{\"a\":1}"}]}`, `{|  "a": 1|}`},
		"a text":         {`{"content":[{"type":"text","text":"one\ntwo"}],"isError":true}`, `one|two|isError: true`},
		"an image":       {`{"content":[{"type":"image","data":"aa"}]}`, `{|  "type": "image",|  "data": "aa"|}`},
		"structured":     {`{"content":[{"type":"text","text":"x"}],"structuredContent":[1]}`, `x|structuredContent:|[|  1|]`},
		"something else": {`[1]`, `[|  1|]`},
		"no JSON":        {`x`, `x`},
	} {
		if got := strings.Join(resultLines(json.RawMessage(c.raw)), "|"); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestComparedTextsAreBounded(t *testing.T) {
	of := func(a, b string) compared {
		return compare("n", json.RawMessage(a), json.RawMessage(b), indentLines)
	}
	if c := compare("n", nil, json.RawMessage("a"), indentLines); !c.Unknown || c.Diff != nil {
		t.Errorf("%+v", c)
	}
	if c := of("a", "a"); !c.Equal || c.Cut {
		t.Errorf("%+v", c)
	}
	if c := of(strings.Repeat("é", 1000), "x"); c.Cut || c.Equal || len([]rune(c.Diff[0].Text)) != maxLetters+1 {
		t.Errorf("%d lines, cut %v", len(c.Diff), c.Cut)
	}
	var every strings.Builder
	for i := range 4000 {
		fmt.Fprintln(&every, i/2*(i%2)) // each second line differs
	}
	if c := of(strings.Repeat("x\n0\n", 2000), every.String()); !c.Cut || c.Equal || len(c.Diff) != maxDiff {
		t.Errorf("%d lines, cut %v", len(c.Diff), c.Cut)
	}
	long := `{"data":"` + strings.Repeat("a", maxIndented)
	if c := of(long+`a"}`, long+`b"}`); !c.Cut {
		t.Error("what differs behind what is compared is no difference")
	}
}

func TestOfTextsThatHaveNothingInCommonBothAreSeen(t *testing.T) {
	c := compare("n", json.RawMessage(strings.Repeat("x\n", 9000)), json.RawMessage(strings.Repeat("y\n", 9000)), indentLines)
	shown := map[string]int{}
	for _, l := range c.Diff {
		shown[l.Mark]++
	}
	if !c.Cut || shown["-"] != maxRun || shown["+"] != maxRun || shown["…"] != 2 {
		t.Errorf("cut %v, %v", c.Cut, shown)
	}
}

func TestDeepValuesAreNotMuchLongerAsLines(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", 9000)
	long := 0
	for _, line := range resultLines(json.RawMessage(`{"content":[{"type":"text","text":"` + deep + `"}]}`)) {
		long += len(line) + 1
	}
	if long > maxIndented+1 {
		t.Errorf("%d bytes became %d", len(deep), long)
	}
}

func TestTimesOfAPageBecomeThoseOfTheAPI(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	local := func(text string) string {
		at, err := time.ParseInLocation("2006-01-02T15:04", text, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return at.Format(time.RFC3339Nano)
	}
	for query, want := range map[string]url.Values{
		"tool=a__b":     {"tool": {"a__b"}},
		"last=1h":       {"since": {"2026-03-04T11:00:00Z"}},
		"last=7d&cut=x": {"since": {"2026-02-25T12:00:00Z"}, "cut": {"x"}},
		"since=2026-01-02T03:04&until=2026-01-03T03:04":           {"since": {local("2026-01-02T03:04")}, "until": {local("2026-01-03T03:04")}},
		"since=2026-03-04T11:30:00Z&last=1h":                      {"since": {"2026-03-04T11:30:00Z"}},
		"since=2026-03-04T10:00:00.000001Z&last=1h&session=s":     {"since": {"2026-03-04T11:00:00Z"}, "session": {"s"}},
		"until=" + url.QueryEscape("2026-03-04T10:00:00.5+01:00"): {"until": {"2026-03-04T10:00:00.5+01:00"}},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := callQuery(q, now)
		if err != nil || got.Encode() != want.Encode() {
			t.Errorf("%s: %v, %v", query, got, err)
		}
	}
	for _, query := range []string{"last=soon", "last=0", "since=yesterday", "until=x"} {
		q, _ := url.ParseQuery(query)
		if _, err := callQuery(q, now); err == nil {
			t.Errorf("%s is taken", query)
		}
	}
}

// stepCalls finds a call after so many steps.
type stepCalls struct {
	Calls
	steps, asked int
}

func (s *stepCalls) ListCalls(context.Context, access.Principal, url.Values, int) (restapi.CallPage, error) {
	if s.asked++; s.asked <= s.steps {
		return restapi.CallPage{Next: fmt.Sprint("c_", s.asked)}, nil
	}
	return restapi.CallPage{Calls: []restapi.Call{{ID: "c_before"}}}, nil
}

func TestTheCallBeforeIsSearchedInSteps(t *testing.T) {
	v := &visit{Request: httptest.NewRequest("GET", "/", nil)}
	for steps, found := range map[int]bool{0: true, mostSteps - 1: true, mostSteps: false} {
		calls := &stepCalls{steps: steps}
		id, err := (&Console{Parts: Parts{Calls: calls}}).callBefore(v, restapi.Call{ID: "c_9", Tool: "a__b"})
		if (id == "c_before") != found || fault.Is(err, fault.NotFound) == found || calls.asked > mostSteps {
			t.Errorf("after %d steps: %q, %v", steps, id, err)
		}
	}
}
