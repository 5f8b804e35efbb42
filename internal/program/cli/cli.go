// Package cli is the command line: one file per command. Commands that list or call tools use
// the REST API of the gateway at --url, of the one running with the same configuration, or of
// one that they start in this process; --json prints the answers of that API.
//
// Exit codes: 0 success, 1 failure, 2 wrong usage.
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

// Env is what a command needs from its surroundings.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Lookup   func(string) (string, bool) // environment variables
	Home     string                      // the user's home folder
	Program  string                      // path of this program, for clients that start it
	Open     func(page string) error     // opens a page in the user's browser; nil: it is only printed
	Version  string
}

// System is the environment of the real process.
func System() *Env {
	env := &Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Lookup: os.LookupEnv, Program: "toolfit", Open: openBrowser, Version: buildVersion()}
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

// usageError is an error in how the command was written.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errSilent is an error that has already been printed.
var errSilent = errors.New("")

// Run runs a command and returns the exit code.
func Run(ctx context.Context, args []string, env *Env) int {
	own := *env
	shown := visible.NewWriter(env.Out)
	said := visible.NewWriter(env.Err)
	c := &command{env: &own, out: &output{to: shown}, said: said, wire: env.Out}
	own.Out = c.out
	own.Err = said
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

// complain prints an error: for people, or with --json as the REST API would.
func (c *command) complain(err error) {
	if !c.json {
		fmt.Fprintf(c.env.Err, "toolfit: %s\n", explain(err))
		return
	}
	printJSON(c.env.Err, map[string]*fault.Error{"error": asFault(err)})
}

// asFault is an error in the form of the REST API, with all details.
func asFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.New(fault.Internal, "%w", err)
}

// explain is an error as text, with its hint on a line of its own. Further lines are indented,
// so that a server's text cannot pass for ours.
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

// command is what all commands share: output and global flags.
type command struct {
	env    *Env
	out    *output         // env.Out
	said   *visible.Writer // env.Err
	wire   io.Writer       // standard output unfiltered, for protocols
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
		Version:       c.env.Version, // for --version
		Args:          knownCommand,
		RunE:          help,
	}
	root.SetVersionTemplate("toolfit {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVarP(&c.config, "config", "c", "", "configuration `file` (default: toolfit.yaml here, or in the user's configuration folder)")
	flags.BoolVar(&c.json, "json", false, "print JSON, as the REST API does")
	flags.BoolVar(&c.raw, "raw", false, "print text of servers and models unfiltered, with control and invisible characters")
	flags.BoolVar(&c.debug, "debug", false, "print debug logs")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w; see: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		c.serve(), c.stdio(), c.demo(), c.add(), c.remove(), c.importFile(), c.install(), c.servers(),
		c.tools(), c.search(), c.describe(), c.call(), c.prompt(), c.skill(), c.schemaCmd(), c.export(), c.calls(), c.savings(), c.suggest(), c.rules(),
		c.policy(), c.environment(), c.login(), c.logout(), c.connectionsCmd(), c.approvals(), c.recipes(),
		c.keys(), c.people(), c.audit(), c.auth(), c.secret(),
		c.chat(), c.recall(), c.doctor(), c.test(), c.version(), c.jqWorker(), c.scriptWorker(),
	)
	return root
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// knownCommand rejects unknown subcommands and suggests the nearest.
func knownCommand(of *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	of.SuggestionsMinimumDistance = 2
	if near := of.SuggestionsFor(word); len(near) > 0 {
		return usage("unknown command %q; did you mean: %s %s", word, of.CommandPath(), strings.Join(near, ", "))
	}
	return usage("unknown command %q; see: %s --help", word, of.CommandPath())
}

// takes checks the number of arguments; what names them. A negative most is no limit.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		name := strings.TrimPrefix(cmd.CommandPath(), "toolfit ") // the message begins with the program's
		return usage("%s takes %s; see: %s --help", name, what, cmd.CommandPath())
	}
}

var noArguments = takes(0, 0, "no arguments")

// logger logs from the level on, or everything with --debug.
func (c *command) logger(level slog.Level) *slog.Logger {
	if c.debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(c.env.Err, &slog.HandlerOptions{Level: level}))
}

func (c *command) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return c.printf(map[string]string{"version": c.env.Version}, "%s\n", strings.TrimSpace("toolfit "+c.env.Version))
		},
	}
}
