// Package browser finds what browser tests need beside toolfit: Node, the Playwright MCP server
// and a browser. It says how to install what is missing and how to start the server; it installs
// and starts nothing itself.
//
//	parts := browser.Find(ctx, os.LookupEnv)
//	err := parts.Missing(false) // nil: ready
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/fit"
)

// Parts are what browser tests need, and where it is.
type Parts struct {
	Node     string // "": none that is new enough
	Version  string // of Node
	Server   string // main file of the installed server; "": npx downloads it
	Chromium string
	noNode   string // why Node is ""
	npx      string // "": none
}

// Known is the browser server in the data about known servers.
var Known = sync.OnceValue(func() *fit.Server {
	return fit.Recognize(fit.Builtin(), []string{"browser_snapshot", "browser_navigate", "browser_click"})
})

// Download is the version of the server that npx downloads.
func Download() string { return Known().Package().Name + "@" + Known().Package().Version }

// browsers are the programs that the server can control, by their names on various systems.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"}

// elsewhere are browsers outside of PATH.
var elsewhere = map[string][]string{
	"darwin": {
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
		"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
	},
	"windows": {
		`C:\Program Files\Google\Chrome\Application\chrome.exe`,
		`C:\Program Files (x86)\Google\Chrome\Application\chrome.exe`,
		`C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`,
	},
}

// Find looks for Node, the server and a browser.
func Find(ctx context.Context, lookup func(string) (string, bool)) *Parts {
	p := &Parts{noNode: fmt.Sprintf("Node was not found (version %d or newer is required)", Known().Package().Node)}
	if path, err := exec.LookPath("node"); err == nil {
		p.checkNode(ctx, path)
	}
	p.npx, _ = exec.LookPath("npx") // "" for none
	if dir, err := os.Getwd(); err == nil {
		p.Server = installedServer(dir)
	}
	if p.Node != "" && p.Server == "" && p.npx == "" {
		p.Node = ""
		p.noNode = "Node has no npx to download " + Download()
	}
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			p.Chromium = path
			return p
		}
	}
	for _, path := range elsewhere[runtime.GOOS] {
		if _, err := os.Stat(path); err == nil {
			p.Chromium = path
			return p
		}
	}
	p.Chromium = downloaded(browsersFolder(lookup), runtime.GOOS)
	return p
}

// checkNode accepts a Node that is new enough.
func (p *Parts) checkNode(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		p.noNode = fmt.Sprintf("%s does not run: %v", path, err)
		return
	}
	p.Version = strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(p.Version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < Known().Package().Node {
		p.noNode = fmt.Sprintf("Node %s at %s is too old: version %d or newer is required", p.Version, path, Known().Package().Node)
		return
	}
	p.Node = path
}

// installedServer is the main file of the server in the nearest node_modules; "" for none.
func installedServer(dir string) string {
	for {
		path := filepath.Join(dir, "node_modules", filepath.FromSlash(Known().Package().Name), Known().Package().Main)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Command is the command line of the server, without arguments.
func (p *Parts) Command() []string {
	if p.Server != "" {
		return []string{p.Node, p.Server}
	}
	return []string{p.npx, "-y", Download()}
}

// Env are the settings of the server that not every version has flags for; unknown variables are
// ignored. Traces contain what is typed, so they are first written to a temporary folder.
func Env(trace bool, dir, traces string) map[string]string {
	env := map[string]string{
		"PLAYWRIGHT_MCP_TIMEOUT_SETTLE": "0",    // steps wait for the page themselves
		"PLAYWRIGHT_MCP_SNAPSHOT_MODE":  "none", // and take their own snapshots
		"PLAYWRIGHT_MCP_OUTPUT_DIR":     dir,
	}
	if trace {
		env["PLAYWRIGHT_MCP_OUTPUT_DIR"] = traces
		env["PLAYWRIGHT_MCP_CAPS"] = "devtools"
		env["PLAYWRIGHT_MCP_SAVE_TRACE"] = "true"
	}
	return env
}

// Args are the arguments of the server; endpoint is the address of a running browser, or "".
func (p *Parts) Args(headed bool, endpoint string) []string {
	args := []string{"--isolated"}
	if endpoint != "" {
		return append(args, "--cdp-endpoint", endpoint)
	}
	args = append(args, "--executable-path", p.Chromium)
	if !headed {
		args = append(args, "--headless")
	}
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium has no sandbox for root
	}
	return args
}

// Lack is something to install, and how.
type Lack struct {
	What    string `json:"what"`
	Install string `json:"install"`
}

// Lacks is what must be installed. A running browser need not be.
func (p *Parts) Lacks(running bool) (list []Lack) {
	if p.Node == "" {
		list = append(list, Lack{p.noNode, "install Node: " + here().node})
	}
	if p.Chromium == "" && !running {
		list = append(list, Lack{"Chromium or Chrome was not found", "install a browser: " + here().browser})
	}
	return list
}

// Missing is an error that says what to install; nil if everything is there.
func (p *Parts) Missing(running bool) error {
	var lacks, hints []string
	for _, one := range p.Lacks(running) {
		lacks = append(lacks, one.What)
		hints = append(hints, one.Install)
	}
	if len(lacks) == 0 {
		return nil
	}
	return fault.New(fault.NotFound, "browser tests cannot run: %s", strings.Join(lacks, "; ")).WithHint("%s", strings.Join(hints, "; "))
}
