package upstream

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/state/config"
)

// What Node.js prints about code that it cannot run: unknown syntax, or modules and functions of newer versions.
var (
	nodeTrace  = regexp.MustCompile(`(?m)^\s+at .*\b(node:)?internal/(modules|main|process)/|^Node\.js v\d`)
	nodeCannot = regexp.MustCompile(`^SyntaxError: ` +
		`|^ReferenceError: (fetch|crypto|File|Blob|WebSocket|ReadableStream|structuredClone|AbortController) is not defined` +
		`|^TypeError: .*\b(hasOwn|replaceAll|at|findLast|toSorted|withResolvers|styleText) is not a function` +
		`|\bNo such built-in module: node:|^Error: Cannot find module 'node:`)
	nodeVersion = regexp.MustCompile(`(?m)^(?:Node\.js )?v((\d+)\.\d+\.\d+)\s*$`)
)

// oldNode is the newest major version of Node.js that is no longer maintained.
const oldNode = 18

// nodeHint is what to do about a server whose code this Node.js cannot run; "" if that is not why it ended.
func (p *process) nodeHint() string {
	said := strings.Join(p.tail.all(), "\n")
	if !nodeCannot.MatchString(p.tail.last()) || !nodeTrace.MatchString(said) {
		return ""
	}
	m := nodeVersion.FindStringSubmatch(said)
	if m == nil && p.cfg.Sandbox == nil {
		m = nodeVersion.FindStringSubmatch(askVersion(p.path, p.env))
	}
	if m == nil {
		return fmt.Sprintf("its code does not run on the installed Node.js: it may need a newer version, or has a bug; "+
			"compare node --version with what %s requires", p.server)
	}
	if major, err := strconv.Atoi(m[2]); err == nil && major <= oldNode {
		return fmt.Sprintf("it runs on Node.js %s, which is too old for it: install a newer Node.js, "+
			"or give the path of one as the command of %s", m[1], p.server)
	}
	return fmt.Sprintf("its code does not run on Node.js %s: it has a bug, or needs a newer version", m[1])
}

// askVersion returns the version of the program if it is node, otherwise of the node in its PATH.
func askVersion(path string, env []string) string {
	if name := config.ProgramName(path); name != "node" && name != "nodejs" {
		path = ""
		for _, kv := range env {
			if name, list, _ := strings.Cut(kv, "="); strings.EqualFold(name, "PATH") {
				path = inPath(list)
			}
		}
	}
	if path == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = env
	out, _ := cmd.Output() // without a version the output is empty
	return string(out)
}

// inPath finds node in a list of folders.
func inPath(list string) string {
	for _, dir := range filepath.SplitList(list) {
		if path, err := exec.LookPath(filepath.Join(dir, "node")); err == nil {
			return path
		}
	}
	return ""
}
