package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/linediff"
	"github.com/toolfit/toolfit/internal/base/secret"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/program/journal"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// showPlan says what would be done, before it is.
func (c *command) showPlan(p *setupPlan, files int) {
	t := terminal.Table{Head: []string{"CLIENT", "FILE", "SERVERS"}, Wraps: true}
	for _, one := range p.Clients {
		t.Row(one.Client, one.File, one.summary(c))
	}
	c.print(&t) // a lost output is noticed at the end
	c.tellStaying(p)
	c.note("", p.Notes)
	fmt.Fprintln(c.env.Out)
	if p.f.yes { // what is done is said then
		return
	}
	if names := p.outcome(wasAdded); len(names) > 0 {
		c.say("add to %s: %s\n", p.Config, strings.Join(names, ", "))
	}
	if n := len(p.Secrets.Files); n > 0 {
		c.say("move %s to %s%s\n", c.count(n, "secret"), p.in.folder(), c.word(alone))
	}
	if n := len(p.Secrets.Variables); n > 0 {
		c.say("move %s to environment variables that you set\n", c.count(n, "secret"))
	}
	switch {
	case files > 0 && p.f.keep:
		c.say("add toolfit to %s, with a backup of each\n", c.count(files, "file"))
	case files > 0:
		c.say("replace these servers by toolfit in %s, with a backup of each\n", c.count(files, "file"))
	}
	if p.Service.Works && !p.Running {
		c.say("start the gateway now and when you sign in, with %s\n", p.Service.File)
	}
}

// summary is the servers of a client in words.
func (one setupClient) summary(c *command) string {
	if one.Error != nil {
		return c.word("stays as it is")
	}
	var words []string
	for _, s := range one.Servers {
		word := s.Name
		switch {
		case s.Error != nil:
			word = c.lang.Sprintf("%s (stays)", word)
		case s.As != s.Name && s.As != "":
			word = c.lang.Sprintf("%s as %s", word, s.As)
		}
		if n := len(s.Secrets); n > 0 {
			word = c.lang.Sprintf("%s (%s in plain text)", word, c.count(n, "secret"))
		}
		words = append(words, line(word))
	}
	if len(words) == 0 {
		return c.word("none")
	}
	return strings.Join(words, ", ")
}

// tellStaying says what is not taken over, and why.
func (c *command) tellStaying(p *setupPlan) {
	for _, one := range p.Clients {
		if one.Error != nil {
			c.tell("the file of %s stays as it is: %s\n", one.Client, c.explain(one.Error))
		}
		for _, s := range one.Servers {
			if s.Error != nil {
				c.tell("%s stays in the file of %s: %s\n", line(s.Name), one.Client, c.explain(s.Error))
			}
		}
		c.note("", one.Notes)
	}
	if len(p.Idle) > 0 {
		c.tell("note: without servers, left alone: %s; connect one with: toolfit setup --client %s\n", strings.Join(p.Idle, ", "), p.Idle[0])
	}
}

// outcome is the names, in the configuration, of the servers with that outcome.
func (p *setupPlan) outcome(which string) (names []string) {
	for _, one := range p.Clients {
		for _, s := range one.Servers {
			if s.Outcome == which && !slices.Contains(names, s.As) {
				names = append(names, s.As)
			}
		}
	}
	return names
}

// showDone says what was done, and what comes next.
func (c *command) showDone(p *setupPlan) {
	if names := p.outcome(wasAdded); len(names) > 0 {
		c.say("added to %s: %s\n", p.Config, strings.Join(names, ", "))
	}
	c.tellSecrets(&p.in.mover)
	var restart []string
	for _, e := range p.edits {
		if e.Changed() {
			c.say("changed %s\n", e.Path)
		}
	}
	for _, one := range p.Clients {
		if one.Error == nil && !slices.Contains(restart, one.Client) {
			restart = append(restart, one.Client)
		}
	}
	if len(p.Backups) > 0 {
		c.say("the old files are beside them, as *.toolfit-backup-*; they have the secrets that the files had\n")
	}
	c.tellService(p)
	do := "toolfit"
	if c.usualConfig() != p.Config {
		do = shell.Join([]string{"toolfit", "--config", p.Config})
	}
	c.say("\nconsole  %s (sign in with: toolfit secret)\n", p.Console)
	c.say("next     restart %s; then: %s doctor, %s tools\n", strings.Join(restart, ", "), do, do)
	c.say("undo     toolfit setup --undo\n")
}

func (c *command) tellService(p *setupPlan) {
	switch {
	case p.Running:
		c.say("the gateway is running already, and takes the change over\n")
		return
	case p.Service.Works:
		c.say("the gateway is started, now and when you sign in; its log: journalctl --user -u toolfit\n")
		return
	case p.f.stdio && p.Service.Kind == byNobody:
		c.say("the clients start toolfit themselves; to have the console as well, run:\n")
	case p.Service.Error != "":
		c.tell("note: the gateway could not be started: %s\n", indent(c.translate(p.Service.Error)))
		c.say("start the gateway with:\n")
	default:
		c.say("start the gateway with:\n")
	}
	c.tellLines(p.Service)
}

// tellLines prints what is left to do for the service.
func (c *command) tellLines(s service) {
	for _, line := range s.Lines {
		c.say("  %s\n", line)
	}
	if s.File == "" && s.Text != "" {
		c.say("after you have saved this, on the other system:\n%s", s.Text)
	}
}

// usualConfig is the configuration that commands use in this folder without --config.
func (c *command) usualConfig() string {
	usual := *c
	usual.config = ""
	path, err := filepath.Abs(usual.configPath())
	if err != nil {
		return ""
	}
	return path
}

// showDiff shows every change of a file, with secrets masked.
func (c *command) showDiff(p *setupPlan, ours, theirs []journal.Change) error {
	c.tellStaying(p)
	all := slices.Concat(ours, theirs)
	var secrets []string
	for _, change := range all {
		if text, ok := p.in.unwritten[change.Path]; ok {
			secrets = append(secrets, strings.TrimSpace(text))
		}
		secrets = append(secrets, clientfile.Secrets(change.Path, change.Old)...)
		secrets = append(secrets, clientfile.Secrets(change.Path, change.New)...)
	}
	for _, v := range p.in.Variables {
		secrets = append(secrets, v.Value)
	}
	finder := secret.NewFinder(secrets)
	for _, change := range all {
		from := change.Path
		if change.Old == nil {
			from = "/dev/null"
		}
		if bytes.Equal(change.New, config.Schema()) { // the same for everybody, and long
			c.say("+++ %s: the schema by which editors check the configuration\n", change.Path)
			continue
		}
		text := linediff.Unified(from, change.Path, string(change.Old), string(change.New))
		if masked, n := finder.Redact([]byte(text), "***"); n > 0 {
			text = string(masked)
		}
		fmt.Fprint(c.env.Out, text)
	}
	c.note("", p.Notes)
	c.tell("nothing was changed\n")
	return nil
}

type undone struct {
	DryRun bool `json:"dryRun,omitempty"`
	journal.Outcome
}

// undoSetup puts back what the last setup changed.
func (c *command) undoSetup(ctx context.Context, j *journal.Journal, dryRun bool) error {
	if j.Last() == nil {
		return c.printf(undone{Outcome: journal.Outcome{Back: []string{}, Removed: []string{}}}, "there is no setup to undo\n")
	}
	outcome, err := j.Undo(journal.Hooks{
		DryRun: dryRun,
		Mend: func(path string, now, before []byte) ([]byte, bool) {
			return clientfile.Restore(path, now, before, clients.Own)
		},
		Gone: func(path string) {
			if filepath.Base(path) == unitName {
				systemctl(ctx, "disable", "--now", unitName) // it may never have been enabled
			}
		},
	})
	if err != nil {
		return err
	}
	if err := c.show(undone{dryRun, outcome}, func() error { c.showUndone(outcome, dryRun); return nil }); err != nil {
		return err
	}
	if len(outcome.Left) > 0 {
		return errSilent
	}
	return nil
}

func (c *command) showUndone(outcome journal.Outcome, dryRun bool) {
	for _, path := range outcome.Back {
		if dryRun {
			c.say("would put back %s\n", path)
		} else {
			c.say("put back %s\n", path)
		}
	}
	for _, path := range outcome.Removed {
		if dryRun {
			c.say("would remove %s\n", path)
		} else {
			c.say("removed %s\n", path)
		}
	}
	for _, left := range outcome.Left {
		c.tell("toolfit: %s is left as it is: %s\n", left.Path, c.translate(left.Why))
		if left.Backup != "" {
			c.tell("  → compare it with the old file, and put that back by hand: %s\n", copyLine(runtime.GOOS, left.Backup, left.Path))
		} else {
			c.tell("  → it did not exist before: remove it by hand if nothing needs it\n")
		}
	}
	if len(outcome.Left) > 0 {
		c.tell("what these files rely on stays; after that, run toolfit setup --undo again\n")
	}
}

// copyLine is the command that copies a file.
func copyLine(system, from, to string) string {
	if system == "windows" {
		return `copy "` + from + `" "` + to + `"`
	}
	return shell.Join([]string{"cp", from, to})
}
