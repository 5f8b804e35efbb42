package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) policy() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "policy", Short: "List the rules about calls, explain what they decide, and test them", Args: knownCommand,
		Example: `  toolfit policy
  toolfit policy explain shop__add_note
  toolfit policy test policy_test.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askFor(c, cmd, flags, "asking the gateway", request{path: "/policy"}, func(_ *gateway, list restapi.PolicyList) error {
				return c.printPolicy(list)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.AddCommand(c.explainPolicy(), c.testPolicy())
	return cmd
}

func (c *command) printPolicy(list restapi.PolicyList) error {
	t := terminal.Table{
		Wraps: true, Head: []string{"NAME", "THEN", "MODE", "HITS IN 7 DAYS", "ABOUT"},
		None: "no rules; write some under policy: in the configuration",
	}
	for _, r := range list.Rules {
		about := cmp.Or(r.Selects(), c.word("all calls"))
		if r.When != "" {
			about += c.lang.Sprintf("; when: %s", r.When)
		}
		hits := "-"
		if r.Counts() {
			hits = fmt.Sprint(r.Hits)
		}
		t.Row(r.Name, r.Says, c.word(modeOf(r.Watch)), hits, line(about))
	}
	if list.ByDefault > 0 {
		c.tell("%s in 7 days denied because no rule allows them\n", c.count(int(list.ByDefault), "call"))
	}
	return c.print(&t)
}

func modeOf(watch bool) string {
	if watch {
		return "watch"
	}
	return "enforce"
}

func (c *command) explainPolicy() *cobra.Command {
	var flags askFlags
	var whole string
	var as restapi.PolicyCaller
	cmd := &cobra.Command{
		Use: "explain TOOL", Short: "Show what would be decided about a call, and why", Args: takes(1, 1, "the name of a tool"),
		Long: "Show what would be decided about a call, and why. Nothing is sent. The arguments are fitted to the tool's schema first,\n" +
			"as in a call. Without --args, what is decided before they are known: lists leave out what is denied then.",
		Example: `  toolfit policy explain cloud__deploy --as key:ci --args '{"env": "prod"}'
  toolfit policy explain cloud__deploy --groups eng,oncall`,
		RunE: func(cmd *cobra.Command, args []string) error {
			q := restapi.PolicyQuestion{Tool: args[0], Profile: flags.profile, As: as}
			var err error
			if whole != "" {
				q.Arguments, err = c.wholeArguments(whole)
			}
			body, encodeErr := json.Marshal(q)
			if err := cmp.Or(err, encodeErr); err != nil {
				return err
			}
			r := request{method: http.MethodPost, path: "/policy/explain", body: body}
			return askFor(c, cmd, flags, forServers, r, func(_ *gateway, answer restapi.PolicyAnswer) error {
				return c.printExplanation(answer)
			})
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&as.Who, "as", "", "who calls: key:NAME or user:NAME, by name or id (default: a person of whom nothing is known)")
	f.StringVar((*string)(&as.Kind), "kind", "", "what the caller is: user, service, key or local")
	f.StringVar(&as.Client, "client", "", "the program that the caller's token was issued to")
	f.StringSliceVar(&as.Groups, "groups", nil, "the caller's groups (default: those of the last sign-in)")
	f.StringSliceVar(&as.Scopes, "scopes", nil, "the scopes of the caller's token")
	f.StringVar(&whole, "args", "", "all arguments as a JSON object; @FILE reads a file, - standard input")
	return cmd
}

// verdicts are the verdicts as sentences end.
var verdicts = map[policy.Verdict]string{
	policy.Allow: "allowed", policy.Approve: "needs approval", policy.Deny: "denied", policy.Open: "depends on the arguments",
}

func (c *command) printExplanation(a restapi.PolicyAnswer) error {
	verdict := c.word(verdicts[a.Verdict])
	if a.Rule != "" {
		verdict = c.lang.Sprintf("%s by %s", verdict, a.Rule)
	}
	c.say("%s as %s in profile %s: %s\n", line(a.Tool), line(c.callerText(a.Who)), line(a.Profile), line(verdict))
	if a.Note != "" {
		fmt.Fprintln(c.env.Out, line(c.translate(a.Note)))
	}
	if a.Told != "" {
		c.say("the caller is told: %s\n", line(c.translate(a.Told)))
	}
	if a.Fitted != nil {
		c.say("fitted arguments: %s\n", line(string(a.Fitted.Arguments)))
	}
	t := terminal.Table{Wraps: true, Head: []string{"RULE", "THEN", "MODE", "OUTCOME"}, None: "there are no rules"}
	for _, r := range a.Rules {
		outcome := c.word(string(r.Outcome))
		if r.Error != "" {
			outcome += ": " + line(c.translate(r.Error))
		}
		t.Row(r.Name, r.Says, c.word(modeOf(r.Watch)), outcome)
	}
	return c.print(&t)
}

func (c *command) callerText(w policy.Who) string {
	text := cmp.Or(w.Name, c.word("somebody")) + " (" + w.Kind
	if w.Client != "" {
		text += c.lang.Sprintf(", client %s", w.Client)
	}
	if w.Groups != nil {
		text += c.lang.Sprintf(", groups %s", strings.Join(w.Groups, " "))
	}
	if w.Scopes != nil {
		text += c.lang.Sprintf(", scopes %s", strings.Join(w.Scopes, " "))
	}
	return text + ")"
}
