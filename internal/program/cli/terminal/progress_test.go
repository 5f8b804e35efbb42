package terminal

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shown is a progress and what it writes; a cleared line is shown as |.
func shown(tty bool, width int) (*Progress, *strings.Builder) {
	var out strings.Builder
	p := &Progress{Out: &out, Width: width, Sprintf: fmt.Sprintf}
	if tty {
		p.Clear = func() { out.WriteString("|") }
	}
	return p, &out
}

func TestProgress(t *testing.T) {
	const each = 900 * time.Millisecond
	for _, tc := range []struct {
		name  string
		tty   bool
		width int
		steps []string // with the time each takes
		want  string
	}{
		{"what is done at once is not told", true, 80, []string{"a"}, ""},
		{"one line is rewritten and cleared", true, 80, []string{"a", "b", "c"}, "|b|c|"},
		{"the same is written once", true, 80, []string{"a", "b", "b", "b"}, "|b|"},
		{"a long line does not wrap", true, 10, []string{"a", "云云云云云云云"}, "|云云云云…|"},
		{"a server's name moves no cursor", true, 80, []string{"a", "x\x1b[2J\ny"}, "|x\\u001b[2J y|"},
		{"elsewhere there are few lines", false, 0, strings.Split("abcdefghijklmnopqrstuvwxyzA", ""), "l\nw\n"},
		{"elsewhere the same is said once", false, 0, strings.Split("abaaaaaaaaaaaaaaaaa", ""), "a\n"},
		{"elsewhere short waits are not told", false, 0, []string{"a", "b", "c"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, out := shown(tc.tty, tc.width)
				for _, text := range tc.steps {
					p.Say("%s", text)
					time.Sleep(each)
				}
				p.End()
				p.End()
				time.Sleep(time.Hour)
				if out.String() != tc.want {
					t.Errorf("got %q, want %q", out.String(), tc.want)
				}
			})
		})
	}
}

func TestProgressBeginsAnewAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, out := shown(true, 80)
		for _, text := range []string{"a", "b"} {
			p.Say("%s", text)
			time.Sleep(2 * time.Second)
			p.End()
		}
		if out.String() != "|a||b|" {
			t.Errorf("got %q", out.String())
		}
	})
}

func TestOtherTextComesAboveTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, out := shown(true, 80)
		fmt.Fprint(p, "x\n")
		p.Say("a")
		fmt.Fprint(p, "y\n")
		time.Sleep(2 * time.Second)
		fmt.Fprint(p, "z\n")
		fmt.Fprint(p, "half")
		fmt.Fprint(p, " a line\n")
		p.End()
		fmt.Fprint(p, "end\n")
		if want := "x\ny\n|a|z\n|a|half a line\n|a|end\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

func TestAGroupTellsOfTheOneThatIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, out := shown(true, 80)
		g := p.Group("checking %d of %d: %s", 3)
		a, b := g.Begin("a"), g.Begin("b")
		time.Sleep(2 * time.Second)
		b()
		a()
		c := g.Begin("c")
		c()
		p.End()
		if want := "|checking 1 of 3: a|checking 2 of 3: a|checking 3 of 3: c|"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

func TestNoProgressTellsNothing(t *testing.T) {
	var p *Progress
	p.Say("a")
	p.Group("%d %d %s", 1).Begin("x")()
	p.End()
}
