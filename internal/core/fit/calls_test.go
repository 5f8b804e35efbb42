package fit

import (
	"math/rand/v2"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// TestLabCalls fits the calls of open sets as they are, and those that are right also with mistakes in them.
func TestLabCalls(t *testing.T) {
	sets, calls := corpora.Calls(t)
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			l := &lab{t: t, restored: map[string]*score{}, refused: map[string]*score{}}
			keys := &keyLab{t: t, rows: map[string]*[2]tally{}, kinds: map[string]int{}, shown: map[string]int{}}
			var right, unchanged, repaired, refused, wrongly int
			for i, c := range calls[set] {
				judge, err := oracle(c.Schema)
				if err != nil {
					t.Fatalf("%s: %v", c.Tool, err)
				}
				tool := compiled(t, string(c.Schema), nil)
				fits := c.Declared() && valid(judge, c.Arguments)
				res, err := tool.Fit(t.Context(), c.Arguments)
				same := err == nil && string(res.Args) == string(c.Arguments)
				switch {
				case same:
					unchanged++
				case err != nil:
					refused++
					t.Logf("%s %s: %v", c.Tool, c.Arguments, err)
				default:
					repaired++
					t.Logf("%s %s becomes %s", c.Tool, c.Arguments, res.Args)
				}
				if !fits {
					continue
				}
				right++
				if !same {
					wrongly++
				}
				r := rand.New(rand.NewPCG(uint64(i), 3))
				l.try(judge, tool, string(c.Arguments), r)
				tp := &tape{}
				if err := tp.read(c.Arguments); err != nil {
					t.Fatal(err)
				}
				keys.strike(&keyTool{name: c.Tool, tool: tool}, tp, r)
			}
			n := len(calls[set])
			corpora.Report(t, corpora.Row{Table: "calls", Name: set, Cells: []corpora.Cell{
				corpora.Number("calls", n), corpora.Share("unchanged", unchanged, n), corpora.Share("mended", repaired, n),
				corpora.Share("refused", refused, n),
				corpora.Share("right", right, n), corpora.Number("right, yet not passed on", wrongly),
			}})
			mended, wrong := keys.sum()
			corpora.Report(t, corpora.Row{Table: "mistakes in calls", Name: set, Cells: append(l.cells()[2:],
				corpora.Number("in keys", mended.of), corpora.Share("keys mended", mended.held, mended.of), corpora.Number("mended wrongly", wrong))})
		})
	}
}

// sum is how many mistakes, without traps, were mended, and how many wrongly, with traps.
func (l *keyLab) sum() (mended score, wrong int) {
	for _, x := range blows {
		if row := l.rows[x.name]; row != nil {
			mended.held += row[0].repaired
			mended.of += row[0].asked
		}
	}
	for _, row := range l.rows {
		wrong += row[0].wrong
	}
	return mended, wrong
}
