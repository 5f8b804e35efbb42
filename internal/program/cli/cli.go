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
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
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
	env := &Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Lookup: os.LookupEnv, Program: "toolfit", Open: openBrowser, Version: thisBuild().Version}
	if home, err := os.UserHomeDir(); err == nil {
		env.Home = home
	}
	if path, err := os.Executable(); err == nil {
		env.Program = path
	}
	return env
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
	c := &command{
		env: &own, out: &output{to: shown}, said: said, messages: &messages{to: said}, wire: env.Out, lang: languageOf(env, args),
	}
	own.Out = c.out
	own.Err = c.messages
	root := c.root()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		c.addCompletions(root)
	}
	speak(root, c.lang)
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if c.raw {
			shown.Raw()
			said.Raw()
		}
		if c.json { // for programs, which know one language
			c.lang = locale.English
		}
		return c.chooseLog()
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
	if !c.json && c.log == "json" {
		c.logger(slog.LevelError).Error("toolfit ended with an error", "error", asFault(err).Error())
		return
	}
	if !c.json {
		c.tell("toolfit: %s\n", c.explain(err))
		if code := explained(err); code != "" {
			c.tell("  more: toolfit explain %s\n", code)
		}
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
func (c *command) explain(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return indent(c.translate(err.Error()))
	}
	if f.Hint == "" {
		return indent(c.translate(f.Message))
	}
	return indent(c.translate(f.Message)) + "\n  → " + indent(c.translate(f.Hint))
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// command is what all commands share: output and global flags.
type command struct {
	env      *Env
	out      *output         // env.Out
	said     *visible.Writer // standard error
	messages *messages       // env.Err, which writes to it
	wire     io.Writer       // standard output unfiltered, for protocols
	lang     locale.Language // what people read; programs (--json) read English
	config   string
	json     bool
	raw      bool
	debug    bool
	log      string // text or json

	accessLog bool // of serve
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolfit",
		Short: "Fit any tool to any model: one gateway between AI agents and their tools",
		Example: `  toolfit demo
  toolfit setup
  toolfit add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolfit serve`,
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
	flags.Var(&langFlag{}, "lang", "language of what is printed, zh or en (default: as LC_ALL, LC_MESSAGES or LANG says)")
	flags.StringVar(&c.log, "log", "", "`form` of logs: text or json (default: TOOLFIT_LOG, or text)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w; see: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		c.serve(), c.stdio(), c.demo(), c.add(), c.remove(), c.importFile(), c.install(), c.setup(), c.servers(),
		c.tools(), c.search(), c.describe(), c.call(), c.prompt(), c.skill(), c.schemaCmd(), c.export(), c.calls(), c.savings(), c.suggest(), c.rules(),
		c.policy(), c.environment(), c.login(), c.logout(), c.connectionsCmd(), c.approvals(), c.recipes(),
		c.keys(), c.people(), c.audit(), c.auth(), c.secret(), c.backup(), c.restore(),
		c.chat(), c.recall(), c.doctor(), c.explainCode(), c.configCmd(), c.stepsCmd(), c.test(), c.version(), c.upgrade(),
		c.jqWorker(), c.scriptWorker(),
	)
	return root
}

// Commands are all commands, for what is written about them: man pages and completions.
func Commands() *cobra.Command { return (&command{env: &Env{}}).root() }

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
	opts := &slog.HandlerOptions{Level: level}
	if c.log == "json" {
		return slog.New(slog.NewJSONHandler(c.env.Err, opts))
	}
	return slog.New(slog.NewTextHandler(c.env.Err, opts))
}

// chooseLog reads the form of logs from the environment, unless a flag says it.
func (c *command) chooseLog() error {
	if c.log == "" {
		c.log, _ = c.env.Lookup("TOOLFIT_LOG")
	}
	switch c.log {
	case "", "text", "json":
		return nil
	}
	wrong := c.log
	c.log = ""
	return usage("logs are text or json, not %q; see --log and TOOLFIT_LOG", wrong)
}
