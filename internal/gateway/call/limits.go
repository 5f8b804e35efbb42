package call

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/policy"
)

// repeatsPause is how long after the last of them repeated calls count.
const repeatsPause = 10 * time.Minute

// count counts a call for the limits that apply to it, and refuses one too many.
func (c *Caller) count(ctx context.Context, p *Permission, rec *recording) error {
	rules := p.Decision.Limits
	if len(rules) == 0 || c.opts.Count == nil {
		return nil
	}
	counts := make([]policy.Count, len(rules))
	for i, r := range rules {
		counts[i] = p.countFor(r)
	}
	over, wait := c.opts.Count(ctx, counts, c.opts.Now())
	if over < 0 {
		return nil
	}
	rec.applied("limit " + rules[over].Name)
	return reached(rules[over], wait)
}

// countFor says what the call counts for under a rule: all calls of the principal, or those like it in its session.
func (p *Permission) countFor(r *policy.Rule) policy.Count {
	if r.Repeats == 0 {
		return policy.Count{Key: "limit " + r.Name + " " + p.Request.Principal.ID, Most: r.Limit.Count, Per: r.Limit.Per}
	}
	session := sha256.Sum256([]byte(p.Request.session()))
	args := rawjson.Digest(p.Args) // whatever the order of their members
	return policy.Count{
		Key:  "repeats " + r.Name + " " + p.Request.Principal.ID + " " + hex.EncodeToString(session[:16]),
		Most: r.Repeats, Per: repeatsPause, Same: string(p.Tool.Name) + " " + hex.EncodeToString(args[:16]),
	}
}

// periods are the words for the times of limits.
var periods = map[time.Duration]string{time.Second: "second", time.Minute: "minute", time.Hour: "hour", 24 * time.Hour: "day"}

// reached is the error for a call that a rule permits no more of now.
func reached(r *policy.Rule, wait time.Duration) error {
	message := r.Say
	switch {
	case message != "":
	case r.Repeats > 0:
		message = fmt.Sprintf("this call was made %d times in a row with the same arguments; its answer will not change: do something else", r.Repeats)
	default:
		message = fmt.Sprintf("the policy permits no more than %d such calls per %s", r.Limit.Count, periods[r.Limit.Per])
	}
	seconds := int(math.Ceil(wait.Seconds()))
	return fault.New(fault.LimitReached, "%s", message).WithHint("it is possible again in %s", time.Duration(seconds)*time.Second).
		WithDetails(map[string]int{"retryAfter": seconds})
}
