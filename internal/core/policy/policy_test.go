package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func compile(t testing.TB, rules ...Rule) *Set {
	t.Helper()
	set, problems := Compile(rules)
	if problems != nil {
		t.Fatalf("%+v", problems)
	}
	return set
}

var cloud = Tool{Name: "cloud__deploy", Server: "cloud", Kind: "tool", Destructive: true, OpenWorld: true}

func TestWhatIsDecided(t *testing.T) {
	no := false
	yes := true
	prod := Rule{Name: "prod", When: `args.env == "prod" && !("oncall" in who.groups)`, Then: Deny}
	for _, tc := range []struct {
		name  string
		rules []Rule
		who   Who
		args  string // "": not known
		shut  bool
		want  Verdict
		rule  string
	}{
		{name: "without rules everything is allowed", args: `{}`, want: Allow},
		{name: "without rules a closed profile denies everything", args: `{}`, shut: true, want: Deny},
		{name: "a rule that applies denies", rules: []Rule{prod}, args: `{"env":"prod"}`, want: Deny, rule: "prod"},
		{name: "a rule looks at the caller", rules: []Rule{prod}, who: Who{Groups: []string{"oncall"}}, args: `{"env":"prod"}`, want: Allow},
		{name: "a rule that does not apply is ignored", rules: []Rule{prod}, args: `{"env":"dev"}`, want: Allow},
		{name: "a missing member denies", rules: []Rule{prod}, args: `{}`, want: Deny, rule: "prod"},
		{name: "null is no text", rules: []Rule{prod}, args: `{"env":null}`, want: Allow},
		{name: "a wrong type denies", rules: []Rule{{Name: "n", When: `args.n > 3`, Then: Deny}}, args: `{"n":"4"}`, want: Deny, rule: "n"},
		{name: "a wrong type asks", rules: []Rule{{Name: "n", When: `args.n > 3`, Then: Approve}}, args: `{"n":"4"}`, want: Approve, rule: "n"},
		{name: "a wrong type never allows", rules: []Rule{{Name: "n", When: `args.n > 3`, Then: Allow}}, args: `{"n":"4"}`, shut: true, want: Deny},
		{name: "an allow opens a closed profile", rules: []Rule{{Name: "n", When: `args.n > 3`, Then: Allow}}, args: `{"n":4}`, shut: true, want: Allow},
		{name: "a result that is not a bool denies", rules: []Rule{{Name: "n", When: `args.n`, Then: Deny}}, args: `{"n":4}`, want: Deny, rule: "n"},
		{name: "deny wins over approve and allow", rules: []Rule{
			{Name: "a", Then: Allow}, {Name: "b", Then: Approve}, {Name: "c", Then: Deny},
		}, args: `{}`, want: Deny, rule: "c"},
		{name: "approve wins over allow", rules: []Rule{{Name: "a", Then: Allow}, {Name: "b", Then: Approve}}, args: `{}`, want: Approve, rule: "b"},
		{name: "approve does not open a closed profile", rules: []Rule{{Name: "b", Then: Approve}}, args: `{}`, shut: true, want: Deny},
		{name: "a watched rule decides nothing", rules: []Rule{{Name: "c", Then: Deny, Watch: true}}, args: `{}`, want: Allow},
		{name: "a watched rule opens nothing", rules: []Rule{{Name: "c", Then: Allow, Watch: true}}, args: `{}`, shut: true, want: Deny},
		{name: "hints select", rules: []Rule{{Name: "h", Hints: Hints{ReadOnly: &no, Destructive: &yes}, Then: Deny}}, args: `{}`, want: Deny, rule: "h"},
		{name: "other hints do not", rules: []Rule{{Name: "h", Hints: Hints{ReadOnly: &yes}, Then: Deny}}, args: `{}`, want: Allow},
		{name: "globs select", rules: []Rule{{Name: "g", Tools: []string{"cloud__*"}, Then: Deny}}, args: `{}`, want: Deny, rule: "g"},
		{name: "other globs do not", rules: []Rule{{Name: "g", Tools: []string{"mail__*"}, Then: Deny}}, args: `{}`, want: Allow},
		{name: "a person is not a key of the same name", rules: []Rule{{Name: "k", Who: Selector{Keys: []string{"ci"}}, Then: Deny}},
			who: Who{Kind: "user", Name: "ci"}, args: `{}`, want: Allow},
		{name: "a key is", rules: []Rule{{Name: "k", Who: Selector{Keys: []string{"ci"}}, Then: Deny}},
			who: Who{Kind: "key", Name: "ci"}, args: `{}`, want: Deny, rule: "k"},
		{name: "the same name twice denies", rules: []Rule{prod}, args: `{"env":"dev","env":"prod"}`, want: Deny, rule: "prod"},
		{name: "the same name in another case denies", rules: []Rule{prod}, args: `{"env":"dev","ENV":"prod"}`, want: Deny, rule: "prod"},
		{name: "a name in another case alone denies", rules: []Rule{{Name: "p", When: `has(args.key) && args.key == "x"`, Then: Deny}},
			args: `{"\u212aey":"x"}`, want: Deny, rule: "p"},
		{name: "names in rules about other tools do not count", rules: []Rule{
			{Name: "p", When: `args.path == "x"`, Tools: []string{"files__*"}, Then: Deny}, prod,
		}, args: `{"env":"dev","Path":"x"}`, want: Allow},
		{name: "names and texts in any script", rules: []Rule{{Name: "c", When: `args["环境"] == "生产"`, Then: Deny}},
			args: `{"环境":"生产"}`, want: Deny, rule: "c"},
		{name: "the same name twice inside denies", rules: []Rule{{Name: "d", When: `args.a.b == 1`, Then: Deny}},
			args: `{"a":{"b":2,"B":1}}`, want: Deny, rule: "d"},
		{name: "twice what no rule looks at is allowed", rules: []Rule{prod}, args: `{"env":"dev","x":1,"x":2}`, want: Allow},
		{name: "big whole numbers are exact", rules: []Rule{{Name: "n", When: `args.n == 9007199254740993`, Then: Deny}},
			args: `{"n":9007199254740992}`, want: Allow},
		{name: "1.0 is 1", rules: []Rule{{Name: "n", When: `args.n == 1`, Then: Deny}}, args: `{"n":1.0}`, want: Deny, rule: "n"},
		{name: "a number that is too large denies", rules: []Rule{{Name: "n", When: `args.n == 1`, Then: Deny}}, args: `{"n":1e999}`, want: Deny, rule: "n"},
		{name: "all arguments can be looked at", rules: []Rule{{Name: "w", When: `args.exists(k, k.startsWith("x"))`, Then: Deny}},
			args: `{"a":1,"xy":2}`, want: Deny, rule: "w"},
		{name: "names in brackets", rules: []Rule{{Name: "w", When: `args["a-b"] == 1`, Then: Deny}}, args: `{"a-b":1}`, want: Deny, rule: "w"},
		{name: "an expression over the cost limit denies", rules: []Rule{{Name: "c", When: `args.a.all(x, args.a.all(y, args.a.all(z, x+y+z >= 0)))`, Then: Deny}},
			args: `{"a":[` + strings.Repeat("1,", 500) + `1]}`, want: Deny, rule: "c"},
		{name: "without arguments it is open", rules: []Rule{prod}, want: Open},
		{name: "without arguments who is enough", rules: []Rule{prod}, who: Who{Groups: []string{"oncall"}}, want: Allow},
		{name: "without arguments a sure deny is one", rules: []Rule{{Name: "s", When: `!("eng" in who.groups) || args.x == 1`, Then: Deny}}, want: Deny, rule: "s"},
		{name: "without arguments an allow may come", rules: []Rule{{Name: "a", When: `args.x == 1`, Then: Allow}}, shut: true, want: Open},
		{name: "without arguments no allow can come", rules: []Rule{{Name: "a", When: `args.x == 1 && "x" in who.groups`, Then: Allow}}, shut: true, want: Deny},
		{name: "in lists the time is not known", rules: []Rule{{Name: "t", When: `now.getHours("UTC") < 25`, Then: Deny}}, want: Open},
		{name: "at a call the time is known", rules: []Rule{{Name: "t", When: `now.getHours("UTC") == 13`, Then: Deny}}, args: `{}`, want: Deny, rule: "t"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Call{Profile: "default", Closed: tc.shut, Who: tc.who, Tool: cloud, Now: time.Date(2026, 1, 1, 13, 0, 0, 0, time.UTC)}
			if tc.args != "" {
				c.Args = json.RawMessage(tc.args)
			}
			set := compile(t, tc.rules...)
			got := set.Decide(&c)
			name := ""
			if got.Rule != nil {
				name = got.Rule.Name
			}
			if got.Verdict != tc.want || name != tc.rule {
				t.Errorf("got %s by %q (%v), want %s by %q", got.Verdict, name, got.Failed, tc.want, tc.rule)
			}
			if explained, all := set.Explain(&c); explained.Verdict != got.Verdict || len(all) != len(tc.rules) {
				t.Errorf("explained as %s by %d rules, decided as %s", explained.Verdict, len(all), got.Verdict)
			}
		})
	}
}

func TestWrongExpressions(t *testing.T) {
	for when, want := range map[string]string{
		`args.env ==`:                "1:12",
		`"x"`:                        "1:1 is string",
		`who.grups.size() > 0`:       "1:4 who has no grups",
		`tool["readonly"]`:           "1:5 tool has no readonly",
		`nobody.id == 1`:             "1:1 there is no nobody",
		"args.a == 1 &&\n  other(2)": "2:8 there is no other",
		`args.a.matches("(")`:        "1:16",
		// Such an element would hide that the expression looks at the caller.
		`[{"name": "x"}].exists(who, .who.name == "ann")`: "1:23 who cannot be the name of an element",
	} {
		_, problems := Compile([]Rule{{Name: "ok"}, {Name: "w", When: when, Then: Deny}})
		if len(problems) == 0 {
			t.Errorf("%s: no problem", when)
			continue
		}
		p := problems[0]
		if got := fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Text); p.Rule != 1 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: rule %d: %s, want %s", when, p.Rule, got, want)
		}
	}
}

// What is decided without arguments holds for all arguments: lists hide only what is denied, and nothing that is denied for
// sure is shown.
func TestASureDecisionHoldsForAllArguments(t *testing.T) {
	whens := []string{
		"", `args.env == "prod"`, `"eng" in who.groups`, `args.n > 3 || "eng" in who.groups`, `args.n > 3 && who.kind == "key"`,
		`!has(args.n)`, `args.size() == 1`, `tool.readOnly`, `now.getHours() > 3`, `args.env == "prod" ? true : who.id == "a"`,
	}
	rapid.Check(t, func(t *rapid.T) {
		var rules []Rule
		for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
			rules = append(rules, Rule{
				Name: fmt.Sprint(i), When: rapid.SampledFrom(whens).Draw(t, "when"),
				Then: rapid.SampledFrom([]Verdict{Allow, Approve, Deny}).Draw(t, "then"), Watch: rapid.Bool().Draw(t, "watch"),
			})
		}
		set, problems := Compile(rules)
		if problems != nil {
			t.Fatal(problems)
		}
		c := Call{Tool: cloud, Closed: rapid.Bool().Draw(t, "closed"), Who: Who{
			ID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id"), Kind: rapid.SampledFrom([]string{"key", "user"}).Draw(t, "kind"),
			Groups: rapid.SampledFrom([][]string{nil, {"eng"}}).Draw(t, "groups"),
		}}
		before := set.Decide(&c).Verdict
		c.Args = json.RawMessage(rapid.SampledFrom([]string{
			`{}`, `{"env":"prod"}`, `{"n":4}`, `{"n":"4"}`, `{"env":"dev","n":5}`, `{"env":1,"env":2}`, `null`, `[]`,
		}).Draw(t, "args"))
		c.Now = time.Unix(int64(rapid.IntRange(0, 86400).Draw(t, "now")), 0)
		after := set.Decide(&c).Verdict
		if after == Open || before != Open && before != after {
			t.Fatalf("%s before, %s after", before, after)
		}
	})
}

// FuzzArgs decides about any arguments without a panic, and never allows what it cannot read.
func FuzzArgs(f *testing.F) {
	for _, seed := range []string{`{}`, `{"env":"dev"}`, `{"env":"dev","env":"x"}`, `{"a":[1,{"b":null}]}`, `[`, ``, `{"env":1e400}`} {
		f.Add(seed)
	}
	set := compile(f, Rule{Name: "w", When: `args.all(k, args[k] == args[k]) && args.env == "dev"`, Then: Allow})
	f.Fuzz(func(t *testing.T, args string) {
		d := set.Decide(&Call{Tool: cloud, Closed: true, Args: json.RawMessage(args)})
		if d.Verdict != Allow {
			return
		}
		var got struct {
			Env string `json:"env"`
		}
		if err := json.Unmarshal([]byte(args), &got); err != nil || got.Env != "dev" {
			t.Errorf("allowed %q", args)
		}
	})
}

// BenchmarkDecide has 50 rules, of which selectors leave five.
func BenchmarkDecide(b *testing.B) {
	var rules []Rule
	for i := range 50 {
		server := "other"
		if i%10 == 0 {
			server = "cloud"
		}
		rules = append(rules, Rule{
			Name: fmt.Sprint(i), Tools: []string{server + "__*"}, Then: Deny,
			When: fmt.Sprintf(`args.env == "prod%d" && !("oncall" in who.groups)`, i),
		})
	}
	set := compile(b, rules...)
	args := json.RawMessage(`{"env":"dev","text":"` + strings.Repeat("x", 2000) + `"}`)
	b.ReportAllocs()
	for b.Loop() {
		if d := set.Decide(&Call{Profile: "default", Tool: cloud, Args: args}); d.Verdict != Allow {
			b.Fatal(d.Verdict)
		}
	}
}
