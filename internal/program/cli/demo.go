package cli

import (
	"context"
	"fmt"
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
models:
  demo:      {url: "%[1]s/v1"}
  demo-text: {url: "%[1]s/v1", tools: text}
agents:
  helper: {name: Helper, description: Knows the shop and the cloud., model: demo}
  scribe: {name: Scribe, description: The same with a model that calls tools in its text., model: demo-text}
`

func (c *command) demo() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use: "demo", Short: "Try it: a gateway with built-in servers and an API, nothing to install", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "toolfit-demo-")
			if err != nil {
				return fmt.Errorf("make a folder for the demo: %w", err)
			}
			defer os.RemoveAll(dir)
			actions, stop, err := serveParcels(dir)
			if err != nil {
				return err
			}
			defer stop()
			model, err := startModel(cmd.Context())
			if err != nil {
				return err
			}
			defer model.Close()
			cfg, err := config.Parse(filepath.Join(dir, "demo.yaml"), append(fmt.Appendf(nil, demoConfig, "http://"+model.Addr), actions...), c.env.Lookup)
			if err != nil {
				return err
			}
			if err := flags.apply(cfg); err != nil {
				return err
			}
			if flags.listen == "" {
				cfg.Listen = freeAddress(cfg.Listen)
			}
			return c.withListener(cmd.Context(), cfg, func(a *app.App, l net.Listener) error {
				return c.serveOn(cmd.Context(), a, l, nil, func(url string) { c.showDemo(url, page(a, url), flags.store) })
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// startModel serves the script that stands for a model. Nobody but this machine reaches it.
func startModel(ctx context.Context) (*http.Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the demo's model: %w", err)
	}
	srv := &http.Server{
		Addr: l.Addr().String(), Handler: demo.Model(), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go srv.Serve(l) // ends with Close
	return srv, nil
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

// self is how the user started us, to be shown in commands: a program that is not on the
// PATH is found by the same path again.
func self() string {
	switch program := os.Args[0]; {
	case strings.Contains(program, "go-build"):
		return "go run ./cmd/toolfit"
	case strings.ContainsRune(program, filepath.Separator) && !strings.ContainsAny(program, " '\"$"):
		return program
	}
	return "toolfit"
}

// showDemo says what there is to try. Calls are kept only in a store that was asked for.
func (c *command) showDemo(url, page, store string) {
	kept := "Nothing is kept."
	if store != "" {
		kept = "Its calls and results stay in the store that you named."
	}
	fmt.Fprintf(c.env.Out, `toolfit demo: two servers (cloud, shop) and an HTTP API (parcels) behind one endpoint.

  page       %[4]s
  agents     %[1]s/mcp

Try, in another terminal:

  1. see the tools, and one of them as a model's provider takes it
     %[2]s tools --url %[1]s
     %[2]s describe --url %[1]s shop__list_orders --for openai-strict

  2. call one with the mistakes that models make, and see what was repaired
     %[2]s call --url %[1]s shop__list_orders --args '{"status":"PAID","limit":"2"}' --explain

  3. ask for 40 environments as a model would: a tenth of the tokens, and a ref to the rest;
     then choose other fields at %[1]s/results
     curl -s '%[1]s/api/v1/tools/cloud__envQuery/call?for=openai' -d '{"action":"list"}'
     %[2]s savings --url %[1]s

More:

  - talk with an agent that uses them; a script stands for its model
     %[2]s chat --url %[1]s helper "How are the paid orders?"
     %[2]s chat --url %[1]s scribe "云环境有哪些？"

  - ask what can be done with a category and with a parcel, and do it
     curl -s %[1]s/api/agent-retrieval/in/v1/kn/get_action_info -d '{"kn_id":"shop","at_id":"show_category"}'
     curl -s %[1]s/api/agent-retrieval/in/v1/mcp/proxy/shop/tools/category_tree/call -d '{"filter":{"name":"tea"}}'
     curl -s %[1]s/api/agent-retrieval/in/v1/kn/get_action_info -d '{"kn_id":"shop","at_id":"change_address"}'
     curl -s %[1]s/api/v1/tools/parcels__changeAddress/call -d '{"path":{"id":"P-1001"},"query":{"notify":true},"body":{"street":"Quay 7","city":"Porto"}}'

Or give them to your agent: any MCP client takes the URL %[1]s/mcp
     claude mcp add --transport http toolfit %[1]s/mcp

Ctrl+C ends it. %[3]s
`, url, self(), kept, page)
}
