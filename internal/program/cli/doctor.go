package cli

import (
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/program/cli/doctor"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) doctor() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, store, servers, identity providers and address, and say what to do",
		Long: `Check configuration, store, servers, identity providers and address, and say what to do.

Each server is started or contacted once to list its tools. Nothing is changed. The exit code
is 1 if there is a problem.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.DiscardHandler)
			if c.debug {
				log = c.logger(slog.LevelInfo)
			}
			stop := c.waiting("checking everything")
			findings := doctor.Check(cmd.Context(), doctor.Options{
				Load: c.load, Lookup: c.env.Lookup, StateFolder: stateFolder(runtime.GOOS, c.env), Version: c.env.Version,
				Timeout: timeout, Logger: log, Now: time.Now,
			})
			stop()
			return c.printFindings(findings)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "timeout of each server")
	return cmd
}

func (c *command) printFindings(findings []doctor.Finding) error {
	t := terminal.Table{Wraps: true}
	for _, f := range findings {
		text := f.Message
		if f.Hint != "" {
			text += " → " + f.Hint
		}
		t.Row(f.Status, f.Subject, text)
	}
	err := c.show(map[string]any{"findings": findings}, func() error { return t.Print(c.env.Out) })
	if err == nil && slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.Status == doctor.Problem }) {
		err = errSilent
	}
	return err
}
