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
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/program/cli/browser"
)

//go:embed firsttest
var firstTest embed.FS

func (c *command) testInit() *cobra.Command {
	return &cobra.Command{
		Use: "init [FOLDER]", Short: "Write a first test with its page, and say what is missing to run it",
		Example: `  toolfit test init
  toolfit test init tests`,
		Args: takes(0, 1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := testFolder
			if len(args) == 1 {
				dir = args[0]
			}
			written, err := writeFirstTest(dir)
			if err != nil {
				return err
			}
			parts := browser.Find(cmd.Context(), c.env.Lookup)
			missing := append([]browser.Lack{}, parts.Lacks(false)...)
			answer := map[string]any{
				"written": written, "ready": len(missing) == 0, "missing": missing,
				"node": parts.Node, "server": parts.Server, "browser": parts.Chromium,
			}
			return c.show(answer, func() error { return c.showFirstTest(dir, written, parts) })
		},
	}
}

// writeFirstTest writes the files, unless one of them exists.
func writeFirstTest(dir string) (written []string, err error) {
	files := map[string][]byte{}
	err = fs.WalkDir(firstTest, "firsttest", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(path, "firsttest/")))
		if exists(to) {
			return fault.New(fault.Conflict, "%s already exists", to).WithHint("choose another folder: toolfit test init FOLDER")
		}
		files[to], err = firstTest.ReadFile(path)
		written = append(written, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	schema := filepath.Join(dir, "steps.schema.json") // which first.yaml names
	if !exists(schema) {
		files[schema] = steps.Schema()
		written = append(written, schema)
	}
	for _, path := range written {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("create a folder for the test: %w", err)
		}
		if err := os.WriteFile(path, files[path], 0o644); err != nil {
			return nil, fmt.Errorf("write the first test: %w", err)
		}
	}
	return written, nil
}

func (c *command) showFirstTest(dir string, written []string, p *browser.Parts) error {
	for _, path := range written {
		c.say("wrote    %s\n", path)
	}
	if p.Node != "" {
		c.say("found    Node %s (%s)\n", p.Version, p.Node)
	}
	switch {
	case p.Server != "":
		c.say("found    the Playwright server (%s)\n", p.Server)
	case p.Node != "":
		c.say("note     npx will download %[1]s; to install it here: npm install %[1]s\n", browser.Download())
	}
	if p.Chromium != "" {
		c.say("found    a browser (%s)\n", p.Chromium)
	}
	for _, one := range p.Lacks(false) {
		c.say("missing  %s\n         → %s\n", c.translate(one.What), c.translate(one.Install))
	}
	run := c.word("now run: toolfit test")
	if p.Missing(false) != nil {
		run = c.word("install what is missing, then run: toolfit test")
	}
	if dir != testFolder {
		run += " " + dir
	}
	_, err := fmt.Fprintf(c.env.Out, "\n%s\n", run)
	return err
}
