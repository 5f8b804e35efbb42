package cli

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// promptFlags say how tools are written.
type promptFlags struct {
	format, dialect, language string
	budget                    int
	groups                    bool
}

func (c *command) prompt() *cobra.Command {
	var flags askFlags
	var how promptFlags
	cmd := &cobra.Command{
		Use: "prompt", Short: "Write the tools as text for a model's prompt", Args: exactly(0, "no arguments"),
		Example: `  toolfit prompt --format sig
  toolfit prompt --profile ops --format json --dialect gemini --budget 8000`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if how.budget < 0 {
				return usage("--budget takes a number of tokens")
			}
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("asking the servers")()
				q := flags.query()
				q.Set("format", how.format)
				q.Set("dialect", how.dialect)
				q.Set("language", how.language)
				q.Set("groups", strconv.FormatBool(how.groups))
				if how.budget > 0 {
					q.Set("budget", strconv.Itoa(how.budget))
				}
				var page restapi.Prompt
				if err := g.do(cmd.Context(), http.MethodGet, "/prompt", q, nil, &page); err != nil {
					return err
				}
				return c.printPrompt(page)
			})
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&how.format, "format", "ts", "ts (TypeScript), md, sig (one line each) or json")
	f.IntVar(&how.budget, "budget", 0, "estimated tokens at most (default: any number)")
	f.StringVar(&how.dialect, "dialect", "", "of the format json: "+strings.Join(dialectNames(), ", ")+" (default: openai)")
	f.StringVar(&how.language, "language", "", "of the descriptions, such as zh-Hans (default: as the servers wrote them)")
	f.BoolVar(&how.groups, "groups", false, "with a line for each server and tag")
	return cmd
}

// printPrompt writes the text on the standard output, ready to be used, and what is missing
// in it on the other.
func (c *command) printPrompt(page restapi.Prompt) error {
	if c.json {
		return c.printJSON(page)
	}
	for _, t := range page.SetAside {
		fmt.Fprintf(c.env.Err, "left out: %s: %s\n", line(t.Name), line(t.Reason))
	}
	_, err := fmt.Fprint(c.env.Out, page.Text)
	return err
}
