package cli

import (
	"context"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/cli/doctor"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) doctor() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "doctor",
		Example: `  toolfit doctor
  toolfit doctor --timeout 2m --json`,
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
			p := c.progress()
			findings := doctor.Check(cmd.Context(), doctor.Options{
				Load: c.load, Lookup: c.env.Lookup, StateFolder: stateFolder(runtime.GOOS, c.env), Version: c.env.Version,
				Timeout: timeout, Logger: log, Now: time.Now, Progress: p,
			})
			p.End()
			if err := context.Cause(cmd.Context()); err != nil { // what it found is not the servers' fault
				return fault.New(fault.Canceled, "canceled before everything was checked: %w", err)
			}
			return c.printFindings(findings)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "timeout of each server")
	return cmd
}

// counted is a finding that is a number with a noun alone.
var counted = regexp.MustCompile(`^(\d+) ([a-z]+?)s?$`)

func (c *command) printFindings(findings []doctor.Finding) error {
	t := terminal.Table{Wraps: true}
	for _, f := range findings {
		text := c.finding(f)
		if f.Hint != "" {
			text += " → " + c.translate(f.Hint)
		}
		t.Row(c.word(f.Status), c.subject(f.Subject), text)
	}
	err := c.show(map[string]any{"findings": findings}, func() error { return c.print(&t) })
	if err == nil && slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.Status == doctor.Problem }) {
		err = errSilent
	}
	return err
}

// subject is a word of ours, perhaps with a name: "server files".
func (c *command) subject(text string) string {
	if word := c.word(text); word != text {
		return word
	}
	kind, _, _ := strings.Cut(text, " ")
	return strings.Replace(text, kind, c.word(kind), 1)
}

// finding is the message of a finding: a count alone, a sentence, or one whose beginning is the subject.
func (c *command) finding(f doctor.Finding) string {
	if m := counted.FindStringSubmatch(f.Message); m != nil {
		n, _ := strconv.Atoi(m[1])
		return c.count(n, m[2])
	}
	whole := f.Subject + " " + f.Message
	if text := c.translate(whole); text != whole && c.translate(f.Message) == f.Message {
		return text
	}
	return c.translate(f.Message)
}
