package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func (c *command) savings() *cobra.Command {
	var flags askFlags
	var by, since string
	var exact bool
	cmd := &cobra.Command{
		Use: "savings", Short: "Show what tools cost in tokens, and what models were spared", Args: exactly(0, "no arguments"),
		Long: "Show what tools cost in tokens, and what models were spared. The numbers are estimates over all recorded calls;\n" +
			"--exact counts o200k tokens over the results that are kept, by the rules in force now.",
		Example: "  toolfit savings --by rule --since 7d",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{"by": {by}}
			from, err := parseSince(since, time.Now())
			if err != nil {
				return err
			}
			if !from.IsZero() {
				q.Set("since", from.UTC().Format(time.RFC3339))
			}
			if exact {
				q.Set("count", string(tokens.O200k))
			}
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("counting")()
				var list restapi.SavingsList
				if err := g.do(cmd.Context(), http.MethodGet, "/savings", q, nil, &list); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(list)
				}
				return c.printSavings(list)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringVar(&by, "by", "tool", "what to sum by: tool, profile, rule or day")
	cmd.Flags().StringVar(&since, "since", "", "only from then on: a time such as 2026-01-31T08:00:00Z, or an age such as 12h or 7d")
	cmd.Flags().BoolVar(&exact, "exact", false, "count o200k tokens over the results that are kept")
	return cmd
}

func (c *command) printSavings(list restapi.SavingsList) error {
	if len(list.Savings) == 0 {
		none := "no calls are on record"
		if list.Count != tokens.Estimated {
			none = "no results are kept to count; without --exact all recorded calls are estimated"
		}
		_, err := fmt.Fprintln(c.env.Out, none)
		return err
	}
	t := table{right: 6}
	t.row("calls", "definition", "arguments", "full result", "sent", "saved", string(list.By))
	list.Total.Key = "total"
	shadow := false
	for _, s := range append(list.Savings, list.Total) {
		key := s.Key
		if s.Shadow {
			key, shadow = key+" (shadow)", true
		}
		t.row(fmt.Sprint(s.Calls), orDash(s.Definition), fmt.Sprint(s.TokensIn), fmt.Sprint(s.TokensFull), fmt.Sprint(s.TokensSent), fmt.Sprintf("%.0f %%", 100*s.Saved), key)
	}
	if err := t.print(c.env.Out); err != nil {
		return err
	}
	what := "tokens, estimated, of all recorded calls"
	if list.Count != tokens.Estimated {
		what = "tokens (" + string(list.Count) + ") of the kept results, by the rules in force now"
	}
	if list.Left > 0 {
		what += fmt.Sprintf("; %s not counted", count(int(list.Left), "older or longer result"))
	}
	if shadow {
		what += "\nshadow: what the rule would have sent and saved; its calls are in the other rows as they were sent"
	}
	_, err := fmt.Fprintln(c.env.Out, what)
	return err
}

func orDash(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
