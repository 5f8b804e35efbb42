package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/core/policy"
)

// readPolicy reads the rules about calls.
func (c *draft) readPolicy(d *decoder, at place, n *node) {
	var whens []*node
	d.items(at, n, func(inner place, item *node) {
		r := policy.Rule{Line: inner.Line}
		var when *node
		if !d.complete(inner, item, c.policyFields(&r, &when)) {
			return
		}
		c.checkRule(d, inner, &r)
		c.Policy = append(c.Policy, r)
		whens = append(whens, when)
	})
	_, problems := policy.Compile(c.Policy)
	for _, p := range problems {
		at := place{Line: whens[p.Rule].Line, Field: fmt.Sprintf("policy.%s.when", c.Policy[p.Rule].Name)}
		d.problems = append(d.problems, inExpression(at, whens[p.Rule], p))
	}
}

// inExpression is the problem with its place in the file, if the expression is on one line; else with its place in the expression.
func inExpression(at place, n *node, p policy.Problem) problem {
	out := problem{Line: at.Line, Field: at.Field, Text: p.Text}
	if n.Column == 0 || strings.Contains(n.Text, "\n") {
		out.Text = fmt.Sprintf("line %d, column %d of the expression: %s", p.Line, p.Column, p.Text)
		return out
	}
	out.Column = n.Column + p.Column - 1
	if n.Quoted {
		out.Column++
	}
	return out
}

func (c *draft) policyFields(r *policy.Rule, when **node) []field {
	mode := ""
	return []field{
		{"name", textInto(&r.Name, checkRuleName)},
		{"profiles", c.ruleProfiles(r)},
		{"who", section(selectorFields(&r.Who))},
		{"tools", someInto(&r.Tools, checkGlob)},
		{"hints", section(hintFields(&r.Hints))},
		{"when", func(d *decoder, at place, n *node) {
			*when = n
			textInto(&r.When, checkFilled)(d, at, n)
		}},
		{"then", oneOf((*string)(&r.Then), "deny", "approve", "allow")},
		{"limit", parsedInto(&r.Limit, parseLimit)},
		{"repeats", countInto(&r.Repeats, 1, 1000)},
		{"approvers", func(d *decoder, at place, n *node) {
			r.Approvers = &policy.Approver{}
			d.object(at, n, []field{
				{"groups", someInto(&r.Approvers.Groups, checkFilled)},
				{"people", someInto(&r.Approvers.People, checkFilled)},
			})
		}},
		{"say", textInto(&r.Say, checkSay)},
		{"mode", func(d *decoder, at place, n *node) {
			oneOf(&mode, "enforce", "watch")(d, at, n)
			r.Watch = mode == "watch"
		}},
	}
}

func hintFields(h *policy.Hints) []field {
	return []field{
		{"readOnly", hintInto(&h.ReadOnly)},
		{"destructive", hintInto(&h.Destructive)},
		{"idempotent", hintInto(&h.Idempotent)},
		{"openWorld", hintInto(&h.OpenWorld)},
	}
}

func checkKind(s string) string { return checkChoice(s, []string{"local", "key", "user", "service"}) }

func selectorFields(s *policy.Selector) []field {
	return []field{
		{"groups", someInto(&s.Groups, checkFilled)},
		{"scopes", someInto(&s.Scopes, checkFilled)},
		{"clients", someInto(&s.Clients, checkFilled)},
		{"keys", someInto(&s.Keys, checkFilled)},
		{"kinds", someInto(&s.Kinds, checkKind)},
	}
}

// ruleProfiles reads the profiles of a rule, which may be later in the file.
func (c *draft) ruleProfiles(r *policy.Rule) reader {
	return func(d *decoder, at place, n *node) {
		someInto(&r.Profiles, checkProfileName)(d, at, n)
		for _, name := range r.Profiles {
			c.profileRefs = append(c.profileRefs, ref{at, name})
		}
	}
}

func (c *draft) checkRule(d *decoder, at place, r *policy.Rule) {
	given := 0
	for _, is := range []bool{r.Then != "", r.Limit.Count > 0, r.Repeats > 0} {
		if is {
			given++
		}
	}
	switch {
	case r.Name == "":
		d.fail(at, "has no name; give it one")
	case slices.ContainsFunc(c.Policy, func(other policy.Rule) bool { return other.Name == r.Name }):
		d.fail(at, "there is a rule %s already; choose another name", r.Name)
	case given != 1:
		d.fail(at, "needs one of then, limit and repeats")
	case r.Approvers != nil && r.Then != policy.Approve:
		d.fail(at, "approvers goes with then: approve; remove it")
	case r.Approvers != nil && r.Approvers.Groups == nil && r.Approvers.People == nil:
		d.fail(at, "approvers names nobody; add groups or people")
	}
}

func hintInto(dst **bool) reader {
	return func(d *decoder, at place, n *node) {
		*dst = new(bool)
		boolInto(*dst)(d, at, n)
	}
}

// maxLimit is how many calls a limit can count: each is remembered.
const maxLimit = 1000

// parseLimit reads a number of calls and a time, such as 20/h.
func parseLimit(s string) (policy.Limit, string) {
	count, unit, _ := strings.Cut(s, "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[strings.TrimSpace(unit)]
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || n < 1 || n > maxLimit || per == 0 {
		return policy.Limit{}, "expected a number of calls from 1 to 1000 and its time, such as 20/h, 5/m or 100/d"
	}
	return policy.Limit{Count: n, Per: per}, ""
}

func checkRuleName(s string) string {
	if checkProfileName(s) != "" {
		return `is not a rule's name; use 1 to 64 letters, digits, "-", "_" and "."`
	}
	return ""
}

func checkSay(s string) string {
	const most = 500
	if wrong := checkFilled(s); wrong != "" || len(s) <= most {
		return wrong
	}
	return "is longer than 500 bytes; say it shorter"
}
