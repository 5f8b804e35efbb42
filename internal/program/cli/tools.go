package cli

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) tools() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "tools [WORD…]", Short: "List the tools, or those with all the words in their name or description",
		Example: `  toolfit tools
  toolfit tools orders --profile work`,
		SuggestFor: []string{"list", "ls"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waitingForServers(cmd.Context(), g)()
				words := strings.Join(args, " ")
				q := flags.query()
				q.Set("q", words)
				tools, err := g.tools(cmd.Context(), q)
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]any{"tools": tools})
				}
				out := terminal.Table{None: "no tools; see: toolfit servers"}
				if words != "" {
					out.None = c.lang.Sprintf("no tool has %q in its name or description; try: toolfit search %s", words, words)
				}
				for _, t := range tools {
					out.Row(t.Name, firstSentence(t.Description))
				}
				if err := c.print(&out); err != nil || words != "" {
					return err
				}
				return c.sayNotShown(cmd.Context(), g, flags.query(), tools)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// tools lists the tools of a profile, and waits for servers that have never listed theirs.
func (g *gateway) tools(ctx context.Context, q url.Values) ([]restapi.Tool, error) {
	var tools []restapi.Tool
	q = maps.Clone(q)
	for {
		var answer restapi.ToolList
		if err := g.do(ctx, request{path: "/tools", query: q}, &answer); err != nil {
			return nil, err
		}
		tools = append(tools, answer.Tools...)
		if answer.Next == "" {
			return tools, nil
		}
		q.Set("cursor", answer.Next)
	}
}

// sayNotShown says why the list of tools is shorter than what the servers offer.
func (c *command) sayNotShown(ctx context.Context, g *gateway, q url.Values, tools []restapi.Tool) error {
	servers, err := g.servers(ctx)
	if err != nil {
		return err
	}
	shown := byServer(tools)
	var fewer []string
	for _, s := range servers {
		if n := shown[s.ID]; n != s.Tools {
			fewer = append(fewer, c.lang.Sprintf("%d of the %d tools of %s", n, s.Tools, s.ID))
		}
	}
	if len(fewer) == 0 {
		return nil
	}
	why, err := c.notShown(ctx, g, q, servers)
	if err == nil {
		c.tell("shown: %s; %s\n", strings.Join(fewer, ", "), why)
		err = c.printHeld(ctx, g, servers, c.env.Err)
	}
	return err
}

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

// tool finds one tool. If it is unknown, its server may never have listed its tools, so it waits
// for those servers; otherwise a server that hangs would delay every call.
func (g *gateway) tool(ctx context.Context, flags askFlags, name string) (restapi.Tool, error) {
	var t restapi.Tool
	find := func() error {
		return g.do(ctx, request{path: "/tools/" + url.PathEscape(name), query: flags.query()}, &t)
	}
	err := find()
	if !fault.Is(err, fault.UnknownTool) {
		return t, err
	}
	if err := g.firstList(ctx); err != nil {
		return t, err
	}
	return t, find()
}

// properties are the arguments of a tool.
func properties(def json.RawMessage) *jsonschema.Node {
	tool, err := jsonschema.Parse(def)
	if err != nil {
		return nil // only the types are unknown then
	}
	return tool.Get("inputSchema").Get("properties")
}
