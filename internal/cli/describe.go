package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/schema"
)

func (c *command) describe() *cobra.Command {
	var flags askFlags
	var dialect string
	cmd := &cobra.Command{
		Use:   "describe TOOL",
		Short: "Show a tool's definition, as its server gave it or as a model's provider takes it",
		Example: `  toolfit describe files__read_text_file
  toolfit describe files__read_text_file --for openai-strict`,
		Args: exactly(1, "the name of a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("asking the servers")()
				t, err := g.tool(cmd, flags, args[0])
				if err != nil {
					return err
				}
				if dialect != "" {
					return c.describeFor(cmd, g, flags, t.Name, dialect)
				}
				if c.json {
					return c.printJSON(t)
				}
				fmt.Fprintf(c.env.Out, "%s  (server %s)\n", t.Name, t.Server)
				return c.printJSON(t.Definition)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&dialect, "for", "", "show the tool as this provider takes it: "+strings.Join(dialectNames(), ", "))
	return cmd
}

// describeFor shows a tool in a dialect, and what was changed for it.
func (c *command) describeFor(cmd *cobra.Command, g *gateway, flags askFlags, name, dialect string) error {
	q := flags.query()
	q.Set("for", dialect)
	var t schema.Fitted
	if err := g.do(cmd.Context(), http.MethodGet, "/tools/"+url.PathEscape(name), q, nil, &t); err != nil {
		return err
	}
	if c.json {
		return c.printJSON(t)
	}
	return c.printFitted(t)
}

// printFitted shows the tool on the standard output, ready to be used, and the report on
// the other.
func (c *command) printFitted(t schema.Fitted) error {
	if t.Error != nil {
		fmt.Fprintf(c.env.Err, "%s cannot be carried by %s: %v\n", t.Name, t.Dialect, t.Error)
		return errSilent
	}
	c.printReport(t)
	return c.printJSON(json.RawMessage(t.Tool))
}

func (c *command) printReport(t schema.Fitted) {
	how := "as it is"
	switch len(t.Report) {
	case 0:
	case 1:
		how = "1 change"
	default:
		how = fmt.Sprintf("%d changes", len(t.Report))
	}
	if t.Strict {
		how += ", strict"
	}
	fmt.Fprintf(c.env.Err, "%s in %s: %s\n", t.Name, t.Dialect, how)
	for _, change := range t.Report {
		pointer := change.Pointer
		if pointer == "" {
			pointer = "the schema"
		}
		fmt.Fprintf(c.env.Err, "  %s: %s: %s\n", pointer, change.Kind, change.Action)
	}
}
