package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func (c *command) prompt() *cobra.Command {
	var flags askFlags
	var format, dialect, language string
	var budget int
	var groups bool
	cmd := &cobra.Command{
		Use: "prompt", Short: "Write the tools as text for a model's prompt", Args: noArguments,
		Example: `  toolfit prompt --format sig
  toolfit prompt --profile ops --format json --dialect gemini --budget 8000`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if budget < 0 {
				return usage("--budget must not be negative")
			}
			q := flags.query()
			q.Set("format", format)
			q.Set("dialect", dialect)
			q.Set("language", language)
			q.Set("groups", strconv.FormatBool(groups))
			if budget > 0 {
				q.Set("budget", strconv.Itoa(budget))
			}
			return askFor(c, cmd, flags, forServers, request{path: "/prompt", query: q}, func(_ *gateway, page restapi.Prompt) error {
				for _, t := range page.SetAside { // not on standard output, which is ready for use
					c.tell("left out: %s: %s\n", line(t.Name), line(c.translate(t.Reason)))
				}
				_, err := fmt.Fprint(c.env.Out, page.Text)
				return err
			})
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&format, "format", "ts", "ts (TypeScript), md, sig (one line per tool) or json")
	f.IntVar(&budget, "budget", 0, "maximum estimated tokens (default: no limit)")
	f.StringVar(&dialect, "dialect", "", "schema dialect for --format json: "+strings.Join(dialectNames(), ", ")+" (default: openai)")
	f.StringVar(&language, "language", "", "language of the descriptions, such as zh-Hans (default: as the servers wrote them)")
	f.BoolVar(&groups, "groups", false, "add a line for each server and tag")
	return cmd
}
