package budget

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

var update = flag.Bool("update", false, "write budget.txt anew")

// raced is set where the race detector is on, which allocates for itself.
var raced bool

const (
	file   = "budget.txt"
	accept = "go test ./internal/testkit/budget -update"
)

// TestFiguresAreThoseOfTheBudget also fails where a figure has become smaller: a budget that nobody lowers hides the next change
// that costs something, and to accept it takes one command.
func TestFiguresAreThoseOfTheBudget(t *testing.T) {
	text, err := os.ReadFile(file)
	check(t, err)
	budget := parse(t, string(text))
	g := newGateway(t)
	figures := append(g.wires(t), g.tokens(t)...)
	counted := false
	t.Run("allocations", func(t *testing.T) {
		needSamePlace(t, string(text))
		figures = append(figures, g.allocations(t)...)
		counted = true
	})
	if !counted {
		maps.DeleteFunc(budget, func(name string, _ int) bool { return strings.Contains(name, "allocat") })
	}
	switch off := compare(figures, budget); {
	case t.Failed():
	case *update:
		check(t, os.WriteFile(file, format(figures, budget), 0o644))
	case len(off) > 0:
		t.Errorf("%s\nif that is meant, run: %s\nand commit %s", strings.Join(off, "\n"), accept, file)
	}
}

// needSamePlace ends a test of allocations where they are not those of the file.
func needSamePlace(t *testing.T, text string) {
	t.Helper()
	switch {
	case raced && *update:
		t.Fatal("the race detector allocates for itself: run -update without it")
	case raced:
		t.Skip("the race detector allocates for itself")
	case !*update && !strings.Contains(text, place()):
		testparts.Missing(t, "the allocations in "+file+" are not those of "+place()+"; when CI gets another Go, run: "+accept)
	}
}

// place is where allocations are the same: systems differ, and so do versions of Go, but not its patches.
func place() string {
	version := strings.SplitN(runtime.Version(), ".", 3)
	return fmt.Sprintf("%s on %s/%s", strings.Join(version[:min(2, len(version))], "."), runtime.GOOS, runtime.GOARCH)
}

// figure is one thing that was counted.
type figure struct {
	name  string
	now   int
	slack int // how far from the budget it may be
}

func (f figure) isAs(before int) bool { return max(f.now-before, before-f.now) <= f.slack }

// compare tells what is not as in the budget.
func compare(figures []figure, budget map[string]int) (off []string) {
	left := maps.Clone(budget)
	for _, f := range figures {
		before, known := budget[f.name]
		delete(left, f.name)
		switch {
		case !known:
			off = append(off, fmt.Sprintf("%s: not in the budget, %d now", f.name, f.now))
		case !f.isAs(before):
			off = append(off, fmt.Sprintf("%s: %d before, %d now", f.name, before, f.now))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		off = append(off, fmt.Sprintf("%s: %d before, not counted now", name, left[name]))
	}
	return off
}

// parse reads a budget: a name and a number on each line.
func parse(t *testing.T, text string) map[string]int {
	t.Helper()
	budget := map[string]int{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		n, err := strconv.Atoi(words[len(words)-1])
		check(t, err)
		budget[strings.Join(words[:len(words)-1], " ")] = n
	}
	return budget
}

// format writes a budget. What is as in the old one keeps its number, so that a diff shows only what has changed.
func format(figures []figure, old map[string]int) []byte {
	text := fmt.Appendf(nil, "# What a request to the gateway costs. If that is to change, run: %s\n"+
		"# Allocations are of one request, in the process of the gateway, the client and the servers, by %s.\n", accept, place())
	for _, f := range figures {
		if before, known := old[f.name]; known && f.isAs(before) {
			f.now = before
		}
		text = fmt.Appendf(text, "%-52s %8d\n", f.name, f.now)
	}
	return text
}

func TestWhatIsNotAsInTheBudgetIsTold(t *testing.T) {
	old := parse(t, "# comment\nmore: tokens  100\nless: tokens 100\nnear: allocations 100\n\ngone: tokens 1\n")
	figures := []figure{{"more: tokens", 101, 0}, {"less: tokens", 97, 2}, {"near: allocations", 102, 2}, {"new: tokens", 5, 0}}
	want := []string{
		"more: tokens: 100 before, 101 now", "less: tokens: 100 before, 97 now",
		"new: tokens: not in the budget, 5 now", "gone: tokens: 1 before, not counted now",
	}
	if got := compare(figures, old); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	accepted := parse(t, string(format(figures, old)))
	if got := compare(figures, accepted); len(got) > 0 || accepted["near: allocations"] != 100 {
		t.Errorf("after -update: %q, %v", got, accepted)
	}
}
