package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/schema"
)

func (c *command) describe() *cobra.Command {
	var flags askFlags
	var dialect, whole string
	var curl bool
	cmd := &cobra.Command{
		Use:   "describe TOOL",
		Short: "Show a tool's definition, as its server gave it or as a model's provider takes it",
		Example: `  toolfit describe files__read_text_file
  toolfit describe files__read_text_file --for openai-strict
  toolfit describe --curl petstore__getPetById petId=7`,
		Args: func(cmd *cobra.Command, args []string) error {
			if curl && len(args) > 0 {
				return nil
			}
			return exactly(1, "the name of a tool")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("asking the servers")()
				t, err := g.tool(cmd, flags, args[0])
				if err != nil {
					return err
				}
				if curl {
					return c.describeCurl(cmd, g, flags, t, whole, args[1:])
				}
				if dialect != "" {
					return c.describeFor(cmd, g, flags, t.Name, dialect)
				}
				if c.json {
					return c.printJSON(t)
				}
				fmt.Fprintf(c.env.Out, "%s  (server %s)\n", line(t.Name), line(string(t.Server)))
				return c.printJSON(t.Definition)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&dialect, "for", "", "show the tool as this provider takes it: "+strings.Join(dialectNames(), ", "))
	cmd.Flags().BoolVar(&curl, "curl", false, "show the HTTP request that a call with these arguments would send; for tools of HTTP APIs")
	cmd.Flags().StringVar(&whole, "args", "", "with --curl: all arguments as one JSON object; @FILE reads a file, - reads standard input")
	return cmd
}

// describeCurl shows the request that a call would send.
func (c *command) describeCurl(cmd *cobra.Command, g *gateway, flags askFlags, t restapi.Tool, whole string, words []string) error {
	body, err := c.arguments(t, whole, words)
	if err != nil {
		return err
	}
	var answer restapi.Curl
	if err := g.do(cmd.Context(), http.MethodPost, "/tools/"+url.PathEscape(t.Name)+"/curl", flags.query(), body, &answer); err != nil {
		return err
	}
	if c.json {
		return c.printJSON(answer)
	}
	_, err = fmt.Fprintln(c.env.Out, answer.Curl)
	return err
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
		fmt.Fprintf(c.env.Err, "%s cannot be carried by %s: %v\n", line(t.Name), t.Dialect, t.Error)
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
	fmt.Fprintf(c.env.Err, "%s in %s: %s\n", line(t.Name), t.Dialect, how)
	for _, change := range t.Report {
		pointer := change.Pointer
		if pointer == "" {
			pointer = "the schema"
		}
		fmt.Fprintf(c.env.Err, "  %s: %s: %s\n", line(pointer), change.Kind, line(change.Action))
	}
}
