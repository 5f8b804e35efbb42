package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/core/project/jqworker"
)

// jqWorker is how the gateway starts itself to run the jq program of a model apart.
func (c *command) jqWorker() *cobra.Command {
	return &cobra.Command{
		Use: jqworker.Argument, Hidden: true, Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if jqworker.Main(c.env.In, c.wire) != 0 {
				return errSilent
			}
			return nil
		},
	}
}
