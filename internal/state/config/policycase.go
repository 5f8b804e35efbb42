package config

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
)

// PolicyCase is a call, and what the policy is expected to decide about it.
type PolicyCase struct {
	Line   int
	Name   string
	Call   policy.Call // without arguments where hidden is expected
	Expect string      // allow, approve, deny, or hidden: lists do not show the tool
	Rule   string      // a rule that applies; "": whichever
	Say    string      // what the caller is told; "": whatever
}

// ParsePolicyCases reads a file of cases about the policy of the configuration. Its time is now where a case does not say another.
func (c *Config) ParsePolicyCases(path string, data []byte, now time.Time) ([]PolicyCase, error) {
	src, problems := doctree.ParseYAML(data)
	if len(problems) > 0 {
		return nil, problems.Err(path)
	}
	d := &decoder{plain: true}
	var cases []PolicyCase
	top := place{Line: max(1, src.Root.Line)}
	d.object(top, src.Root, []field{{"cases", func(d *decoder, at place, n *node) {
		d.items(at, n, func(inner place, item *node) {
			one := PolicyCase{Line: item.Line, Call: policy.Call{Profile: DefaultProfile, Now: now, Who: policy.Who{Kind: "user", Role: "caller"}}}
			c.readCase(d, inner, item, &one)
			cases = append(cases, one)
		})
	}}})
	if len(d.problems) == 0 && len(cases) == 0 {
		d.fail(top, "has no cases; add some under cases:")
	}
	if len(d.problems) > 0 {
		return nil, d.problems.Err(path)
	}
	return cases, nil
}

func (c *Config) readCase(d *decoder, at place, n *node, p *PolicyCase) {
	var args json.RawMessage
	var hints policy.Hints
	name := ""
	if !d.complete(at, n, []field{
		{"name", textInto(&p.Name, checkFilled)},
		{"tool", textInto(&name, checkFilled)},
		{"profile", textInto(&p.Call.Profile, checkFilled)},
		{"as", p.readWho},
		{"args", jsonInto(&args)},
		{"hints", section(hintFields(&hints))},
		{"now", parsedInto(&p.Call.Now, func(s string) (time.Time, string) {
			t, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return t, "expected a time such as 2026-01-31T08:00:00Z"
			}
			return t, ""
		})},
		{"expect", oneOf(&p.Expect, "allow", "approve", "deny", "hidden")},
		{"rule", textInto(&p.Rule, checkFilled)},
		{"say", textInto(&p.Say, checkFilled)},
	}) {
		return
	}
	server, _, ok := tool.Name(name).Split()
	profile := slices.IndexFunc(c.Profiles, func(one Profile) bool { return one.Name == p.Call.Profile })
	switch {
	case !ok:
		d.fail(at, "needs tool: a name such as server__tool")
		return
	case p.Expect == "":
		d.fail(at, "needs expect: allow, approve, deny or hidden")
		return
	case p.Expect == "hidden" && args != nil:
		d.fail(at, "hidden is about lists, which know no arguments; remove args")
		return
	case profile < 0:
		d.fail(at, "there is no profile %q", p.Call.Profile)
		return
	case p.Rule != "" && !slices.ContainsFunc(c.Policy, func(r policy.Rule) bool { return r.Name == p.Rule }):
		d.fail(at, "there is no rule %s", p.Rule)
		return
	}
	if args == nil && p.Expect != "hidden" {
		args = json.RawMessage("{}")
	}
	p.Call.Args = args
	p.Call.Closed = c.Profiles[profile].Closed
	p.Call.Tool = hints.Of(policy.Tool{Name: tool.Name(name), Server: server, Kind: "tool"})
}

// readWho reads the caller: a person in no group where nothing else is said.
func (p *PolicyCase) readWho(d *decoder, at place, n *node) {
	w := &p.Call.Who
	key, kind := "", ""
	d.object(at, n, []field{
		{"kind", textInto(&kind, checkKind)},
		{"name", textInto(&w.Name, checkFilled)},
		{"client", textInto(&w.Client, checkFilled)},
		{"groups", listInto(&w.Groups, checkFilled)},
		{"scopes", listInto(&w.Scopes, checkFilled)},
		{"key", textInto(&key, checkFilled)},
	})
	switch {
	case key != "" && (kind != "" || w.Name != ""):
		d.fail(at, "key goes without kind and name; remove them")
	case key != "":
		w.Kind, w.Name, w.ID = "key", key, key
	case kind != "":
		w.Kind = kind
	}
}
