package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/config"
)

// failedCase is a case that was decided otherwise than expected.
type failedCase struct {
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Name     string            `json:"name,omitempty"`
	Expected string            `json:"expected"`
	Decided  string            `json:"decided"`
	Rules    map[string]string `json:"rules"` // those that are about such calls, with what each says
}

func (c *command) testPolicy() *cobra.Command {
	return &cobra.Command{
		Use: "test FILE…", Short: "Check cases against the rules of the configuration; no server is started",
		Args: takes(1, -1, "files with cases"), Example: "  toolfit policy test policy.test.yaml",
		RunE: func(_ *cobra.Command, files []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			set, _ := policy.Compile(cfg.Policy) // checked when it was loaded
			total := 0
			failed := []failedCase{}
			for _, file := range files {
				cases, err := readCases(cfg, file)
				if err != nil {
					return err
				}
				total += len(cases)
				for i := range cases {
					if f := check(set, &cases[i]); f != nil {
						f.File = file
						failed = append(failed, *f)
					}
				}
			}
			return c.showCases(total, failed)
		},
	}
}

func readCases(cfg *config.Config, file string) ([]config.PolicyCase, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.New(fault.BadRequest, "cannot read the cases: %w", err)
	}
	return cfg.ParsePolicyCases(file, data, time.Now())
}

// check decides about the call of a case; nil: as expected.
func check(set *policy.Set, p *config.PolicyCase) *failedCase {
	d, rules := set.Explain(&p.Call)
	told := call.Told(&d, p.Call.Tool)
	decided := string(d.Verdict)
	if p.Expect == "hidden" {
		decided = map[bool]string{true: "hidden", false: "shown"}[d.Verdict == policy.Deny]
	}
	f := failedCase{Line: p.Line, Name: p.Name, Expected: p.Expect, Decided: decided, Rules: map[string]string{}}
	applies := p.Rule == ""
	for _, r := range rules {
		if r.Outcome == policy.NotMeant {
			continue
		}
		f.Rules[r.Rule.Name] = string(r.Outcome)
		if r.Err != nil {
			f.Rules[r.Rule.Name] += ": " + r.Err.Error()
		}
		applies = applies || r.Rule.Name == p.Rule && r.Applies() && (d.Verdict == policy.Allow || r.Rule.Then == d.Verdict && !r.Rule.Watch)
	}
	if d.Rule != nil {
		f.Decided += " by " + d.Rule.Name
	}
	if p.Rule != "" {
		f.Expected += " by " + p.Rule
	}
	if p.Say != "" {
		f.Expected += fmt.Sprintf(", told %q", p.Say)
		f.Decided += fmt.Sprintf(", told %q", told)
	}
	if decided == p.Expect && applies && (p.Say == "" || p.Say == told) {
		return nil
	}
	return &f
}

func (c *command) showCases(total int, failed []failedCase) error {
	err := c.show(map[string]any{"cases": total, "failed": failed}, func() error {
		for _, f := range failed {
			c.say("%s:%d: %s\n  expected: %s\n  decided:  %s\n", f.File, f.Line, line(f.Name), line(f.Expected), line(f.Decided))
			for _, name := range slices.Sorted(maps.Keys(f.Rules)) {
				fmt.Fprintf(c.env.Out, "  %s: %s\n", name, line(f.Rules[name]))
			}
		}
		err := c.say("%s, %d failed\n", c.count(total, "case"), len(failed))
		return err
	})
	if err == nil && len(failed) > 0 {
		return errSilent
	}
	return err
}
