package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/core/script"
)

// scriptWorker is how the gateway runs a model's script in a process of its own.
func (c *command) scriptWorker() *cobra.Command {
	return &cobra.Command{
		Use: script.Argument, Hidden: true, Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if script.Main(c.env.In, c.wire) != 0 {
				return errSilent
			}
			return nil
		},
	}
}
