package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/state/config"
)

func (c *command) configCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Check the configuration file; print its schema for editors", Args: knownCommand, RunE: help,
		Example: `  toolfit config check
  toolfit config schema > toolfit.schema.json`,
	}
	cmd.AddCommand(c.configCheck(), c.printSchema("config", "Print the JSON Schema of the configuration file, for editors",
		"toolfit.schema.json", config.Schema()))
	return cmd
}

func (c *command) stepsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "steps", Short: "Print the schema of browser tests for editors", Args: knownCommand, RunE: help,
		Example: "  toolfit steps schema > steps.schema.json",
	}
	cmd.AddCommand(c.printSchema("steps", "Print the JSON Schema of browser tests, for editors", "steps.schema.json", steps.Schema()))
	return cmd
}

// configCheck reads the configuration as serve does, and starts nothing.
func (c *command) configCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE]", Short: "Check the configuration file without starting anything; toolfit doctor checks everything",
		Args:    takes(0, 1, "at most one file"),
		Example: "  toolfit config check\n  toolfit config check work.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				c.config = args[0]
			}
			cfg, err := c.load()
			if err != nil {
				return err
			}
			answer := map[string]any{"file": cfg.Path, "servers": len(cfg.Servers), "profiles": len(cfg.Profiles)}
			return c.printf(answer, "%s is valid: %s, %s\n", cfg.Path, c.count(len(cfg.Servers), "server"),
				c.count(len(cfg.Profiles), "profile"))
		},
	}
}

func (c *command) printSchema(of, short, file string, text []byte) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: short, Args: noArguments,
		Long: short + `.

Files that toolfit writes name it in their first line. To use it for another file, write it
beside that file, and this line first:

  # yaml-language-server: $schema=` + file,
		Example: "  toolfit " + of + " schema > " + file,
		RunE: func(*cobra.Command, []string) error {
			return c.printf(json.RawMessage(text), "%s", text)
		},
	}
}
