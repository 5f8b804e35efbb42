package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
)

func (c *command) servers() *cobra.Command {
	var flags askFlags
	var check bool
	cmd := &cobra.Command{
		Use: "servers", Short: "Show the servers: state, tools, last check, and why one is down", Args: exactly(0, "no arguments"),
		SuggestFor: []string{"status", "ps"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("asking the servers")()
				shown, err := g.tools(cmd, flags.query()) // servers that were never asked answer once
				if err != nil {
					return err
				}
				servers, err := g.servers(cmd)
				if err != nil {
					return err
				}
				if check {
					for i, s := range servers {
						servers[i] = g.check(cmd, s)
					}
					if shown, err = g.tools(cmd, flags.query()); err != nil {
						return err
					}
				}
				if c.json {
					return c.printJSON(map[string]any{"servers": servers})
				}
				n := byServer(shown)
				why := ""
				if slices.ContainsFunc(servers, func(s restapi.Server) bool { return n[s.ID] != s.Tools }) {
					why, err = g.notShown(cmd, flags.query(), servers)
					if err != nil {
						return err
					}
				}
				return c.printServers(servers, n, why)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "ask each server for its tools now")
	cmd.AddCommand(c.approve())
	return cmd
}

// firstList lets servers that were never asked answer once.
func (g *gateway) firstList(cmd *cobra.Command) error {
	var ignored struct{}
	return g.do(cmd.Context(), http.MethodGet, "/tools", url.Values{"q": {"\x00"}}, nil, &ignored)
}

func (g *gateway) servers(cmd *cobra.Command) ([]restapi.Server, error) {
	var answer struct {
		Servers []restapi.Server `json:"servers"`
	}
	err := g.do(cmd.Context(), http.MethodGet, "/servers", nil, nil, &answer)
	return answer.Servers, err
}

// byServer counts tools by their servers; "" has our own.
func byServer(tools []restapi.Tool) map[tool.ServerID]int {
	n := map[tool.ServerID]int{}
	for _, t := range tools {
		n[t.Server]++
	}
	return n
}

// notShown says why a list of tools has fewer than its servers: how many for which reason.
func (g *gateway) notShown(cmd *cobra.Command, q url.Values, servers []restapi.Server) (string, error) {
	var answer struct {
		NotShown []catalog.NotShown `json:"notShown"`
	}
	q = maps.Clone(q)
	q.Set("notShown", "true")
	if err := g.do(cmd.Context(), http.MethodGet, "/tools", q, nil, &answer); err != nil {
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
		parts = append(parts, fmt.Sprintf("%d %s", count[reason], reason))
	}
	return "not shown: " + cmp.Or(strings.Join(parts, ", "), "see the profile"), nil
}

// check lists a server now and returns how it is afterwards.
func (g *gateway) check(cmd *cobra.Command, s restapi.Server) restapi.Server {
	path := "/servers/" + url.PathEscape(string(s.ID))
	fresh := restapi.Server{}
	if g.do(cmd.Context(), http.MethodPost, path+"/refresh", nil, nil, &fresh) == nil {
		return fresh
	}
	if g.do(cmd.Context(), http.MethodGet, path, nil, nil, &fresh) == nil {
		return fresh
	}
	return s
}

// printServers lists the servers, given how many tools of each the profile shows and why not all.
func (c *command) printServers(servers []restapi.Server, shown map[tool.ServerID]int, notShown string) error {
	if len(servers) == 0 {
		fmt.Fprintln(c.env.Out, "no servers; add one with: toolfit add NAME -- COMMAND")
		return nil
	}
	t := table{wraps: true}
	t.row("NAME", "KIND", "STATE", "TOOLS", "CHECKED", "REASON")
	for _, s := range servers {
		tools := fmt.Sprint(s.Tools)
		if n := shown[s.ID]; n != s.Tools {
			tools = fmt.Sprintf("%d of %d", n, s.Tools)
		}
		if len(s.Held) > 0 {
			tools += fmt.Sprintf(" (%d held)", len(s.Held))
		}
		t.row(string(s.ID), string(s.Kind), string(s.State), tools, ago(s.CheckedAt), line(s.Reason))
	}
	if err := t.print(c.env.Out); err != nil {
		return err
	}
	if notShown != "" {
		fmt.Fprintln(c.env.Out, "tools: how many the profile shows of those that the server has; "+notShown)
	}
	for _, s := range servers {
		for _, note := range s.Notes {
			fmt.Fprintf(c.env.Out, "%s: %s\n", s.ID, line(note))
		}
	}
	return nil
}

func ago(t *time.Time) string {
	if t == nil {
		return "never"
	}
	switch d := time.Since(*t); {
	case d < 2*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return t.Local().Format(time.DateOnly)
}

func (c *command) approve() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "approve NAME", Short: "Let through what is held of a server: tools, prompts, resources, instructions", Args: exactly(1, "the name of a server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				var answer struct {
					Approved int `json:"approved"`
				}
				if err := g.do(cmd.Context(), http.MethodPost, "/servers/"+url.PathEscape(args[0])+"/approve", nil, nil, &answer); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(answer)
				}
				_, err := fmt.Fprintf(c.env.Out, "%d definitions of %s approved\n", answer.Approved, args[0])
				return err
			})
		},
	}
	flags.add(cmd)
	return cmd
}
