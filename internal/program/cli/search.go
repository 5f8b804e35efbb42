package cli

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/gateway/call"
)

func (c *command) search() *cobra.Command {
	var flags askFlags
	var limit int
	var detail string
	cmd := &cobra.Command{
		Use: "search WORD…", Short: "Find tools by what they do, in English or Chinese",
		Example: `  toolfit search "read an Excel file"
  toolfit search 查询订单 --limit 3`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return usage("search takes words, such as: toolfit search send a message")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("asking the servers")()
				q := flags.query()
				q.Set("q", strings.Join(args, " "))
				q.Set("limit", strconv.Itoa(limit))
				q.Set("detail", detail)
				var found call.Found
				if err := g.do(cmd.Context(), http.MethodGet, "/search", q, nil, &found); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(found)
				}
				return c.printFound(found)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", 5, "how many tools at most, up to 50")
	cmd.Flags().StringVar(&detail, "detail", string(call.Signature), "what is told of each tool: name, sig or full")
	return cmd
}

// printFound shows each tool on a line, or over several with all its details.
func (c *command) printFound(found call.Found) error {
	if len(found.Tools) == 0 {
		_, err := fmt.Fprintln(c.env.Out, found.Note)
		return err
	}
	out := table{wraps: true}
	for _, t := range found.Tools {
		text := t.Text
		if text == "" {
			text = t.Name
		}
		out.row(fmt.Sprintf("%.2f", t.Score), text)
	}
	return out.print(c.env.Out)
}
