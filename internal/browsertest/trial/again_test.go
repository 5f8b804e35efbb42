package trial_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestARunIsRunAgainAsItWas(t *testing.T) {
	a := newAppWith(t, (&fakeBrowsers{}).start(t), "models:\n  small: {url: \"http://127.0.0.1:1/v1\"}\n")
	text := "# \"quoted\": nothing\n" + manyCases(5) + "vars: {who: nobody}\n"
	o := order(trial.FilterCases([]*steps.Suite{parsed(t, text)}, []string{"t0"}, nil)...)
	o.Sources, o.Workers, o.Model, o.Name = map[string]string{"t.yaml": text}, 2, "small", "my run"
	o.Options = run.Options{Base: "http://127.0.0.1:2", Vars: map[string]string{"who": "ann", "what": "x"}, Timeout: time.Minute, Retries: 1}
	k, err := a.RunTests(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	row, err := a.Store.Run(t.Context(), k.ID)
	if err != nil {
		t.Fatal(err)
	}
	read, err := trial.Read(row)
	if err != nil {
		t.Fatal(err)
	}
	again := trial.Order{Who: access.Owner(), Options: run.Options{Vars: map[string]string{"what": "y"}}}
	if err := read.Again(&again); err != nil {
		t.Fatal(err)
	}
	opts := again.Options
	if again.Model != "small" || again.Workers != 2 || again.Name != "my run" || opts.Base != "http://127.0.0.1:2" ||
		opts.Timeout != time.Minute || opts.Retries != 1 || opts.Vars["who"] != "ann" || opts.Vars["what"] != "y" {
		t.Errorf("%+v", again)
	}
	if got := again.Suites[0].Cases; len(got) != 2 || got[0].Name != "case 2" || got[1].Name != "case 4" {
		t.Errorf("other cases than those that were chosen: %+v", got)
	}
	page, err := trial.ReadPage(row, 1)
	if err != nil || page.Model != "small" || page.Base != "http://127.0.0.1:2" {
		t.Errorf("%+v %v", page, err)
	}
}

func TestARunThatCannotBeRunAgainSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		kept trial.Run
		want string
	}{
		"it is under way": {trial.Run{Outcome: trial.Running,
			Report: trial.Report{Sources: map[string]string{"t.yaml": "- open /\n"}}}, "still under way"},
		"nothing was kept": {trial.Run{Outcome: trial.Interrupted}, "kept no files"},
		"it serves a folder": {trial.Run{Report: trial.Report{Sources: map[string]string{"t.yaml": "serve: site\nsteps: [open " +
			"/]\n"}}}, "serves a folder"},
		"it includes what is no more": {trial.Run{Report: trial.Report{Sources: map[string]string{"t.yaml": "- include: other.yaml\n"}}},
			"not kept with the run"},
	} {
		c.kept.Files = []string{"t.yaml"}
		if err := c.kept.Again(&trial.Order{}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPlanThatBeginsWithATextIsRunAgainAsAPlan(t *testing.T) {
	for file, text := range map[string]string{
		"plan.md":     "Some words before.\n\n# Login\n\n- open http://127.0.0.1:1/\n",
		"quoted.yaml": "\"name\": Login\nsteps: [open http://127.0.0.1:1/]\n", "steps.yaml": "open http://127.0.0.1:1/\n",
	} {
		k := trial.Run{Summary: trial.Summary{Files: []string{file}}, Report: trial.Report{Sources: map[string]string{file: text}}}
		var o trial.Order
		if err := k.Again(&o); err != nil || len(o.Suites[0].Cases[0].Steps) != 1 {
			t.Errorf("%s: %v", file, err)
		}
	}
}
