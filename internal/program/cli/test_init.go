package cli

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
)

//go:embed firsttest
var firstTest embed.FS

func (c *command) testInit() *cobra.Command {
	return &cobra.Command{
		Use: "init [FOLDER]", Short: "Write a first test and a page that it passes on, and say what is missing to run it",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("test init takes one folder at most")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := testFolder
			if len(args) == 1 {
				dir = args[0]
			}
			written, err := writeFirstTest(dir)
			if err != nil {
				return err
			}
			parts := c.findParts(cmd.Context())
			if c.json {
				missing := append([]lack{}, parts.lacks(false)...)
				return c.printJSON(map[string]any{"written": written, "ready": len(missing) == 0, "missing": missing, "node": parts.node, "server": parts.mcp, "browser": parts.chromium})
			}
			c.showFirstTest(dir, written, parts)
			return nil
		},
	}
}

// writeFirstTest writes the files. What is there already is left alone, and nothing is
// written then.
func writeFirstTest(dir string) (written []string, err error) {
	files := map[string][]byte{}
	err = fs.WalkDir(firstTest, "firsttest", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(path, "firsttest/")))
		if exists(to) {
			return fault.New(fault.Conflict, "%s is there already", to).WithHint("name another folder: toolfit test init FOLDER")
		}
		files[to], err = firstTest.ReadFile(path)
		written = append(written, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, path := range written {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("make a folder for the test: %w", err)
		}
		if err := os.WriteFile(path, files[path], 0o644); err != nil {
			return nil, fmt.Errorf("write the first test: %w", err)
		}
	}
	return written, nil
}

// showFirstTest says what was written, what was found, and what to do now.
func (c *command) showFirstTest(dir string, written []string, p *browserParts) {
	for _, path := range written {
		fmt.Fprintf(c.env.Out, "wrote    %s\n", path)
	}
	if p.node != "" {
		fmt.Fprintf(c.env.Out, "found    Node %s (%s)\n", p.version, p.node)
	}
	switch {
	case p.mcp != "":
		fmt.Fprintf(c.env.Out, "found    the playwright server (%s)\n", p.mcp)
	case p.node != "":
		fmt.Fprintf(c.env.Out, "note     %s will be fetched by npx; to have it here: npm install %s\n", fetchedServer, fetchedServer)
	}
	if p.chromium != "" {
		fmt.Fprintf(c.env.Out, "found    a browser (%s)\n", p.chromium)
	}
	for _, one := range p.lacks(false) {
		fmt.Fprintf(c.env.Out, "missing  %s\n         → %s\n", one.What, one.Install)
	}
	run := "toolfit test"
	if dir != testFolder {
		run += " " + dir
	}
	if p.missing(false) != nil {
		run = "install what is missing, then run: " + run
	} else {
		run = "now run: " + run
	}
	fmt.Fprintf(c.env.Out, "\n%s\n", run)
}
