package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// browserParts are what a browser test needs beside us, and where it is.
type browserParts struct {
	node     string // "" when there is none that will do
	version  string // of Node
	noNode   string // why not
	npx      string // "" when there is none
	mcp      string // cli.js of an installed @playwright/mcp; "": npx fetches it
	chromium string
}

const (
	// oldestNode is what playwright needs.
	oldestNode = 20
	// fetchedServer is the version that is fetched where none is installed.
	fetchedServer = "@playwright/mcp@0.0.83"
)

// browsers are the programs that playwright-mcp can drive, by the names that systems give them.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"}

// elsewhere are browsers that are installed outside of PATH.
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

// findParts looks for Node, the server and a browser.
func (c *command) findParts(ctx context.Context) *browserParts {
	p := &browserParts{noNode: fmt.Sprintf("no Node was found (%d or newer is needed)", oldestNode)}
	if path, err := exec.LookPath("node"); err == nil {
		p.checkNode(ctx, path)
	}
	p.npx, _ = exec.LookPath("npx") // "" for none
	if dir, err := os.Getwd(); err == nil {
		p.mcp = installedServer(dir)
	}
	if p.node != "" && p.mcp == "" && p.npx == "" {
		p.node, p.noNode = "", "Node has no npx to fetch "+fetchedServer+" with"
	}
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			p.chromium = path
			return p
		}
	}
	for _, path := range elsewhere[runtime.GOOS] {
		if _, err := os.Stat(path); err == nil {
			p.chromium = path
			return p
		}
	}
	p.chromium = fetchedBrowser(c.browsersFolder(), runtime.GOOS)
	return p
}

// checkNode takes a Node that is new enough.
func (p *browserParts) checkNode(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		p.noNode = fmt.Sprintf("%s does not run: %v", path, err)
		return
	}
	p.version = strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(p.version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		p.noNode = fmt.Sprintf("Node %s at %s is too old: %d or newer is needed", p.version, path, oldestNode)
		return
	}
	p.node = path
}

// installedServer is the server of the nearest node_modules; "" for none.
func installedServer(dir string) string {
	for {
		path := filepath.Join(dir, "node_modules", "@playwright", "mcp", "cli.js")
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

// command is the command line of the server, without its arguments.
func (p *browserParts) command() []string {
	if p.mcp != "" {
		return []string{p.node, p.mcp}
	}
	return []string{p.npx, "-y", fetchedServer}
}
