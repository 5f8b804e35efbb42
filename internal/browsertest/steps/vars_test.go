package steps_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

func TestVariablesThatNameEachOtherOverAndOverAreRefused(t *testing.T) {
	many := func(name string) string { return strings.Repeat("${"+name+"}", 1000) }
	for name, vars := range map[string]map[string]string{
		"more than there is room for": {"a": many("b"), "b": many("c"), "c": many("d"), "d": "0123456789"},
		"nothing, very often":         {"a": many("b"), "b": many("c"), "c": many("d"), "d": ""},
		"a circle of many":            {"a": many("b"), "b": many("a")},
	} {
		if text, err := steps.NewVars(nil, vars).Fill("${a}"); err == nil {
			t.Errorf("%s: filled with %d bytes", name, len(text))
		}
	}
	if text, err := steps.NewVars(nil, map[string]string{"a": many("b"), "b": "很好"}).Fill("${a}$${b}"); err != nil ||
		text != strings.Repeat("很好", 1000)+"${b}" {
		t.Errorf("%.20s %v", text, err)
	}
}

func TestKeysThatJoinOthersCanBePressedToo(t *testing.T) {
	for written, want := range map[string]string{
		"Control+-": "Control+-", "ctrl++": "Control++", "-": "-", "+": "+", "Ctrl-Shift-a": "Control+Shift+a", "cmd + Enter": "Meta+Enter",
		"Ctrl-": "", "a+b": "", "": "", "Page-Up": "",
	} {
		suite, err := steps.Parse("t.yaml", []byte("- {press: \""+written+"\"}\n"), nil)
		got := ""
		if err == nil {
			got = suite.Cases[0].Steps[0].Value
		}
		if got != want {
			t.Errorf("%q is %q, want %q (%v)", written, got, want, err)
		}
	}
}
