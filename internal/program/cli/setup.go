package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/program/journal"
)

type setupFlags struct {
	clients                  []string
	secrets, profile         string
	service                  string
	yes, keep, stdio, dryRun bool
	project, undo            bool
}

func (c *command) setup() *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Take over the servers of the MCP clients on this machine",
		Long: `Take over the servers of the MCP clients on this machine.

It finds the files of the clients, adds their servers to your configuration, moves secrets out of
plain text, replaces the servers in the clients' files by toolfit, and starts the gateway. It shows
what it would do and asks first; without a terminal it needs --yes. Every changed file has a backup
beside it, and --undo puts all of them back.

The configuration is the one in your configuration folder, unless --config names another. Files of
the project in this folder are changed only with --project. Known clients: ` + clientNames() + `.`,
		Example: `  toolfit setup
  toolfit setup --dry-run
  toolfit setup --yes --client cursor --client codex
  toolfit setup --undo`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.beginSetup(f); err != nil {
				return err
			}
			j, err := c.openJournal()
			switch {
			case err != nil:
				return err
			case f.undo:
				return c.undoSetup(cmd.Context(), j, f.dryRun)
			case j.Last() != nil && !j.Last().Done:
				return fault.New(fault.Conflict, "an earlier setup was interrupted").
					WithHint("put back what it changed with: toolfit setup --undo; then try again")
			}
			return c.runSetup(cmd.Context(), j, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.yes, "yes", "y", false, "do it without asking")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the changes of each file, with secrets masked, and change nothing")
	flags.BoolVar(&f.undo, "undo", false, "put everything back as it was before the last setup")
	flags.StringArrayVar(&f.clients, "client", nil, "client to take over; can be repeated (default: every one that has servers)")
	flags.BoolVar(&f.project, "project", false, "also take over the servers of the project in this folder")
	flags.BoolVar(&f.keep, "keep", false, "leave the servers in the clients' files, beside toolfit")
	flags.StringVar(&f.secrets, "secrets", fileSecrets, "where to put values that look like secrets: file, env or keep")
	flags.BoolVar(&f.stdio, "stdio", false, "let the clients start toolfit, instead of giving them its URL")
	flags.StringVar(&f.profile, "profile", "", "profile for the clients (default: that of their key)")
	flags.StringVar(&f.service, "service", "", "what starts the gateway: systemd, launchd, task or none (default: as this system does)")
	return cmd
}

// beginSetup checks the flags and chooses the configuration, which all parts of setup use.
func (c *command) beginSetup(f setupFlags) error {
	for _, name := range f.clients {
		if _, err := clientNamed(name); err != nil {
			return err
		}
	}
	if err := checkWay(f.secrets); err != nil {
		return err
	}
	if path, ok := c.env.Lookup("TOOLFIT_CONFIG"); ok && c.config == "" {
		c.config = path
	}
	if c.config == "" {
		c.config = c.defaultConfig()
	}
	if c.config == "" {
		return fault.New(fault.BadConfig, "your configuration folder is unknown").WithHint("set HOME, or name the file with --config")
	}
	path, err := filepath.Abs(c.config)
	if err != nil {
		return fmt.Errorf("find %s: %w", c.config, err)
	}
	c.config = path
	return nil
}

func (c *command) openJournal() (*journal.Journal, error) {
	folder := stateFolder(runtime.GOOS, c.env)
	if folder == "" {
		return nil, fault.New(fault.BadConfig, "there is no home folder to store the journal of setup in").WithHint("set HOME")
	}
	return journal.Open(filepath.Join(folder, "setup.json"))
}

func (c *command) runSetup(ctx context.Context, j *journal.Journal, f setupFlags) error {
	p, err := c.planSetup(ctx, f)
	if err != nil {
		return err
	}
	if len(p.Clients) == 0 {
		return c.nobodyToTakeOver(p)
	}
	ours, theirs := p.changes()
	if f.dryRun {
		return c.show(p, func() error { return c.showDiff(p, ours, theirs) })
	}
	if !c.json {
		c.showPlan(p, len(theirs))
	}
	if len(ours)+len(theirs) == 0 {
		return c.nothingToDo(p)
	}
	if ok, err := c.agreed(ctx, f); err != nil || !ok {
		return errors.Join(err, c.printf(p, "nothing was changed; to do all this: toolfit setup --yes\n"))
	}
	run, err := j.Apply(ours, theirs, time.Now(), func() error {
		_, err := c.loadFile(c.config)
		return err
	})
	if err != nil {
		return err
	}
	p.Applied = true
	p.Secrets = p.in.moved
	for _, e := range append(run.Ours, run.Theirs...) {
		if e.Backup != "" {
			p.Backups = append(p.Backups, e.Backup)
		}
	}
	if p.Service.Works && !p.Running {
		if err := p.Service.register(ctx); err != nil {
			p.Service.Works = false
			p.Service.Error = err.Error()
		}
	}
	if err := c.show(p, func() error { c.showDone(p); return nil }); err != nil || !p.failed() {
		return err
	}
	return errSilent
}

// nothingToDo ends a setup that has nothing to change, because all is done or nothing can be.
func (c *command) nothingToDo(p *setupPlan) error {
	if p.failed() {
		return errors.Join(c.printf(p, "nothing was changed\n"), errSilent)
	}
	return c.show(p, func() error {
		c.say("everything is set up already; nothing was changed\n")
		if !p.Running && !p.f.stdio {
			c.say("the gateway is not running; start it with:\n")
			c.tellLines(p.Service)
		}
		return nil
	})
}

// agreed asks the person, unless a flag says yes. Nobody is asked without a terminal.
func (c *command) agreed(ctx context.Context, f setupFlags) (bool, error) {
	if f.yes || c.json || !c.onTerminal() || !terminal.Is(c.env.In) {
		return f.yes, nil
	}
	c.tell("Go ahead? [y/N] ")
	answer, err := c.lines()(ctx)
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(c.env.Err)
		return false, nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}

func (c *command) nobodyToTakeOver(p *setupPlan) error {
	if c.json {
		return c.printJSON(p)
	}
	if len(p.Idle) > 0 {
		c.say("no client here has servers to take over (found: %s)\n", strings.Join(p.Idle, ", "))
		c.say("add a server with: toolfit add; then connect a client with: toolfit setup --client %s\n", p.Idle[0])
		return nil
	}
	return c.say("no MCP client was found here; try toolfit with: toolfit demo, or add a server with: toolfit add NAME -- COMMAND\n")
}
