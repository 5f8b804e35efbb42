// Package cli is the command line: one file per command. Commands that look at tools or
// call them speak the REST API: to the gateway at --url, to the one that runs with the same
// configuration, or to one that they assemble themselves from configuration and store; --json
// prints what that API answers.
//
// Exit codes: 0 it worked, 1 the thing asked for did not, 2 wrong usage.
//
//	os.Exit(cli.Run(ctx, os.Args[1:], cli.System()))
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/visible"
)

// Env is the world around a command.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Lookup   func(string) (string, bool) // environment variables
	Home     string                      // folder of the user, where clients keep their files
	Program  string                      // path of this program, for clients that start it
	Version  string
}

// System is the world of the real process.
func System() *Env {
	env := &Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Lookup: os.LookupEnv, Program: "toolfit", Version: buildVersion()}
	if home, err := os.UserHomeDir(); err == nil {
		env.Home = home
	}
	if path, err := os.Executable(); err == nil {
		env.Program = path
	}
	return env
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// usageError marks what the user wrote wrongly.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errSilent is an error that has been shown already.
var errSilent = errors.New("")

// Run carries out one command and returns the exit code.
func Run(ctx context.Context, args []string, env *Env) int {
	own := *env
	shown, said := visible.NewWriter(env.Out), visible.NewWriter(env.Err)
	c := &command{env: &own, out: &output{to: shown}, said: said, wire: env.Out}
	own.Out, own.Err = c.out, said
	root := c.root()
	root.PersistentPreRun = func(*cobra.Command, []string) {
		if c.raw {
			shown.Raw()
			said.Raw()
		}
	}
	args, err := dashed(env, args)
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(own.Out)
	root.SetErr(own.Err)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		err = errors.Join(c.out.lost(), shown.Flush())
	}
	defer said.Flush()
	var bad usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSilent):
		return 1
	case errors.As(err, &bad):
		c.complain(fault.New(fault.BadRequest, "%w", err))
		return 2
	}
	c.complain(err)
	return 1
}

// complain says what went wrong: to a person, or with --json in the form of the REST API.
func (c *command) complain(err error) {
	if !c.json {
		fmt.Fprintf(c.env.Err, "toolfit: %s\n", explain(err))
		return
	}
	printJSON(c.env.Err, map[string]*fault.Error{"error": asFault(err)})
}

// asFault is an error in the form of the REST API. Who runs a command may read all of it.
func asFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.New(fault.Internal, "%w", err)
}

// explain is the text of an error for a person: a fault with its hint on a line of its own.
// Further lines are indented, so that none of a server's looks like one of ours.
func explain(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return indent(err.Error())
	}
	if f.Hint == "" {
		return indent(f.Message)
	}
	return indent(f.Message) + "\n  → " + indent(f.Hint)
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// command is the state that all commands share: the flags.
type command struct {
	env    *Env
	out    *output         // env.Out
	said   *visible.Writer // env.Err
	wire   io.Writer       // standard output as it is, for protocols
	config string
	json   bool
	raw    bool
	debug  bool
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "toolfit",
		Short:         "Fit any tool to any model: one gateway between AI agents and their tools",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       c.env.Version, // --version, which many try first
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(root, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("toolfit {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVarP(&c.config, "config", "c", "", "configuration file (default: toolfit.yaml here, then in the user's configuration folder)")
	flags.BoolVar(&c.json, "json", false, "print JSON, as the REST API would")
	flags.BoolVar(&c.raw, "raw", false, "print text of servers and models as it is: with control, invisible and direction characters")
	flags.BoolVar(&c.debug, "debug", false, "log more")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w; see: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		c.serve(), c.stdio(), c.demo(), c.add(), c.remove(), c.importFile(), c.install(), c.servers(),
		c.tools(), c.search(), c.describe(), c.call(), c.prompt(), c.schemaCmd(), c.export(), c.savings(), c.suggest(), c.rules(), c.environment(), c.keys(), c.secret(), c.chat(), c.recall(), c.doctor(), c.test(), c.version(), c.jqWorker(),
	)
	return root
}

// unknownCommand names the command that was probably meant.
func unknownCommand(of *cobra.Command, word string) error {
	of.SuggestionsMinimumDistance = 2
	if near := of.SuggestionsFor(word); len(near) > 0 {
		return usage("unknown command %q; did you mean: %s %s", word, of.CommandPath(), strings.Join(near, ", "))
	}
	return usage("unknown command %q; see: %s --help", word, of.CommandPath())
}

// exactly checks the number of arguments and says what they are.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usage("%s takes %s; see: %s --help", cmd.CommandPath(), what, cmd.CommandPath())
	}
}

// logger is the log of commands that serve. Those that answer one question log from a
// higher level on: a server that has nothing to do with the question is not worth a line.
func (c *command) logger(level slog.Level) *slog.Logger {
	if c.debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(c.env.Err, &slog.HandlerOptions{Level: level}))
}

func (c *command) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if c.json {
				return c.printJSON(map[string]string{"version": c.env.Version})
			}
			_, err := fmt.Fprintln(c.env.Out, strings.TrimSpace("toolfit "+c.env.Version))
			return err
		},
	}
}
