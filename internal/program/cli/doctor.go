package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// The results of a check.
const (
	good    = "ok"
	warning = "warning"
	problem = "problem"
)

// finding is what one check found.
type finding struct {
	Status  string `json:"status"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do
}

// doctor looks at everything that a gateway needs and collects what it finds.
type doctor struct {
	*command
	patience time.Duration
	now      func() time.Time

	mu       sync.Mutex
	findings []finding
	listed   heard // what servers have listed
}

func (c *command) doctor() *cobra.Command {
	d := &doctor{command: c, now: time.Now, listed: heard{}}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, store, servers and address, and say what to do",
		Long: `Check configuration, store, servers and address, and say what to do.

Each server is started or reached once and asked for its tools, as a gateway would. Nothing
is changed. The exit code is 1 when there is a problem.`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			stop := c.waiting("looking at everything")
			d.check(cmd.Context())
			stop()
			return d.report()
		},
	}
	cmd.Flags().DurationVar(&d.patience, "patience", 30*time.Second, "how long one server may take")
	return cmd
}

func (d *doctor) say(status, subject, message, hint string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	d.findings = append(d.findings, finding{status, subject, oneLine(message), oneLine(hint)})
}

// blame says what an error is, and its hint.
func (d *doctor) blame(subject string, err error) {
	var f *fault.Error
	if !errors.As(err, &f) {
		f = fault.New(fault.Internal, "%w", err)
	}
	d.say(problem, subject, f.Message, f.Hint)
}

func (d *doctor) check(ctx context.Context) {
	cfg := d.configuration()
	if cfg == nil {
		d.clock(time.Time{})
		return
	}
	kept := d.store(ctx, cfg)
	d.address(ctx, cfg)
	d.access(cfg, kept.keys)
	d.proxies(cfg)
	d.servers(ctx, cfg, kept)
	d.recall(ctx, cfg, kept.servers)
	d.clock(kept.newest)
}

// configuration reads the file. Each of its problems is a finding of its own.
func (d *doctor) configuration() *config.Config {
	const subject = "configuration"
	cfg, err := d.load()
	if fault.Is(err, fault.BadConfig) {
		f := fault.As(err)
		for line := range strings.Lines(f.Message) {
			d.say(problem, subject, line, f.Hint)
		}
		return nil
	}
	if err != nil {
		d.blame(subject, err)
		return nil
	}
	d.say(good, subject, fmt.Sprintf("%s: %s, %s", cfg.Path, count(len(cfg.Servers), "server"), count(len(cfg.Profiles), "profile")), "")
	if len(cfg.Servers) == 0 && cfg.Recall == nil { // action recall works with tools of other services
		d.say(warning, subject, "there are no servers", "add one with: toolfit add NAME -- COMMAND, or take over those of a client: toolfit import")
	}
	return cfg
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// kept is what the store holds.
type kept struct {
	keys    int            // -1 when that is not known
	newest  time.Time      // when the newest call was
	servers []config.Added // that were added while running
	agents  []config.Agent // likewise
}

// store opens the store and looks whether it could be written to.
func (d *doctor) store(ctx context.Context, cfg *config.Config) kept {
	const subject = "store"
	inFile := !strings.Contains(cfg.Store, "://")
	if inFile && !exists(cfg.Store) { // to look is not to make one
		d.missingStore(cfg.Store)
		return kept{}
	}
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	key, err := app.SecretKey(d.env.Lookup)
	if err != nil {
		d.blame(subject, err)
		return kept{keys: -1}
	}
	st, err := store.Open(ctx, cfg.Store, &store.Options{SecretKey: key})
	if err != nil {
		d.blame(subject, err)
		return kept{keys: -1}
	}
	defer st.Close()
	k, err := d.look(ctx, cfg, st)
	if err != nil {
		d.blame(subject, err)
		return kept{keys: -1}
	}
	message := "opens and can be written to"
	if inFile {
		message = fmt.Sprintf("%s %s, %s", cfg.Store, message, size(cfg.Store))
	}
	d.say(good, subject, message, "")
	return k
}

// look reads what the store holds.
func (d *doctor) look(ctx context.Context, cfg *config.Config, st *store.Store) (k kept, err error) {
	// No key has such a name: this writes nothing, and finds out whether it could.
	if err := st.DeleteKey(ctx, "no such key"); err != nil && !fault.Is(err, fault.NotFound) {
		return k, err
	}
	keys, err := st.Keys(ctx)
	if err != nil {
		return k, err
	}
	k.keys = len(keys)
	calls, err := st.Calls(ctx, store.CallFilter{Limit: 1})
	if err != nil {
		return k, err
	}
	if len(calls) > 0 {
		k.newest = calls[0].At
	}
	rows, err := st.ServerConfigs(ctx)
	if err != nil {
		return k, err
	}
	for _, row := range rows {
		if slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.ID == row.ID }) {
			d.say(warning, "server "+string(row.ID), "is in the file and in the store; the file wins", "remove one of the two")
			continue
		}
		added, err := config.Added{}, row.Err
		if err == nil {
			added, err = config.ParseServer(cfg.Path, row.Config, d.env.Lookup)
		}
		if err != nil {
			d.blame("server "+string(row.ID), err)
			continue
		}
		k.servers = append(k.servers, added)
	}
	k.agents, err = d.storedAgents(ctx, cfg, st)
	return k, err
}

// missingStore says whether a store can be made where there is none.
func (d *doctor) missingStore(path string) {
	const subject = "store"
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".toolfit-doctor-*")
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir == stateFolder(runtime.GOOS, d.env): // which is made with it
		d.say(good, subject, path+" is made at the first start", "")
	case errors.Is(err, fs.ErrNotExist):
		d.say(problem, subject, "folder "+dir+" does not exist", "make the folder, or set store: to another path")
	case err != nil:
		d.say(problem, subject, "no store can be made: "+err.Error(), "check who may write to folder "+dir)
	default:
		f.Close()
		os.Remove(f.Name())
		d.say(good, subject, path+" is made at the first start", "")
	}
}

// size is what a SQLite store takes on the disk, with its journal.
func size(path string) string {
	var bytes int64
	for _, part := range []string{path, path + "-wal"} {
		if info, err := os.Stat(part); err == nil {
			bytes += info.Size()
		}
	}
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d KB", (bytes+1023)/1024)
}

// access looks at who could come in.
func (d *doctor) access(cfg *config.Config, keys int) {
	const subject, makeOne = "access", "make one: toolfit keys create NAME --role admin --profile '*'"
	open := !access.IsLoopback(cfg.Listen)
	behind := len(cfg.Hosts) > 0 || len(cfg.Proxies) > 0
	switch {
	case keys < 0:
		return // the store's finding says why
	case keys == 0 && open:
		d.say(problem, subject, cfg.Listen+" can be reached from other machines, and there are no keys", makeOne+"; or listen on 127.0.0.1")
	case keys == 0 && behind:
		d.say(warning, subject, "hosts or proxies are set and there are no keys: whoever comes through a proxy is refused", makeOne)
		d.local()
	case keys == 0:
		d.say(good, subject, "no keys: programs of this user on this machine may list and call tools; the rest needs the local secret", "")
		d.local()
	case open && len(cfg.Hosts) == 0:
		d.say(warning, subject, cfg.Listen+" can be reached from other machines, but requests must name a loopback Host", "add the names by which it is reached to hosts")
	default:
		d.say(good, subject, count(keys, "key"), "")
	}
}

// local looks at what tells this user from the others on this machine.
func (d *doctor) local() {
	const secret = "local secret"
	folder := stateFolder(runtime.GOOS, d.env)
	switch _, err := access.ReadLocalSecret(folder); {
	case folder == "":
		d.say(warning, secret, "this user has no home folder to keep it in: only the link that serve prints signs in", "set HOME")
	case errors.Is(err, fs.ErrNotExist):
		d.say(good, secret, "is made at the first start, in "+folder, "")
	case err != nil:
		f := asFault(err)
		d.say(problem, secret, f.Message, f.Hint)
	default:
		d.say(good, secret, "only this user can read it, in "+folder, "")
	}
	if inbound.CanIdentify() {
		d.say(good, "other users", "of this machine are told apart by their connections, and refused", "")
	} else {
		d.say(warning, "other users", "of this machine cannot be told apart on this system: they may list and call tools", "make a key: toolfit keys create NAME --role admin --profile '*'")
	}
}

// clock compares the time with what is known to lie in the past.
func (d *doctor) clock(newest time.Time) {
	const subject, set = "clock", "set the time of this machine"
	now := d.now()
	switch {
	case now.Year() < 2026:
		d.say(problem, subject, "it is "+now.Format(time.RFC3339)+", which was before toolfit", set)
	case newest.After(now.Add(time.Minute)):
		d.say(warning, subject, "the newest record is of "+newest.Format(time.RFC3339)+", which is still to come", set+", or that of the machine that wrote it")
	default:
		d.say(good, subject, now.Format(time.RFC3339), "")
	}
}

// report prints the findings, and fails when there is a problem.
func (d *doctor) report() error {
	problems := 0
	for _, f := range d.findings {
		if f.Status == problem {
			problems++
		}
	}
	if d.json {
		if err := d.printJSON(map[string]any{"findings": d.findings}); err != nil {
			return err
		}
	} else {
		t := table{wraps: true}
		for _, f := range d.findings {
			text := f.Message
			if f.Hint != "" {
				text += " → " + f.Hint
			}
			t.row(string(f.Status), f.Subject, text)
		}
		if err := t.print(d.env.Out); err != nil {
			return err
		}
	}
	if problems > 0 {
		return errSilent
	}
	return nil
}

// quiet is a logger for parts whose findings are told otherwise.
func (d *doctor) quiet() *slog.Logger {
	if d.debug {
		return d.logger(slog.LevelInfo)
	}
	return slog.New(slog.DiscardHandler)
}
