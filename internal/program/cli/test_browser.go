package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/keeper"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/state/config"
)

// browserFlags say which browser the tests use.
type browserFlags struct {
	headed bool
	url    string
	server string
	trace  string
}

func (f *browserFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.headed, "headed", false, "show the browser")
	flags.StringVar(&f.url, "browser-url", "", "use what runs at this URL: a playwright server (…/mcp, …/sse), or a browser's debugging address")
	flags.StringVar(&f.server, "server", "", "use this server of the configuration (default: its only playwright server, else one is started)")
	flags.StringVar(&f.trace, "trace", "", "have playwright record each case, into this folder (default trace)")
	flags.Lookup("trace").NoOptDefVal = "trace"
}

// browserConfig is a configuration with one server, that of the browser.
type browserConfig struct {
	*config.Config
	server tool.ServerID
	traces string // where the server records; what is kept of it comes from there
}

// placed tells what the server says of its recordings with the folder where they are kept. It
// names its own in full, or from where it runs.
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

// browserConfig chooses the browser. The returned function removes what was made for the run.
func (c *command) browserConfig(ctx context.Context, f *testFlags) (*browserConfig, func(), error) {
	nothing := func() {}
	own := f.browser.headed || f.browser.url != "" || f.browser.trace != ""
	if own && f.browser.server != "" {
		return nil, nil, usage("--server names a browser of the configuration; --headed, --browser-url and --trace are about one that is started for the run")
	}
	var cfg *config.Config
	if path := c.configPath(); path != "" {
		var err error
		if cfg, err = c.loadFile(path); err != nil {
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
		return nil, nil, fmt.Errorf("make a folder for the browser: %w", err)
	}
	started, err := c.startedBrowser(ctx, f, dir)
	if err != nil {
		remove()
		return nil, nil, err
	}
	if cfg != nil { // the run is kept where the others are
		started.Store, started.Records, started.Models = cfg.Store, cfg.Records, cfg.Models
	}
	return started, remove, nil
}

// configured is the configuration with no other server than the browser's: the others have
// nothing to do with the tests. Nil when it has none.
func configured(cfg *config.Config, name string) (*browserConfig, error) {
	browser := fit.Recognize(fit.Builtin(), []string{"browser_snapshot", "browser_navigate", "browser_click"})
	var found []config.Server
	for _, s := range cfg.Servers {
		if name == string(s.ID) || name == "" && !s.Disabled && browser.StartedBy(s.Command, s.Args) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0 && name == "":
		return nil, nil
	case len(found) == 0:
		return nil, usage("the configuration has no server %s", name)
	case len(found) > 1:
		return nil, usage("the configuration has several playwright servers; choose one by --server")
	}
	only := *cfg
	only.Servers = found
	return &browserConfig{Config: &only, server: found[0].ID}, nil
}

// startedBrowser is a configuration that starts a playwright server for the run, or uses one
// that runs already.
func (c *command) startedBrowser(ctx context.Context, f *testFlags, dir string) (*browserConfig, error) {
	server, traces := map[string]any{"timeout": "90s", "start": "3m", "idle": "0s"}, filepath.Join(dir, "trace")
	endpoint, isServer, err := parseBrowserURL(f.browser.url)
	switch {
	case err != nil:
		return nil, err
	case isServer:
		server["url"], traces = endpoint, f.browser.trace // it records where it likes, perhaps there
		if strings.HasSuffix(endpoint, "/sse") {
			server["type"] = "sse"
		}
	default:
		parts := c.findParts(ctx)
		if err := parts.missing(endpoint != ""); err != nil {
			return nil, err
		}
		command := parts.command()
		server["command"], server["args"] = command[0], append(command[1:], parts.args(f, endpoint)...)
		server["env"], server["inherit"] = serverEnv(f.browser.trace != "", dir, traces), []string{"PLAYWRIGHT_MCP_*"} // its own settings
		if server["cwd"], err = os.Getwd(); err != nil {
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
	text = []byte(strings.ReplaceAll(string(text), "${", "$${")) // paths are no templates
	cfg, err := config.Parse(filepath.Join(dir, "test.yaml"), text, c.env.Lookup)
	if err != nil {
		return nil, err
	}
	return &browserConfig{cfg, "browser", traces}, nil
}

// parseBrowserURL tells a playwright server from a browser.
func parseBrowserURL(text string) (endpoint string, isServer bool, err error) {
	if text == "" {
		return "", false, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "ws", "wss"}, u.Scheme) {
		return "", false, usage("--browser-url %q is no URL of http, https, ws or wss", text)
	}
	path := strings.TrimSuffix(u.Path, "/")
	return text, strings.HasPrefix(u.Scheme, "http") && (strings.HasSuffix(path, "/mcp") || strings.HasSuffix(path, "/sse")), nil
}

// serverEnv is how the server is told things that not every version has a flag for: one that
// does not know a variable leaves it alone. It records what is typed, so not where it is kept.
func serverEnv(trace bool, dir, traces string) map[string]string {
	env := map[string]string{
		"PLAYWRIGHT_MCP_TIMEOUT_SETTLE": "0",    // steps look for themselves whether the page is ready
		"PLAYWRIGHT_MCP_SNAPSHOT_MODE":  "none", // and take the snapshots that they need
		"PLAYWRIGHT_MCP_OUTPUT_DIR":     dir,
	}
	if trace {
		env["PLAYWRIGHT_MCP_OUTPUT_DIR"], env["PLAYWRIGHT_MCP_CAPS"], env["PLAYWRIGHT_MCP_SAVE_TRACE"] = traces, "devtools", "true"
	}
	return env
}

// args are the server's.
func (p *browserParts) args(f *testFlags, endpoint string) []string {
	args := []string{"--isolated"}
	if endpoint != "" {
		return append(args, "--cdp-endpoint", endpoint)
	}
	args = append(args, "--executable-path", p.chromium)
	if !f.browser.headed {
		args = append(args, "--headless")
	}
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which the administrator's account cannot have
	}
	return args
}

// lack is something that has to be installed, and how.
type lack struct {
	What    string `json:"what"`
	Install string `json:"install"`
}

// lacks are all of them. A browser that runs somewhere need not be installed.
func (p *browserParts) lacks(running bool) (list []lack) {
	if p.node == "" {
		list = append(list, lack{p.noNode, "install Node: " + here().node})
	}
	if p.chromium == "" && !running {
		list = append(list, lack{"no Chromium or Chrome was found", "install a browser: " + here().browser})
	}
	return list
}

// missing says what has to be installed; nil when nothing has.
func (p *browserParts) missing(running bool) error {
	var lacks, hints []string
	for _, one := range p.lacks(running) {
		lacks, hints = append(lacks, one.What), append(hints, one.Install)
	}
	if len(lacks) == 0 {
		return nil
	}
	return fault.New(fault.NotFound, "the tests need a browser: %s", strings.Join(lacks, "; ")).WithHint("%s", strings.Join(hints, "; "))
}
