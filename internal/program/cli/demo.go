package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/program/demo"
	"github.com/toolfit/toolfit/internal/state/config"
)

const demoConfig = `
mcpServers:
  cloud: {builtin: demo-cloud}
  shop:  {builtin: demo-shop}
profiles:
  default: {}
  scripts: {code: on}
models:
  demo:      {url: "http://%[1]s/v1"}
  demo-text: {url: "http://%[1]s/v1", tools: text}
agents:
  helper: {name: Helper, description: Knows the shop and the cloud., model: demo}
  scribe: {name: Scribe, description: The same with a model that calls tools in its text., model: demo-text}
apis:
  parcels: {spec: parcels.json, base: "http://%[2]s", layout: layered}
recall:
  actions:
    - {kn_id: shop, at_id: show_category, mcp_id: shop, tool_name: category_tree}
    - {kn_id: shop, at_id: change_address, tool: parcels__changeAddress, parameters: {notify: true}}
`

func (c *command) demo() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use: "demo", Short: "Try toolfit: a gateway with built-in servers and an API, nothing to install", Args: noArguments,
		Example: `  toolfit demo
  toolfit demo --listen 127.0.0.1:9000`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "toolfit-demo-")
			if err != nil {
				return fmt.Errorf("create a folder for the demo: %w", err)
			}
			defer os.RemoveAll(dir)
			if err := os.WriteFile(filepath.Join(dir, "parcels.json"), demo.ParcelsSpec, 0o600); err != nil {
				return fmt.Errorf("write the demo's API: %w", err)
			}
			parcels, err := serveLocal(cmd.Context(), demo.Parcels())
			if err != nil {
				return err
			}
			defer parcels.Close()
			model, err := serveLocal(cmd.Context(), demo.Model())
			if err != nil {
				return err
			}
			defer model.Close()
			file := filepath.Join(dir, "demo.yaml") // the console shows it
			if err := os.WriteFile(file, fmt.Appendf(nil, demoConfig, model.Addr, parcels.Addr), 0o600); err != nil {
				return err
			}
			cfg, err := config.Load(file, c.env.Lookup)
			if err == nil {
				err = flags.apply(cfg)
			}
			if err != nil {
				return err
			}
			if flags.listen == "" {
				cfg.Listen = freeAddress(cfg.Listen)
			}
			// What a newcomer reads must not scroll away: only what goes wrong is logged.
			return c.withListener(cmd.Context(), cfg, slog.LevelWarn, func(a *app.App, l net.Listener) error {
				return c.serveOn(cmd.Context(), a, l, nil, func(url string) { c.showDemo(url, c.page(a, url), flags.store) })
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// serveLocal serves a handler on this machine until Close.
func serveLocal(ctx context.Context, h http.Handler) (*http.Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the demo: %w", err)
	}
	srv := &http.Server{
		Addr: l.Addr().String(), Handler: h, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go srv.Serve(l) // ends with Close
	return srv, nil
}

// freeAddress is the usual address, or any free one if that is taken.
func freeAddress(usual string) string {
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return usual
}

// self is how the user started this program, for commands in examples.
func self() string {
	switch program := os.Args[0]; {
	case strings.Contains(program, "go-build"):
		return "go run ./cmd/toolfit"
	case strings.ContainsRune(program, filepath.Separator) && !strings.ContainsAny(program, " '\"$"):
		return program
	}
	return "toolfit"
}

func (c *command) showDemo(url, page, store string) {
	kept := c.word("Nothing is saved.")
	if store != "" {
		kept = c.word("Calls and results stay in the store that you named.")
	}
	c.say(`toolfit demo: two servers (cloud, shop) and an HTTP API (parcels) behind one endpoint.

  page       %[4]s
  agents     %[1]s/mcp

Try, in another terminal:

  1. list the tools, and show one in a provider's dialect
     %[2]s tools --url %[1]s
     %[2]s describe --url %[1]s shop__list_orders --for openai-strict

  2. call a tool with typical mistakes of models, and see how they are repaired
     %[2]s call --url %[1]s shop__list_orders --args '{"status":"PAID","limit":"2"}' --explain

  3. list 40 environments as a model would: a tenth of the tokens, and a ref to the rest;
     then choose other fields at %[1]s/results
     curl -s '%[1]s/api/v1/tools/cloud__envQuery/call?for=openai' -d '{"action":"list"}'
     %[2]s savings --url %[1]s

More:

  - chat with an agent that uses them; a script plays the model
     %[2]s chat --url %[1]s helper "How are the paid orders?"
     %[2]s chat --url %[1]s scribe "云环境有哪些？"

  - let a script make the calls, and get one answer
     %[2]s call --url %[1]s --profile scripts run_script code='const {orders} = await shop.list_orders({limit: 100}); return orders.filter(o => o.status == "returned").length'

  - look up actions for a category and a parcel, and run them
     curl -s %[1]s/api/agent-retrieval/in/v1/kn/get_action_info -d '{"kn_id":"shop","at_id":"show_category"}'
     curl -s %[1]s/api/agent-retrieval/in/v1/mcp/proxy/shop/tools/category_tree/call -d '{"filter":{"name":"tea"}}'
     curl -s %[1]s/api/agent-retrieval/in/v1/kn/get_action_info -d '{"kn_id":"shop","at_id":"change_address"}'
     curl -s %[1]s/api/v1/tools/parcels__changeAddress/call -d '{"path":{"id":"P-1001"},"query":{"notify":true},"body":{"street":"Quay 7","city":"Porto"}}'

Or connect your agent: any MCP client can use %[1]s/mcp
     claude mcp add --transport http toolfit %[1]s/mcp

Press Ctrl+C to stop. %[3]s
`, url, self(), kept, page)
}
