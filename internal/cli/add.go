package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/tool"
)

func (c *command) add() *cobra.Command {
	var s config.Server
	var env, headers []string
	var timeout, idle time.Duration
	cmd := &cobra.Command{
		Use:   "add NAME (URL | -- COMMAND [ARG…])",
		Short: "Add a server to the configuration",
		Example: `  toolfit add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolfit add cloud https://example.com/mcp --header 'Authorization: Bearer ${CLOUD_TOKEN}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("add takes a name, and a URL or -- and a command; see: toolfit add --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s.ID = tool.ServerID(args[0])
			if err := tool.CheckServerID(s.ID); err != nil {
				return err
			}
			s.Timeout, s.Idle = timeout, idle
			if err := fillTarget(&s, args[1:]); err != nil {
				return err
			}
			var err error
			if s.Env, err = pairs(env, "=", "--env KEY=VALUE"); err != nil {
				return err
			}
			if s.Headers, err = pairs(headers, ":", "--header 'Name: value'"); err != nil {
				return err
			}
			path := c.editPath()
			if err := config.AddServer(path, s); err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]string{"added": string(s.ID), "file": path})
			}
			_, err = fmt.Fprintf(c.env.Out, "added %s to %s\n", s.ID, path)
			return err
		},
	}
	cmd.Flags().StringArrayVar(&env, "env", nil, "environment variable of the command, KEY=VALUE; may be repeated")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "header sent to the URL, 'Name: value'; may be repeated")
	cmd.Flags().StringVar(&s.Isolation, "isolation", "", "shared, or session: one process or session for each caller's session")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "limit for one call (default 1m)")
	cmd.Flags().DurationVar(&idle, "idle", 0, "closed after so long without a call (default 10m)")
	return cmd
}

// fillTarget says what kind of server it is: one argument that is a URL, or a command.
func fillTarget(s *config.Server, args []string) error {
	if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
		if len(args) > 1 {
			return usage("a URL takes no further arguments: %q", args[1])
		}
		s.URL = args[0]
		return nil
	}
	if strings.Contains(args[0], "://") {
		return usage("%q is no URL of http or https", args[0])
	}
	s.Command = args[0]
	s.Args = args[1:]
	return nil
}

func pairs(list []string, sep, form string) (map[string]string, error) {
	var m map[string]string
	for _, item := range list {
		key, value, ok := strings.Cut(item, sep)
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, usage("%q is not of the form %s", item, form)
		}
		if m == nil {
			m = map[string]string{}
		}
		if sep == ":" {
			value = strings.TrimSpace(value)
		}
		m[key] = value
	}
	return m, nil
}

func (c *command) remove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a server from the configuration", Args: exactly(1, "the name of a server"),
		RunE: func(_ *cobra.Command, args []string) error {
			path := c.editPath()
			if err := config.RemoveServer(path, tool.ServerID(args[0])); err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]string{"removed": args[0], "file": path})
			}
			_, err := fmt.Fprintf(c.env.Out, "removed %s from %s\n", args[0], path)
			return err
		},
	}
}
