package call

import (
	"sync"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/state/store"
)

// RuleCount counts results that a rule matched since the gateway started or the rule changed. Tokens are estimates.
type RuleCount struct {
	Projected  int64 // cut or shaped
	Whole      int64 // there was nothing to cut
	Mismatch   int64 // the result had another form: sent whole
	Failed     int64 // the rule could not be applied: sent whole
	Shadowed   int64 // would have been cut, had the rule been on
	Fetched    int64 // fetches of what the rule left out
	TokensFull int64 // of results that it cut or would have cut, as the server sent them
	TokensSent int64 // of the same results as they were, or would have been, sent
}

// ruleCounts counts for each rule. The zero value is ready.
type ruleCounts struct{ byID sync.Map } // rule's id → *ruleCounter

type ruleCounter struct {
	projected, whole, mismatch, failed, shadowed, fetched, full, sent atomic.Int64
}

func (c *ruleCounts) of(id string) *ruleCounter {
	if n, ok := c.byID.Load(id); ok {
		return n.(*ruleCounter)
	}
	n, _ := c.byID.LoadOrStore(id, new(ruleCounter))
	return n.(*ruleCounter)
}

// projected counts what a rule in force did to a result.
func (c *ruleCounts) projected(rule *project.Active, cut *project.Cut) {
	if rule == nil {
		return
	}
	n := c.of(rule.ID)
	switch cut.Outcome {
	case project.Projected:
		n.projected.Add(1)
	case project.Mismatch:
		n.mismatch.Add(1)
	case project.Failed:
		n.failed.Add(1)
	default:
		n.whole.Add(1)
	}
}

// shadowed counts what a shadow rule would have done, and returns the tokens it would have left; 0 if it would not have cut.
func (c *ruleCounts) shadowed(rule *project.Active, cut *project.Cut) (sent int64) {
	if cut.Outcome != project.Projected {
		c.projected(rule, cut)
		return 0
	}
	sent = int64(project.Tokens(cut.Apply("")))
	n := c.of(rule.ID)
	n.shadowed.Add(1)
	n.full.Add(int64(cut.Full()))
	n.sent.Add(sent)
	return sent
}

// ended counts the tokens of a call that a rule was for, and fetches of what it left out.
func (c *ruleCounts) ended(call *store.Call, fetch bool) {
	if call.Rule == "" {
		return
	}
	n := c.of(call.Rule)
	if fetch {
		n.fetched.Add(1)
		return
	}
	n.full.Add(call.TokensFull)
	n.sent.Add(call.TokensSent)
}

// RuleCount returns the counts of a rule.
func (c *Caller) RuleCount(id string) RuleCount {
	n := c.counts.of(id)
	return RuleCount{
		Projected: n.projected.Load(), Whole: n.whole.Load(), Mismatch: n.mismatch.Load(), Failed: n.failed.Load(), Shadowed: n.shadowed.Load(),
		Fetched: n.fetched.Load(), TokensFull: n.full.Load(), TokensSent: n.sent.Load(),
	}
}

// ForgetRule resets the counts of an id that now belongs to another rule.
func (c *Caller) ForgetRule(id string) { c.counts.byID.Delete(id) }
