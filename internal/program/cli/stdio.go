package cli

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

func (c *command) stdio() *cobra.Command {
	var ask askFlags
	var flags runFlags
	var asEnv bool
	cmd := &cobra.Command{
		Use: "stdio", Short: "Serve one agent on standard input and output", Args: noArguments,
		Example: `  toolfit stdio
  toolfit stdio --profile work
  toolfit stdio --url http://127.0.0.1:8420`,
		Long: `Serve one agent on standard input and output: through the gateway that is running with this
configuration, so that servers are shared, or with servers of its own. With --url it uses the
gateway there, whatever the configuration.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := c.running(cmd.Context(), ask, flags)
			switch {
			case err != nil:
				return err
			case g != nil:
				return c.bridge(cmd.Context(), g, ask.profile, asEnv)
			}
			cfg, err := c.loadWith(flags)
			if err != nil {
				return err
			}
			return c.withApp(cmd.Context(), cfg, slog.LevelInfo, func(a *app.App) error {
				if asEnv {
					return a.ServeEnvironment(cmd.Context(), ask.profile, c.env.In, c.wire)
				}
				return a.ServeStdio(cmd.Context(), ask.profile, c.env.In, c.wire)
			})
		},
	}
	flags.add(cmd)
	ask.add(cmd)
	cmd.Flags().Lookup("profile").Usage = "profile to serve (default: default, or the key's own)"
	cmd.Flags().BoolVar(&asEnv, "env", false, "serve the profile as an environment, with the env_ tools")
	return cmd
}

// bridge relays between the agent and a gateway.
func (c *command) bridge(ctx context.Context, g *gateway, profile string, asEnv bool) error {
	endpoint := g.base + "/mcp"
	if asEnv {
		profile = cmp.Or(profile, config.DefaultProfile)
	}
	if profile != "" {
		endpoint += "/" + url.PathEscape(profile)
	}
	if asEnv {
		endpoint += "/env"
	}
	return mcp.Bridge(ctx, c.env.In, c.wire, endpoint, &mcp.BridgeOptions{HTTP: g.http, Header: g.header(nil)})
}
