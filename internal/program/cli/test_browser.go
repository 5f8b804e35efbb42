package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/keeper"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/program/cli/browser"
	"github.com/toolfit/toolfit/internal/state/config"
)

type browserFlags struct {
	headed bool
	url    string
	server string
	trace  string
}

func (f *browserFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.headed, "headed", false, "show the browser")
	flags.StringVar(&f.url, "browser-url", "", "connect to this URL: a Playwright server (…/mcp, …/sse), or a browser's debugging address")
	flags.StringVar(&f.server, "server", "", "use this server of the configuration (default: its only Playwright server, or a new one)")
	flags.StringVar(&f.trace, "trace", "", "record a Playwright trace of each case in this folder (default trace)")
	flags.Lookup("trace").NoOptDefVal = "trace"
}

// browserConfig is a configuration with the browser server only.
type browserConfig struct {
	*config.Config
	server tool.ServerID
	traces string // where the server writes traces
}

// placed replaces the folder of traces in the server's messages with the one where they are kept.
// The server names its folder as an absolute path, or relative to where it runs.
func (b *browserConfig) placed(kept string) func(string) string {
	if b.traces == kept {
		return func(said string) string { return said }
	}
	own := filepath.Join(filepath.Base(filepath.Dir(b.traces)), filepath.Base(b.traces))
	anywhere := regexp.MustCompile(`[^\s()\[\]]*` + regexp.QuoteMeta(own))
	return func(said string) string {
		return anywhere.ReplaceAllLiteralString(strings.ReplaceAll(said, b.traces, kept), kept)
	}
}

// browserConfig chooses the browser. The returned function removes temporary files.
func (c *command) browserConfig(ctx context.Context, f *testFlags) (*browserConfig, func(), error) {
	nothing := func() {}
	own := f.browser.headed || f.browser.url != "" || f.browser.trace != ""
	if own && f.browser.server != "" {
		return nil, nil, usage("--server uses a configured browser; --headed, --browser-url and --trace need one that is started for the run")
	}
	var cfg *config.Config
	if path := c.configPath(); path != "" {
		var err error
		cfg, err = c.loadFile(path)
		if err != nil {
			return nil, nil, err
		}
	}
	if f.browser.server != "" && cfg == nil {
		return nil, nil, usage("--server %s: there is no configuration here", f.browser.server)
	}
	if cfg != nil && !own {
		only, err := configured(cfg, f.browser.server)
		if err != nil || only != nil {
			return only, nothing, err
		}
	}
	dir, remove, err := keeper.Scratch("toolfit-test-")
	if err != nil {
		return nil, nil, fmt.Errorf("create a folder for the browser: %w", err)
	}
	started, err := c.startedBrowser(ctx, f, dir)
	if err != nil {
		remove()
		return nil, nil, err
	}
	if cfg != nil { // store the run with the others
		started.Store = cfg.Store
		started.Records = cfg.Records
		started.Models = cfg.Models
	}
	return started, remove, nil
}

// configured is the configuration with the browser server only; nil if it has none.
func configured(cfg *config.Config, name string) (*browserConfig, error) {
	var found []config.Server
	for _, s := range cfg.Servers {
		if name == string(s.ID) || name == "" && !s.Disabled && browser.Known().StartedBy(s.Command, s.Args) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0 && name == "":
		return nil, nil
	case len(found) == 0:
		return nil, usage("the configuration has no server %s", name)
	case len(found) > 1:
		return nil, usage("the configuration has several Playwright servers; choose one with --server")
	}
	only := *cfg
	only.Servers = found
	return &browserConfig{Config: &only, server: found[0].ID}, nil
}

// startedBrowser is a configuration that starts a Playwright server, or uses a running one.
func (c *command) startedBrowser(ctx context.Context, f *testFlags, dir string) (*browserConfig, error) {
	server := map[string]any{"timeout": "90s", "start": "3m", "idle": "0s"}
	traces := filepath.Join(dir, "trace")
	endpoint, isServer, err := parseBrowserURL(f.browser.url)
	switch {
	case err != nil:
		return nil, err
	case isServer:
		server["url"] = endpoint
		traces = f.browser.trace // it may write them there
		if strings.HasSuffix(endpoint, "/sse") {
			server["type"] = "sse"
		}
	default:
		parts := browser.Find(ctx, c.env.Lookup)
		if err := parts.Missing(endpoint != ""); err != nil {
			return nil, err
		}
		command := parts.Command()
		server["command"] = command[0]
		server["args"] = append(command[1:], parts.Args(f.browser.headed, endpoint)...)
		server["env"] = browser.Env(f.browser.trace != "", dir, traces)
		server["inherit"] = []string{"PLAYWRIGHT_MCP_*"} // the user's settings of the server
		server["cwd"], err = os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find the current folder: %w", err)
		}
		if f.workers == 1 {
			server["isolation"] = "shared" // one process is enough
		}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"browser": server}, "store": "test.db"})
	if err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	text = []byte(strings.ReplaceAll(string(text), "${", "$${")) // paths are not templates
	cfg, err := config.Parse(filepath.Join(dir, "test.yaml"), text, c.env.Lookup)
	if err != nil {
		return nil, err
	}
	return &browserConfig{cfg, "browser", traces}, nil
}

// parseBrowserURL tells a Playwright server from a browser.
func parseBrowserURL(text string) (endpoint string, isServer bool, err error) {
	if text == "" {
		return "", false, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "ws", "wss"}, u.Scheme) {
		return "", false, usage("--browser-url %q is not an http, https, ws or wss URL", text)
	}
	path := strings.TrimSuffix(u.Path, "/")
	return text, strings.HasPrefix(u.Scheme, "http") && (strings.HasSuffix(path, "/mcp") || strings.HasSuffix(path, "/sse")), nil
}
