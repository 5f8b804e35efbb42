package trial_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestEachWorkerHasABrowserOfItsOwn(t *testing.T) {
	f := &fakeBrowsers{}
	a := newApp(t, f.start(t))
	o := order(parsed(t, manyCases(6)))
	o.Workers = 3
	told := 0
	o.Done = func(string, run.CaseResult) { told++ } // one after another: the race detector would see it
	k, err := a.RunTests(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// A shared page would show the clicks of others.
	if k.Outcome != trial.Passed || k.Totals.Passed != 6 || told != 6 || f.opened != 3 {
		t.Errorf("%s, %+v, told %d, %d browsers", k.Outcome, k.Totals, told, f.opened)
	}
	for i, c := range k.Results[0].Cases {
		if !strings.HasSuffix(c.Name, string(rune('1'+i))) {
			t.Errorf("case %d is %s: the order of the file is lost", i, c.Name)
		}
	}
}

func TestCallsGoThroughTheSpineFittedToTheLiveTools(t *testing.T) {
	a := newApp(t, (&fakeBrowsers{}).start(t))
	k, err := a.RunTests(t.Context(), order(parsed(t,
		"- open http://127.0.0.1:1/\n- type \"ann\" into the user name field\n- click More\n- expect: {value: ann, target: User name}\n")))
	if err != nil || k.Outcome != trial.Passed {
		t.Fatalf("%+v %v", k, err)
	}
	var sent []string
	for _, s := range k.Results[0].Cases[0].Steps {
		for _, c := range s.Calls {
			if c.Tool == "browser_type" || c.Tool == "browser_click" {
				sent = append(sent, string(c.After))
			}
		}
	}
	// This server knows neither target nor element.
	if got := strings.Join(sent, " "); got != `{"ref":"e2","text":"ann"} {"ref":"e1"}` {
		t.Errorf("sent %s", got)
	}
	recorded := slices.ContainsFunc(a.Records.Last(20), func(c store.Call) bool {
		return c.Tool == "web__browser_type" && strings.HasPrefix(c.Session, k.ID) && c.Outcome == "ok"
	})
	if !recorded {
		t.Errorf("recorded %+v", a.Records.Last(20))
	}
}

func TestARunIsKeptWithItsReport(t *testing.T) {
	a := newApp(t, (&fakeBrowsers{}).start(t))
	text := "- open http://127.0.0.1:1/\n- {click: Save, timeout: 1s}\n"
	o := order(parsed(t, text))
	o.Sources = map[string]string{"t.yaml": text}
	k, err := a.RunTests(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	row, err := a.Store.Run(t.Context(), k.ID)
	if err != nil {
		t.Fatal(err)
	}
	read, err := trial.Read(row)
	if err != nil || read.Outcome != trial.Failed || read.Totals.Failed != 1 || len(read.Results[0].Cases[0].Steps[1].Candidates) != 2 {
		t.Errorf("%+v %v", read, err)
	}
}

func TestAServerThatIsGoneBreaksTheCaseAndNothingHangs(t *testing.T) {
	f := &fakeBrowsers{fail: func(tool string) string {
		if tool == "browser_click" {
			return "Target page, context or browser has been closed"
		}
		return ""
	}}
	a := newApp(t, f.start(t))
	k, err := a.RunTests(t.Context(), order(parsed(t, "- open http://127.0.0.1:1/\n- click More\n")))
	if err != nil || k.Outcome != trial.Failed {
		t.Errorf("%+v %v", k, err)
	}
	dead := newApp(t, "http://127.0.0.1:1/mcp")
	if _, err := dead.RunTests(t.Context(), order(parsed(t, "- open http://127.0.0.1:1/\n"))); !fault.Is(err, fault.NotFound) &&
		!fault.Is(err, fault.UpstreamDown) {
		t.Errorf("a dead server: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := order(parsed(t, manyCases(4)))
	o.Done = func(string, run.CaseResult) { cancel() }
	if k, err := newApp(t, (&fakeBrowsers{}).start(t)).RunTests(ctx, o); err != nil || k.Totals.Passed != 1 || k.Outcome != trial.Interrupted {
		t.Errorf("cut off: %+v %v", k, err)
	}
}

func TestCasesAreChosenByTagAndName(t *testing.T) {
	suites := []*steps.Suite{parsed(t, manyCases(5))}
	for _, c := range []struct {
		tags []string
		grep string
		want int
	}{{nil, "", 5}, {[]string{"t0"}, "", 2}, {[]string{"t0", "t1"}, "", 5}, {[]string{"none"}, "", 0}, {nil, "case [12]", 2},
		{[]string{"t0"}, "case [12]", 1}, {nil, "many", 5}} {
		n := 0
		for _, s := range trial.FilterCases(suites, c.tags, regexp.MustCompile(c.grep)) {
			n += len(s.Cases)
		}
		if n != c.want {
			t.Errorf("%v %q: %d cases, want %d", c.tags, c.grep, n, c.want)
		}
	}
}

// own calls one of our tools as an agent.
func own(t *testing.T, a interface {
	Do(context.Context, call.Request) (*call.Result, error)
}, profile, tool, args string) (map[string]any, bool) {
	t.Helper()
	params, err := call.NewParams(tool, json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	params.Session = "mine"
	res, err := a.Do(t.Context(), call.Request{Principal: access.Owner(), Profile: profile, Params: params})
	if err != nil {
		return map[string]any{"fault": string(fault.As(err).Code)}, true
	}
	var out struct {
		StructuredContent map[string]any
		IsError           bool
	}
	if err := json.Unmarshal(res.Raw, &out); err != nil {
		t.Fatal(err)
	}
	return out.StructuredContent, out.IsError
}

func TestAgentsRunStepsAndFindElementsInTheirOwnBrowser(t *testing.T) {
	t.Setenv("SECRET", "s3cret")
	f := &fakeBrowsers{}
	a := newApp(t, f.start(t))
	a.Catalog.Ready(t.Context(), "agents")
	if got, bad := own(t, a.Caller, "default", "run_steps", `{"steps":"click More"}`); !bad || got["fault"] != "unknown_tool" {
		t.Errorf("a profile without tests: %v", got)
	}
	got, bad := own(t, a.Caller, "agents", "run_steps",
		`{"steps":"open http://127.0.0.1:1/\nclick More -> see \"count 1\"\n在用户名输入框输入 \"李四\""}`)
	if bad || got["passed"] != true {
		t.Errorf("sentences: %v", got)
	}
	// The page is as those steps left it.
	got, bad = own(t, a.Caller, "agents", "run_steps", `{"steps":"- expect: {text: count 1}\n- {click: Save, timeout: 1s}"}`)
	text, _ := json.Marshal(got)
	if !bad || got["passed"] != false || !strings.Contains(string(text), "ELEMENT_AMBIGUOUS") ||
		!strings.Contains(string(text), "candidates") {
		t.Errorf("a failure: %s", text)
	}
	got, bad = own(t, a.Caller, "agents", "find_element", `{"description":"User name","action":"fill"}`)
	if bad || got["ref"] != "e2" || got["text"] != "User name" || got["confidence"].(float64) < 0.9 {
		t.Errorf("find: %v", got)
	}
	if got, bad = own(t, a.Caller, "agents", "find_element", `{"description":"Save"}`); !bad || got["type"] != "ELEMENT_NOT_FOUND" ||
		len(got["candidates"].([]any)) != 2 {
		t.Errorf("find an ambiguous one: %v", got)
	}
	for args, want := range map[string]string{
		`{"steps":"dance with me"}`:                                          "PARAMETER_FORMAT_ERROR",
		`{"steps":"- type \"${env:SECRET}\" into User name"}`:                "the environment has no SECRET",
		`{"steps":"- include: /etc/passwd"}`:                                 "not read here",
		`{"steps":"serve: /etc\nsteps: [open /passwd]"}`:                     "not served here",
		`{"steps":"- {eval: \"() => 1\"}"}`:                                  "eval is switched off",
		`{"steps":"- open /x\n","vars":{"a":"b"},"base_url":"not a url %%"}`: "BAD_VALUE",
	} {
		got, bad := own(t, a.Caller, "agents", "run_steps", args)
		if text, _ := json.Marshal(got); !bad || !strings.Contains(string(text), want) || strings.Contains(string(text), "s3cret") {
			t.Errorf("%s: %s", args, text)
		}
	}
	if f.opened != 1 {
		t.Errorf("%d browsers", f.opened)
	}
}
