package cli

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) rules() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "rules", Short: "List the rules for results, and how often they applied", Args: takes(0, 0, "no arguments, or remove and an id"),
		Example: `  toolfit rules
  toolfit rules --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askFor(c, cmd, flags, "asking the gateway", request{path: "/rules"}, func(g *gateway, list restapi.RuleList) error {
				return c.printRules(list.Rules, !g.standalone)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.AddCommand(c.removeRule())
	return cmd
}

// printRules lists the rules. Only a running gateway has counts.
func (c *command) printRules(rules []restapi.Rule, counted bool) error {
	t := terminal.Table{
		Wraps: true, Head: []string{"ID", "SOURCE", "MODE", "TOOL", "CUT", "FETCHED", "WHAT"},
		None: "no rules; write some under results: in the configuration, or see: toolfit suggest",
	}
	for _, r := range rules {
		cut := "–"
		fetched := "–"
		if counted {
			cut = fmt.Sprint(r.Counts.Projected + r.Counts.Shadowed)
			fetched = fmt.Sprint(r.Counts.Fetched)
		}
		t.Row(r.ID, string(r.Source), string(r.Mode), string(r.Tool), cut, fetched, line(ruleText(r)))
	}
	if err := c.print(&t); err != nil || counted || len(rules) == 0 {
		return err
	}
	err := c.say("only a running gateway has counts; for recorded calls see: toolfit savings --by rule\n")
	return err
}

// ruleText is what a rule does, in the words of the configuration.
func ruleText(r restapi.Rule) (text string) {
	switch {
	case r.Keep != "":
		text = "keep " + r.Keep
	case r.Drop != "":
		text = "drop " + r.Drop
	case r.JQ != "":
		text = "jq " + r.JQ
	case r.Budget > 0:
		text = fmt.Sprintf("budget %d", r.Budget)
	default:
		text = "shape " + string(r.Shape)
	}
	if r.Reason != "" {
		text += " (" + r.Reason + ")"
	}
	return text
}

func (c *command) removeRule() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "remove ID", Short: "Remove a stored rule", Args: takes(1, 1, "the id of a rule"),
		Example: `  toolfit rules remove shop-list-orders`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{method: http.MethodDelete, path: "/rules/" + url.PathEscape(args[0])}
			return askFor(c, cmd, flags, "removing the rule", r, func(_ *gateway, answer struct {
				ID      string `json:"deleted"`
				Warning string `json:"warning,omitempty"`
			}) error {
				if answer.Warning != "" {
					fmt.Fprintln(c.env.Err, c.translate(answer.Warning))
				}
				err := c.say("removed %s\n", answer.ID)
				return err
			})
		},
	}
	flags.addGateway(cmd)
	return cmd
}
