package steps_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

func TestABareTimeIsMillisecondsInCommandsAndSecondsElsewhere(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`- {action: click, selector: "#a", timeout: 5000}`:                    5 * time.Second,
		`- {action: click, selector: "#a", timeout: 8s}`:                      8 * time.Second,
		`- {action: click, timeout: 5000, parameters: {selector: "#a"}}`:      5 * time.Second,
		`- {action: click, parameters: {selector: "#a", timeout: 2500}}`:      2500 * time.Millisecond,
		`- {action: expect, selector: "#a", condition: hidden, timeout: 700}`: 700 * time.Millisecond,
		`- {action: wait, timeout: 300}`:                                      300 * time.Millisecond,
		`- {click: A, timeout: 5}`:                                            5 * time.Second,
		`- {click: A, timeout: 600}`:                                          10 * time.Minute,
		`- {click: A, timeout: 700ms}`:                                        700 * time.Millisecond,
		`- {step: click A, timeout: 5}`:                                       5 * time.Second,
		`- wait: 3`:                                                           3 * time.Second,
		`- wait: {timeout: 300ms}`:                                            300 * time.Millisecond,
	} {
		suite, err := steps.Parse("t.yaml", []byte(text+"\n"), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		s := suite.Cases[0].Steps[0]
		got := s.Timeout
		if s.Wait != nil {
			got = s.Wait.Time
		}
		if got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestATimeThatMayBeMillisecondsIsAskedAbout(t *testing.T) {
	for _, text := range []string{"- {click: A, timeout: 1000}", "- {step: click A, timeout: 1000}", "- wait: 1000",
		"- wait: {time: 1000}", "- wait: {timeout: 1000}", "timeout: 1000\nsteps: [click A]", "- {action: wait, time: 1000}"} {
		if _, err := steps.Parse("t.yaml", []byte(text+"\n"), nil); err == nil || !strings.Contains(err.Error(), "1000ms or 1000s?") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
