package config

import (
	"testing"

	"github.com/toolfit/toolfit/internal/core/policy"
)

func TestPolicyIsRead(t *testing.T) {
	c := parse(t, "toolfit.yaml", `
profiles: {ops: {default: deny}}
policy:
  - name: prod-is-for-oncall
    profiles: [ops]
    who: {groups: [eng], kinds: [user, key]}
    tools: ["cloud__*"]
    hints: {readOnly: false}
    when: args.env == "prod" && !("oncall" in who.groups)
    then: deny
    say: Production is changed by on-call only.
    mode: watch
  - {name: mails, tools: ["mail__send"], limit: 20/h}
  - {name: loops, repeats: 10}
  - {name: yes, then: approve, approvers: {groups: [leads]}}
`)
	r := c.Policy[0]
	if len(c.Policy) != 4 || !r.Watch || r.Then != policy.Deny || *r.Hints.ReadOnly || r.Hints.Destructive != nil || r.Line != 4 {
		t.Errorf("got %+v", c.Policy)
	}
	if l := c.Policy[1].Limit; l.Count != 20 || l.Per.Hours() != 1 {
		t.Errorf("limit %+v", l)
	}
	for _, p := range c.Profiles {
		if p.Closed != (p.Name == "ops") {
			t.Errorf("profile %s: closed %v", p.Name, p.Closed)
		}
	}
}

func TestWrongRulesOfThePolicy(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"an expression is refused with line and column", "policy:\n  - name: a\n    when: args.x ==\n    then: deny\n",
			"toolfit.yaml:3:20: policy.a.when: Syntax error: mismatched input at the end"},
		{"in quotes as well", "policy:\n  - {name: a, when: 'who.grups == 1', then: deny}\n",
			"toolfit.yaml:2:25: policy.a.when: who has no grups; there are id, name, kind, role, client, groups, scopes"},
		{"on several lines by its place in the expression", "policy:\n  - name: a\n    then: deny\n    when: |\n      args.x == 1 &&\n      wat\n",
			"toolfit.yaml:4: policy.a.when: line 2, column 1 of the expression: there is no wat; there are args, who, tool, profile, now and the functions of CEL"},
		{"a rule has a name", "policy:\n  - {then: deny}\n", "toolfit.yaml:2: policy[0]: has no name; give it one"},
		{"names are unique", "policy:\n  - {name: a, then: deny}\n  - {name: a, then: deny}\n",
			"toolfit.yaml:3: policy[1]: there is a rule a already; choose another name"},
		{"a rule does something", "policy:\n  - {name: a}\n", "toolfit.yaml:2: policy[0]: needs one of then, limit and repeats"},
		{"and one thing only", "policy:\n  - {name: a, then: deny, limit: 1/h}\n", "toolfit.yaml:2: policy[0]: needs one of then, limit and repeats"},
		{"a limit has a time", "policy:\n  - {name: a, limit: 20}\n",
			"toolfit.yaml:2: policy[0].limit: expected a number of calls from 1 to 1000 and its time, such as 20/h, 5/m or 100/d"},
		{"an empty selector is not all", "policy:\n  - {name: a, tools: [], then: allow}\n",
			"toolfit.yaml:2: policy[0].tools: is an empty list; name something, or remove the key for no limit"},
		{"a selector without a value is not all", "policy:\n  - name: a\n    then: allow\n    who:\n",
			"toolfit.yaml:4: policy[0].who: has no value; give it one, or remove the key"},
		{"profiles exist", "policy:\n  - {name: a, profiles: [opps], then: deny}\nprofiles: {ops: {}}\n",
			`toolfit.yaml:2: policy[0].profiles: there is no profile "opps"; did you mean "ops"?`},
		{"approvers decide something", "policy:\n  - {name: a, then: deny, approvers: {groups: [x]}}\n",
			"toolfit.yaml:2: policy[0]: approvers goes with then: approve; remove it"},
		{"a misspelled verdict is not another", "policy:\n  - {name: a, then: denny}\n",
			`toolfit.yaml:2: policy[0].then: expected deny or approve or allow; did you mean "deny"?`},
	} {
		t.Run(tc.name, func(t *testing.T) { wantProblem(t, "toolfit.yaml", tc.text, tc.want) })
	}
}
