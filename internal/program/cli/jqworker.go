package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/core/project/jqworker"
)

// jqWorker is how the gateway runs a model's jq program in a process of its own.
func (c *command) jqWorker() *cobra.Command {
	return &cobra.Command{
		Use: jqworker.Argument, Hidden: true, Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if jqworker.Main(c.env.In, c.wire) != 0 {
				return errSilent
			}
			return nil
		},
	}
}
