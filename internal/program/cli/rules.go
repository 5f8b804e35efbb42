package cli

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func (c *command) rules() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "rules", Short: "List the rules for results, and how they fare", Args: exactly(0, "no arguments, or remove and an id"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				var list restapi.RuleList
				if err := g.do(cmd.Context(), http.MethodGet, "/rules", nil, nil, &list); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(list)
				}
				return c.printRules(list.Rules, !g.standalone)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.AddCommand(c.removeRule())
	return cmd
}

// printRules lists the rules. Only a gateway that runs has counted what became of results.
func (c *command) printRules(rules []restapi.Rule, counted bool) error {
	if len(rules) == 0 {
		_, err := fmt.Fprintln(c.env.Out, "no rules; write some under results: in the configuration, or see: toolfit suggest")
		return err
	}
	t := table{wraps: true}
	t.row("ID", "SOURCE", "MODE", "TOOL", "CUT", "FETCHED", "WHAT")
	for _, r := range rules {
		cut, fetched := "–", "–"
		if counted {
			cut, fetched = fmt.Sprint(r.Counts.Projected+r.Counts.Shadowed), fmt.Sprint(r.Counts.Fetched)
		}
		t.row(r.ID, string(r.Source), string(r.Mode), string(r.Tool), cut, fetched, line(ruleText(r)))
	}
	if err := t.print(c.env.Out); err != nil || counted {
		return err
	}
	_, err := fmt.Fprintln(c.env.Out, "how they fare: toolfit rules asks a gateway that runs, toolfit savings --by rule the record")
	return err
}

// ruleText is what a rule does, in its own words.
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
		Use: "remove ID", Short: "Remove a rule that was stored", Args: exactly(1, "the id of a rule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				var answer struct {
					ID      string `json:"deleted"`
					Warning string `json:"warning,omitempty"`
				}
				if err := g.do(cmd.Context(), http.MethodDelete, "/rules/"+url.PathEscape(args[0]), nil, nil, &answer); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(answer)
				}
				if answer.Warning != "" {
					fmt.Fprintln(c.env.Err, answer.Warning)
				}
				_, err := fmt.Fprintf(c.env.Out, "removed %s\n", answer.ID)
				return err
			})
		},
	}
	flags.addGateway(cmd)
	return cmd
}
