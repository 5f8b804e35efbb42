package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) search() *cobra.Command {
	var flags askFlags
	var limit int
	var detail string
	cmd := &cobra.Command{
		Use: "search WORD…", Short: "Find tools by what they do, in English or Chinese",
		Example: `  toolfit search "read an Excel file"
  toolfit search 查询订单 --limit 3`,
		RunE: func(cmd *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			if strings.TrimSpace(words) == "" {
				return usage("search takes words, such as: toolfit search send a message")
			}
			q := flags.query()
			q.Set("q", words)
			q.Set("limit", strconv.Itoa(limit))
			q.Set("detail", detail)
			return askFor(c, cmd, flags, forServers, request{path: "/search", query: q}, func(_ *gateway, found call.Found) error {
				out := terminal.Table{Wraps: true, None: found.Note}
				for _, t := range found.Tools {
					out.Row(fmt.Sprintf("%.2f", t.Score), cmp.Or(t.Text, t.Name))
				}
				for _, s := range found.Skills {
					out.Row("skill", s.URI+" — "+s.Description)
				}
				if found.Note != "" && len(found.Tools) > 0 {
					fmt.Fprintln(c.env.Out, c.translate(found.Note))
				}
				return c.print(&out)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", 5, "maximum number of tools, up to 50")
	cmd.Flags().StringVar(&detail, "detail", string(call.Signature), "what to show of each tool: name, sig or full")
	return cmd
}
