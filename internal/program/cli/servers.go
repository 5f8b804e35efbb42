package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) servers() *cobra.Command {
	var flags askFlags
	var check bool
	cmd := &cobra.Command{
		Use: "servers", Short: "List the servers with state, tools and last check", Args: noArguments,
		Example: `  toolfit servers
  toolfit servers --check
  toolfit servers --json`,
		SuggestFor: []string{"status", "ps"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				done := c.waitingForServers(cmd.Context(), g)
				defer done()
				shown, err := g.tools(cmd.Context(), flags.query()) // waits for servers that have never listed their tools
				if err != nil {
					return err
				}
				servers, err := g.servers(cmd.Context())
				if err != nil {
					return err
				}
				if check {
					done()
					c.checkAll(cmd.Context(), g, servers)
					shown, err = g.tools(cmd.Context(), flags.query())
					if err != nil {
						return err
					}
				}
				n := byServer(shown)
				why := ""
				if !c.json && slices.ContainsFunc(servers, func(s restapi.Server) bool { return n[s.ID] != s.Tools }) {
					why, err = c.notShown(cmd.Context(), g, flags.query(), servers)
					if err != nil {
						return err
					}
				}
				return c.show(map[string]any{"servers": servers}, func() error {
					if err := c.printServers(servers, n, why); err != nil {
						return err
					}
					return c.printHeld(cmd.Context(), g, servers, c.env.Out)
				})
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "list the tools of each server now")
	cmd.AddCommand(c.approve())
	return cmd
}

// firstList waits for servers that have never listed their tools.
func (g *gateway) firstList(ctx context.Context) error {
	var ignored struct{}
	return g.do(ctx, request{path: "/tools", query: url.Values{"q": {"\x00"}}}, &ignored)
}

func (g *gateway) servers(ctx context.Context) ([]restapi.Server, error) {
	var answer struct {
		Servers []restapi.Server `json:"servers"`
	}
	err := g.do(ctx, request{path: "/servers"}, &answer)
	return answer.Servers, err
}

// byServer counts tools by server; "" is the gateway's own.
func byServer(tools []restapi.Tool) map[tool.ServerID]int {
	n := map[tool.ServerID]int{}
	for _, t := range tools {
		n[t.Server]++
	}
	return n
}

// notShown says why a list of tools has fewer than its servers: how many for which reason.
func (c *command) notShown(ctx context.Context, g *gateway, q url.Values, servers []restapi.Server) (string, error) {
	var answer struct {
		NotShown []catalog.NotShown `json:"notShown"`
	}
	q = maps.Clone(q)
	q.Set("notShown", "true")
	q.Set("limit", "1")
	if err := g.do(ctx, request{path: "/tools", query: q}, &answer); err != nil {
		return "", err
	}
	count := map[string]int{}
	for _, t := range answer.NotShown {
		count[string(t.Reason)]++
	}
	for _, s := range servers {
		if s.State == restapi.Disabled {
			count["of a disabled server"] += s.Tools
		}
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d %s", count[reason], c.word(reason)))
	}
	return c.lang.Sprintf("not shown: %s", cmp.Or(strings.Join(parts, ", "), c.word("see the profile"))), nil
}

// checkAll lists the tools of each server now.
func (c *command) checkAll(ctx context.Context, g *gateway, servers []restapi.Server) {
	p := c.progress()
	defer p.End()
	group := p.Group("checking server %d of %d: %s", len(servers))
	for i, s := range servers {
		done := group.Begin(string(s.ID))
		servers[i] = g.check(ctx, s)
		done()
	}
}

func (g *gateway) check(ctx context.Context, s restapi.Server) restapi.Server {
	path := "/servers/" + url.PathEscape(string(s.ID))
	fresh := restapi.Server{}
	if g.do(ctx, request{method: http.MethodPost, path: path + "/refresh"}, &fresh) == nil {
		return fresh
	}
	if g.do(ctx, request{path: path}, &fresh) == nil {
		return fresh
	}
	return s
}

// printServers lists the servers, given how many tools of each the profile shows and why not all.
func (c *command) printServers(servers []restapi.Server, shown map[tool.ServerID]int, notShown string) error {
	t := terminal.Table{
		Wraps: true, Head: []string{"NAME", "KIND", "STATE", "TOOLS", "CHECKED", "REASON"},
		None: "no servers; add one with: toolfit add NAME -- COMMAND",
	}
	for _, s := range servers {
		tools := fmt.Sprint(s.Tools)
		if n := shown[s.ID]; n != s.Tools {
			tools = c.lang.Sprintf("%d of %d", n, s.Tools)
		}
		if len(s.Held) > 0 {
			tools += c.lang.Sprintf(" (%d held)", len(s.Held))
		}
		t.Row(string(s.ID), c.word(string(s.Kind)), c.word(string(s.State)), tools, c.ago(s.CheckedAt), line(c.translate(s.Reason)))
	}
	if err := c.print(&t); err != nil {
		return err
	}
	if notShown != "" {
		c.say("tools: how many of the server's tools the profile shows; %s\n", notShown)
	}
	for _, s := range servers {
		if s.Sandbox != "" {
			c.say("%s: sandbox: %s\n", s.ID, c.translate(s.Sandbox))
		}
		for _, note := range s.Notes {
			fmt.Fprintf(c.env.Out, "%s: %s\n", s.ID, line(c.translate(note)))
		}
	}
	return nil
}

// printHeld says what is suspicious about what is held.
func (c *command) printHeld(ctx context.Context, g *gateway, servers []restapi.Server, out io.Writer) error {
	for _, s := range servers {
		if len(s.Held) == 0 {
			continue
		}
		var list restapi.HeldList
		if err := g.do(ctx, request{path: "/servers/" + url.PathEscape(string(s.ID)) + "/held"}, &list); err != nil {
			return err
		}
		for _, h := range list.Held {
			for _, f := range h.Findings {
				if !h.Out && !f.Note {
					io.WriteString(out, c.lang.Sprintf("%s: %s is held: %s\n", s.ID, line(h.Name), line(c.translate(f.String()))))
				}
			}
		}
	}
	return nil
}

func (c *command) ago(t *time.Time) string {
	if t == nil {
		return c.word("never")
	}
	switch d := time.Since(*t); {
	case d < 2*time.Second:
		return c.word("now")
	case d < time.Minute:
		return c.lang.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return c.lang.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return c.lang.Sprintf("%dh ago", int(d.Hours()))
	}
	return t.Local().Format(time.DateOnly)
}

func (c *command) approve() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "approve NAME [TOOL…]", Short: "Approve what is held of a server, or only the named tools, prompts, resources",
		Example: `  toolfit servers approve files
  toolfit servers approve files read_file write_file`,
		Args: takes(1, -1, "the name of a server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{method: http.MethodPost, path: "/servers/" + url.PathEscape(args[0]) + "/approve"}
			if len(args) > 1 {
				r.body = rawjson.Encode(map[string]any{"tools": args[1:]})
			}
			return askFor(c, cmd, flags, "asking the gateway", r, func(_ *gateway, answer struct {
				Approved int `json:"approved"`
			}) error {
				err := c.say("%d definitions of %s approved\n", answer.Approved, args[0])
				return err
			})
		},
	}
	flags.add(cmd)
	return cmd
}
