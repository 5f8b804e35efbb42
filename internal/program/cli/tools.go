package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func (f askFlags) query() url.Values {
	q := url.Values{}
	if f.profile != "" {
		q.Set("profile", f.profile)
	}
	return q
}

func (c *command) tools() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "tools [WORD…]", Short: "List the tools, or those that have all the words in name or description",
		SuggestFor: []string{"list", "ls"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("asking the servers")()
				q, words := flags.query(), strings.Join(args, " ")
				q.Set("q", words)
				tools, err := g.tools(cmd, q)
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]any{"tools": tools})
				}
				if words == "" {
					if err := c.printTools(tools); err != nil {
						return err
					}
					return c.sayNotShown(cmd, g, flags.query(), tools)
				}
				if len(tools) == 0 {
					_, err := fmt.Fprintf(c.env.Out, "no tool has %q in its name or description; try: toolfit search %s\n", words, words)
					return err
				}
				return c.printTools(tools)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// tools lists the tools of a profile. Servers that were never asked are waited for.
func (g *gateway) tools(cmd *cobra.Command, q url.Values) ([]restapi.Tool, error) {
	var answer struct {
		Tools []restapi.Tool `json:"tools"`
	}
	err := g.do(cmd.Context(), http.MethodGet, "/tools", q, nil, &answer)
	return answer.Tools, err
}

// sayNotShown says beside the list of all tools why it has fewer than the servers.
func (c *command) sayNotShown(cmd *cobra.Command, g *gateway, q url.Values, tools []restapi.Tool) error {
	servers, err := g.servers(cmd)
	if err != nil {
		return err
	}
	shown := byServer(tools)
	var fewer []string
	for _, s := range servers {
		if n := shown[s.ID]; n != s.Tools {
			fewer = append(fewer, fmt.Sprintf("%d of the %d tools of %s", n, s.Tools, s.ID))
		}
	}
	if len(fewer) == 0 {
		return nil
	}
	why, err := g.notShown(cmd, q, servers)
	if err == nil {
		fmt.Fprintf(c.env.Err, "shown: %s; %s\n", strings.Join(fewer, ", "), why)
	}
	return err
}

func (c *command) printTools(tools []restapi.Tool) error {
	if len(tools) == 0 {
		fmt.Fprintln(c.env.Out, "no tools; see: toolfit servers")
		return nil
	}
	var out table
	for _, t := range tools {
		out.row(t.Name, firstSentence(t.Description))
	}
	return out.print(c.env.Out)
}

// firstSentence is the start of a description, short enough for one line.
func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i > 0 {
		s = s[:i+1]
	}
	if r := []rune(s); len(r) > 90 {
		s = string(r[:89]) + "…"
	}
	return s
}

// tool finds one tool. One that is not known may be of a server that was never asked, so
// those are waited for, and only then: another server that hangs holds up no call.
func (g *gateway) tool(cmd *cobra.Command, flags askFlags, name string) (restapi.Tool, error) {
	var t restapi.Tool
	find := func() error {
		return g.do(cmd.Context(), http.MethodGet, "/tools/"+url.PathEscape(name), flags.query(), nil, &t)
	}
	err := find()
	if !fault.Is(err, fault.UnknownTool) {
		return t, err
	}
	if err := g.firstList(cmd); err != nil {
		return t, err
	}
	return t, find()
}

// properties are the arguments that a tool's schema names at the top.
func properties(def json.RawMessage) *jsonschema.Node {
	tool, err := jsonschema.Parse(def)
	if err != nil {
		return nil // an odd schema only costs the help with types
	}
	return tool.Get("inputSchema").Get("properties")
}
