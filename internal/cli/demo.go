package cli

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/app"
	"github.com/toolfit/toolfit/internal/config"
)

const demoConfig = `
mcpServers:
  cloud: {builtin: demo-cloud}
  shop:  {builtin: demo-shop}
`

func (c *command) demo() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use: "demo", Short: "Try it: a gateway with two built-in servers, nothing to install", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "toolfit-demo-")
			if err != nil {
				return fmt.Errorf("make a folder for the demo: %w", err)
			}
			defer os.RemoveAll(dir)
			cfg, err := config.Parse(filepath.Join(dir, "demo.yaml"), []byte(demoConfig), c.env.Lookup)
			if err != nil {
				return err
			}
			flags.apply(cfg)
			if flags.listen == "" {
				cfg.Listen = freeAddress(cfg.Listen)
			}
			return c.withApp(cmd.Context(), cfg, slog.LevelInfo, func(a *app.App) error {
				return c.listenAndServe(cmd.Context(), a, c.showDemo)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// freeAddress is the usual address, or any free one when that is taken.
func freeAddress(usual string) string {
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return usual
}

// self is how the user started us, to be shown in commands.
func self() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/toolfit"
	}
	return "toolfit"
}

func (c *command) showDemo(url string) {
	fmt.Fprintf(c.env.Out, `toolfit demo: two servers (cloud, shop) behind one endpoint.

  page       %[1]s/
  agents     %[1]s/mcp

Try, in another terminal:

  1. see the tools, and one of them as a model's provider takes it
     %[2]s tools --url %[1]s
     %[2]s describe --url %[1]s shop__list_orders --for openai-strict

  2. call one with the mistakes that models make, and see what was mended
     %[2]s call --url %[1]s shop__list_orders --args '{"status":"PAID","limit":"2"}' --explain

  3. ask for 40 environments as a model would: a tenth of the tokens, and a ref to the rest;
     then choose other fields at %[1]s/results
     curl -s '%[1]s/api/v1/tools/cloud__envQuery/call?for=openai' -d '{"action":"list"}'
     %[2]s savings --url %[1]s

Or give them to your agent: any MCP client takes the URL %[1]s/mcp
     claude mcp add --transport http toolfit %[1]s/mcp

Ctrl+C ends it. Nothing is kept.
`, url, self())
}
