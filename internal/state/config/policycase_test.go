package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/config"
)

const casesConfig = `
profiles: {shut: {default: deny}}
policy:
  - {name: no-prod, when: 'args.env == "prod"', then: deny}
`

func parseCases(t testing.TB, text string) ([]config.PolicyCase, error) {
	t.Helper()
	cfg, err := config.Parse("toolfit.yaml", []byte(casesConfig), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.ParsePolicyCases("p.test.yaml", []byte(text), time.Unix(0, 0))
}

func TestCasesOfThePolicyAreReadWhole(t *testing.T) {
	cases, err := parseCases(t, `
cases:
  - name: all
    tool: cloud__deploy
    profile: shut
    as: {kind: service, name: bot, client: c, groups: [a], scopes: [b]}
    args: {env: prod, "n": [1, 2.5, null, "x"]}
    hints: {readOnly: true}
    now: "2026-11-16T08:00:00+01:00"
    expect: deny
    rule: no-prod
    say: No.
  - {tool: cloud__deploy, as: {key: ci}, expect: allow}
  - {tool: cloud__deploy, expect: hidden}
`)
	if err != nil {
		t.Fatal(err)
	}
	a := cases[0]
	if a.Line != 3 || a.Call.Profile != "shut" || !a.Call.Closed || a.Call.Who.Kind != "service" || a.Call.Who.Groups[0] != "a" ||
		string(a.Call.Args) != `{"env":"prod","n":[1,2.5,null,"x"]}` || !a.Call.Tool.ReadOnly || a.Call.Tool.Destructive ||
		a.Call.Tool.Server != "cloud" || a.Call.Now.UTC().Hour() != 7 || a.Expect != "deny" || a.Rule != "no-prod" || a.Say != "No." {
		t.Errorf("%+v", a)
	}
	b := cases[1].Call
	if b.Profile != "default" || b.Closed || b.Who.Kind != "key" || b.Who.Name != "ci" || string(b.Args) != "{}" || !b.Tool.Destructive ||
		!b.Now.Equal(time.Unix(0, 0)) {
		t.Errorf("%+v", b)
	}
	if c := cases[2].Call; c.Args != nil || c.Who.Kind != "user" {
		t.Errorf("%+v", c)
	}
}

func TestWrongCasesAreRefusedWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "p.test.yaml:1: has no cases",
		"cases: []":                "p.test.yaml:1: has no cases",
		"case: []":                 `p.test.yaml:1: case: unknown key; did you mean "cases"?`,
		"cases: {":                 "p.test.yaml:1:8:",
		"cases:\n- {tool: a__b}":   "p.test.yaml:2: cases[0]: needs expect: allow, approve, deny or hidden",
		"cases:\n- {expect: deny}": "p.test.yaml:2: cases[0]: needs tool: a name such as server__tool",
		"cases:\n- {tool: a__b, args: [1], expect: deny}":                  "p.test.yaml:2: cases[0].args: expected a mapping, got a list",
		"cases:\n- {tool: a__b, args: {}, expect: hidden}":                 "hidden is about lists, which know no arguments; remove args",
		"cases:\n- {tool: a__b, expect: denied}":                           `expected allow or approve or deny or hidden`,
		"cases:\n- {tool: a__b, expect: deny, rule: none}":                 "there is no rule none",
		"cases:\n- {tool: a__b, expect: deny, profile: none}":              `there is no profile "none"`,
		"cases:\n- {tool: a__b, expect: deny, now: noon}":                  "expected a time such as",
		"cases:\n- {tool: a__b, expect: deny, as: {key: k, kind: user}}":   "key goes without kind and name; remove them",
		"cases:\n- {tool: a__b, expect: deny, as: {kind: robot}}":          "expected local or key or user or service",
		"cases:\n- tool: a__b\n  expect: deny\n- tool: a__b\n  when: true": "p.test.yaml:5: cases[1].when: unknown key",
	} {
		if _, err := parseCases(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzPolicyCases(f *testing.F) {
	f.Add("cases:\n- {tool: a__b, args: {a: [1, {b: null}]}, expect: deny, as: {groups: [x]}, now: 2026-01-01T00:00:00Z}")
	f.Add("cases: [{tool: a__b, hints: {readOnly: yes}}]")
	f.Fuzz(func(t *testing.T, text string) {
		cases, err := parseCases(t, text)
		if err == nil && len(cases) == 0 {
			t.Error("neither cases nor a problem")
		}
	})
}
