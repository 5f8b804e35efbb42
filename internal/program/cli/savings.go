package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) savings() *cobra.Command {
	var flags askFlags
	var by, since string
	var exact bool
	cmd := &cobra.Command{
		Use: "savings", Short: "Show what tools cost in tokens, and what was saved", Args: noArguments,
		Long: "Show what tools cost in tokens, and what was saved. The numbers are estimates over all recorded calls;\n" +
			"--exact counts o200k tokens over the stored results, by the current rules.",
		Example: "  toolfit savings --by rule --since 7d",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{"by": {by}}
			from, err := parseTime("--since", since, time.Now())
			if err != nil {
				return err
			}
			if !from.IsZero() {
				q.Set("since", from.UTC().Format(time.RFC3339))
			}
			if exact {
				q.Set("count", string(tokens.O200k))
			}
			return askFor(c, cmd, flags, "counting", request{path: "/savings", query: q}, func(_ *gateway, list restapi.SavingsList) error {
				return c.printSavings(list)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringVar(&by, "by", "tool", "group by tool, profile, rule or day")
	cmd.Flags().StringVar(&since, "since", "", sinceHelp)
	cmd.Flags().BoolVar(&exact, "exact", false, "count o200k tokens of the stored results")
	return cmd
}

func (c *command) printSavings(list restapi.SavingsList) error {
	if len(list.Savings) == 0 {
		none := "no recorded calls"
		if list.Count != tokens.Estimated {
			none = "no stored results to count; without --exact all recorded calls are estimated"
		}
		return c.say("%s\n", c.word(none))
	}
	t := terminal.Table{Right: 6, Head: []string{"calls", "definition", "arguments", "full result", "sent", "saved", string(list.By)}}
	list.Total.Key = c.word("total")
	shadow := false
	for _, s := range append(list.Savings, list.Total) {
		key := cmp.Or(s.Key, "–") // calls of unknown tools have none
		if s.Shadow {
			key += c.word(" (shadow)")
			shadow = true
		}
		definition := "–"
		if s.Definition > 0 {
			definition = fmt.Sprint(s.Definition)
		}
		t.Row(fmt.Sprint(s.Calls), definition, fmt.Sprint(s.TokensIn), fmt.Sprint(s.TokensFull), fmt.Sprint(s.TokensSent),
			fmt.Sprintf("%.0f %%", 100*s.Saved), key)
	}
	if err := c.print(&t); err != nil {
		return err
	}
	what := c.word("estimated tokens of all recorded calls")
	if list.Count != tokens.Estimated {
		what = c.lang.Sprintf("tokens (%s) of the stored results, by the current rules", list.Count)
	}
	if list.Left > 0 {
		what += c.lang.Sprintf("; %s not counted", c.count(int(list.Left), "older or longer result"))
	}
	if shadow {
		what += c.word("\nshadow: what the rule would have sent and saved; the other rows count these calls as they were sent")
	}
	_, err := fmt.Fprintln(c.env.Out, what)
	return err
}
