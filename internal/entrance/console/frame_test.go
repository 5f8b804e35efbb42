package console

import (
	"os"
	"testing"
)

func TestEveryPageHasALetterOfItsOwn(t *testing.T) {
	taken := map[string]string{}
	for _, g := range New(Parts{}).menu {
		for _, s := range g.sections {
			if len(s.key) != 1 || s.key == "g" || taken[s.key] != "" {
				t.Errorf("g %s leads to %s, and to %q", s.key, s.name, taken[s.key])
			}
			taken[s.key] = s.name
		}
	}
}

func TestWhatTheMenuLeavesOutIsAPageWithADocument(t *testing.T) {
	known := map[string]bool{}
	for _, g := range New(Parts{}).menu {
		for _, s := range g.sections {
			known[s.name] = true
		}
	}
	for name, one := range optional {
		if _, err := os.Stat("../../../docs/" + one.doc); err != nil || !known[name] {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range urgent {
		if !known[name] {
			t.Errorf("there is no page %s", name)
		}
	}
}
