// Package testparts finds the real servers and clients that tests run against. They are
// installed by scripts/install-test-parts into the folder that TOOLFIT_NODE_PARTS names.
//
// Without them a test skips with one clear line, so that a bare clone passes with nothing
// but Go. With CI=true it fails: there nothing is left out. Only tests import this package.
//
//	node := testparts.Need(t)
//	command := node.Command("mcp-server-memory")
package testparts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Node is the folder of installed npm packages.
type Node struct{ dir string }

// Need returns the installed parts, or ends the test when there are none.
func Need(t testing.TB) Node {
	t.Helper()
	dir := os.Getenv("TOOLFIT_NODE_PARTS")
	if dir == "" {
		Missing(t, "needs TOOLFIT_NODE_PARTS, the folder that scripts/install-test-parts fills; make test sets it")
	}
	// The stamp is written last, so that a half-finished install does not count.
	if _, err := os.Stat(filepath.Join(dir, "stamp")); err != nil {
		Missing(t, "needs the npm servers: run scripts/install-test-parts")
	}
	return Node{dir}
}

// Installed tells whether Need would go on.
func Installed() bool {
	_, err := os.Stat(filepath.Join(os.Getenv("TOOLFIT_NODE_PARTS"), "stamp"))
	return err == nil
}

// NeedProgram returns the path of a program, or ends the test when there is none. Where says
// how to get it.
func NeedProgram(t testing.TB, name, where string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "needs "+name+" in PATH: run scripts/install-test-parts and use make; "+where)
	}
	return path
}

// Missing ends a test that lacks a part: in CI as a failure.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Command is the command line that runs an installed program.
func (n Node) Command(program string, args ...string) []string {
	return append([]string{n.Program(), filepath.Join(n.dir, "node_modules", ".bin", program)}, args...)
}

// Packages is the folder with the installed packages.
func (n Node) Packages() string { return filepath.Join(n.dir, "node_modules") }

// Script is the command line that runs a file of an installed package.
func (n Node) Script(path string, args ...string) []string {
	return append([]string{n.Program(), filepath.Join(n.dir, "node_modules", filepath.FromSlash(path))}, args...)
}

// NeedPackage ends the test when an npm package is not among the installed parts.
func (n Node) NeedPackage(t testing.TB, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(n.dir, "node_modules", filepath.FromSlash(name))); err != nil {
		Missing(t, "needs the npm package "+name+": run scripts/install-test-parts")
	}
}

// Dir is the folder that the packages are installed in.
func (n Node) Dir() string { return n.dir }

// Program is the Node that runs them.
func (n Node) Program() string { return filepath.Join(n.dir, "bin", "node") }
