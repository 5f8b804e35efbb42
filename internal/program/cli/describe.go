package cli

import (
	"cmp"
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
		Short: "Show a tool's definition, original or for a model's provider",
		Example: `  toolfit describe files__read_text_file
  toolfit describe files__read_text_file --for openai-strict
  toolfit describe --curl petstore__getPetById petId=7`,
		Args: func(cmd *cobra.Command, args []string) error {
			if curl {
				return takes(1, -1, "the name of a tool")(cmd, args)
			}
			return takes(1, 1, "the name of a tool")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waitingForServers(cmd.Context(), g)()
				t, err := g.tool(cmd.Context(), flags, args[0])
				if err != nil {
					return err
				}
				if curl {
					return c.describeCurl(cmd, g, flags, t, whole, args[1:])
				}
				if dialect != "" {
					return c.describeFor(cmd, g, flags, t.Name, dialect)
				}
				return c.show(t, func() error {
					c.say("%s  (server %s)\n", line(t.Name), line(string(t.Server)))
					if t.Result != nil && t.Result.Seen > 0 {
						c.say("returns %s  (seen in %d results)\n", line(t.Result.Type), t.Result.Seen)
					}
					return c.printJSON(t.Definition)
				})
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&dialect, "for", "", "show the tool in this provider's dialect: "+strings.Join(dialectNames(), ", "))
	cmd.Flags().BoolVar(&curl, "curl", false, "show the HTTP request of a call with these arguments; only for tools of HTTP APIs")
	cmd.Flags().StringVar(&whole, "args", "", "with --curl: all arguments as a JSON object; @FILE reads a file, - standard input")
	return cmd
}

func (c *command) describeCurl(cmd *cobra.Command, g *gateway, flags askFlags, t restapi.Tool, whole string, words []string) error {
	body, err := c.arguments(t, whole, words)
	if err != nil {
		return err
	}
	var answer restapi.Curl
	r := request{http.MethodPost, "/tools/" + url.PathEscape(t.Name) + "/curl", flags.query(), body}
	if err := g.do(cmd.Context(), r, &answer); err != nil {
		return err
	}
	return c.printf(answer, "%s\n", answer.Curl)
}

func (c *command) describeFor(cmd *cobra.Command, g *gateway, flags askFlags, name, dialect string) error {
	q := flags.query()
	q.Set("for", dialect)
	var t schema.Fitted
	if err := g.do(cmd.Context(), request{path: "/tools/" + url.PathEscape(name), query: q}, &t); err != nil {
		return err
	}
	if t.Error != nil && !c.json {
		c.tell("%s does not support %s: %v\n", t.Dialect, line(t.Name), t.Error)
		return errSilent
	}
	return c.show(t, func() error {
		c.printReport(t)
		return c.printJSON(json.RawMessage(t.Tool))
	})
}

func (c *command) printReport(t schema.Fitted) {
	how := c.word("unchanged")
	if len(t.Report) > 0 {
		how = c.count(len(t.Report), "change")
	}
	if t.Strict {
		how += c.word(", strict")
	}
	c.tell("%s in %s: %s\n", line(t.Name), t.Dialect, how)
	for _, change := range t.Report {
		fmt.Fprintf(c.env.Err, "  %s: %s: %s\n", line(cmp.Or(change.Pointer, c.word("the schema"))), change.Kind, line(c.translate(change.Action)))
	}
}
