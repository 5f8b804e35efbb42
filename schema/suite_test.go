package schema

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// TestSuiteValidStaysValidAndInvalidIsRefused holds what the mapping is for: dialects that
// can say nearly everything keep every valid value, the narrow ones nearly every, and what
// the original refuses is refused after the way there and back.
func TestSuiteValidStaysValidAndInvalidIsRefused(t *testing.T) {
	var open, narrow, refused score
	for file, groups := range corpora.Suite(t) {
		for _, g := range groups {
			original, err := compile(g.Schema)
			if err != nil {
				continue // remote references
			}
			for _, d := range dialectNames() {
				res, err := Plan(g.Schema, d, nil)
				if err != nil || d == Inlined {
					continue
				}
				converted, err := compile(plainNull(t, res.Parameters))
				if err != nil {
					t.Errorf("%s, %s, %s: %v", file, g.Description, d, err)
					continue
				}
				held := &narrow
				if dialects[res.Dialect].raw {
					held = &open
				}
				s := suiteRun{t, file + ", " + g.Description + ", " + string(d), res, original, converted}
				s.run(g, held, &refused)
			}
		}
	}
	t.Logf("valid stays valid: open dialects %.2f of %d, narrow ones %.2f of %d; invalid is refused: %.2f of %d",
		open.percent(), open.of, narrow.percent(), narrow.of, refused.percent(), refused.of)
	if open.held < open.of || narrow.percent() < 98.5 || refused.held < refused.of {
		t.Error("the suite does not hold")
	}
}

type suiteRun struct {
	t                   *testing.T
	name                string
	res                 *Result
	original, converted *jsonschema.Schema
}

func (s *suiteRun) run(g corpora.Group, held, refused *score) {
	wrapped := s.res.root > 0 && s.res.steps[s.res.root-1].Kind == stepUnwrap
	for _, c := range g.Tests {
		if c.Valid != valid(s.original, c.Data) || c.Data[0] != '{' && !wrapped {
			continue // arguments are an object
		}
		y, err := s.res.Forward(c.Data)
		if !c.Valid {
			back, _, bad := s.res.Back(y)
			refused.add(bad != nil || !valid(s.original, back))
			continue
		}
		if s.res.Strict && !valid(s.converted, y) && has(s.res.Report, Closed) {
			continue // names that the tool does not know are no longer sent
		}
		ok := err == nil && valid(s.converted, y)
		if held.add(ok); !ok && testing.Verbose() {
			s.t.Logf("%s, %s: %s becomes %s, %v\nfor %s", s.name, c.Description, c.Data, y, err, s.res.Parameters)
		}
	}
}
