// Package doctor checks everything that a gateway needs: configuration, store, address, access,
// identity providers, proxies, servers, agents and the clock. It starts servers to list their tools, with a store of
// its own, and changes nothing.
//
//	for _, f := range doctor.Check(ctx, doctor.Options{Load: load, Timeout: time.Minute, …}) { … }
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// The results of a check.
const (
	good    = "ok"
	warning = "warning"
	Problem = "problem"
)

// Finding is the result of one check.
type Finding struct {
	Status  string `json:"status"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do
}

// Options are what the checks need. All but Progress are required.
type Options struct {
	Load        func() (*config.Config, error)
	Lookup      func(string) (string, bool) // environment variables
	StateFolder string                      // of the user; "" without a home folder
	Version     string
	Timeout     time.Duration // of the store and of each server
	Logger      *slog.Logger  // of the gateway that lists the tools
	Now         func() time.Time
	Progress    *terminal.Progress // tells what is checked now; nil: nobody
}

type doctor struct {
	Options
	mu       sync.Mutex
	findings []Finding
	listed   heard // tools that servers have listed
}

// Check runs all checks.
func Check(ctx context.Context, opts Options) []Finding {
	d := &doctor{Options: opts, listed: heard{}}
	d.check(ctx)
	return d.findings
}

func (d *doctor) say(status, subject, message, hint string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	d.findings = append(d.findings, Finding{status, subject, oneLine(message), oneLine(hint)})
}

// blame reports an error as a problem.
func (d *doctor) blame(subject string, err error) {
	f := &fault.Error{Message: err.Error()}
	errors.As(err, &f)
	d.say(Problem, subject, f.Message, f.Hint)
}

func (d *doctor) check(ctx context.Context) {
	cfg := d.configuration()
	if cfg == nil {
		d.clock(time.Time{})
		return
	}
	d.Progress.Say("checking the store")
	stored := d.store(ctx, cfg)
	d.Progress.Say("checking the address")
	running := d.address(ctx, cfg)
	d.access(cfg, stored.keys)
	d.Progress.Say("checking the identity providers")
	d.identity(ctx, cfg, running)
	d.proxies(cfg)
	d.servers(ctx, cfg, stored)
	d.Progress.Say("checking action recall")
	d.recall(ctx, cfg, stored.servers)
	d.clock(stored.newest)
}

// configuration reads the file and reports each of its problems.
func (d *doctor) configuration() *config.Config {
	const subject = "configuration"
	cfg, err := d.Load()
	if fault.Is(err, fault.BadConfig) {
		f := fault.As(err)
		for line := range strings.Lines(f.Message) {
			d.say(Problem, subject, line, f.Hint)
		}
		return nil
	}
	if err != nil {
		d.blame(subject, err)
		return nil
	}
	d.say(good, subject, fmt.Sprintf("%s: %s, %s", cfg.Path, terminal.Count(len(cfg.Servers), "server"),
		terminal.Count(len(cfg.Profiles), "profile")), "")
	if len(cfg.Servers) == 0 && cfg.Recall == nil { // action recall also works without
		d.say(warning, subject, "there are no servers",
			"add one with: toolfit add NAME -- COMMAND, or import those of a client with: toolfit import")
	}
	return cfg
}

type stored struct {
	keys    int                    // -1: unknown
	newest  time.Time              // time of the newest call
	servers []config.Added         // added at run time
	agents  []config.Agent         // added at run time
	tokens  map[tool.ServerID]lent // for servers that people sign in to
}

// store checks that the store opens and can be written to.
func (d *doctor) store(ctx context.Context, cfg *config.Config) stored {
	const subject = "store"
	inFile := !strings.Contains(cfg.Store, "://")
	if _, err := os.Stat(cfg.Store); inFile && errors.Is(err, fs.ErrNotExist) { // opening would create it
		d.missingStore(cfg.Store)
		return stored{}
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	found, err := d.openStore(ctx, cfg)
	if err != nil {
		d.blame(subject, err)
		return stored{keys: -1}
	}
	message := "can be read and written"
	if inFile {
		message = fmt.Sprintf("%s %s, %s", cfg.Store, message, size(cfg.Store))
	}
	d.say(good, subject, message, "")
	return found
}

// rotation says whether the older keys of TOOLFIT_SECRET_KEY are still needed.
func (d *doctor) rotation(ctx context.Context, st *store.Store) error {
	const subject = "secret key"
	n, err := st.SealedBefore(ctx)
	switch {
	case err != nil:
		return err
	case n > 0:
		d.say(warning, subject, fmt.Sprintf("%d rows of the store are encrypted with an older key", n),
			"keep the older keys; a gateway with the new one first encrypts them anew when it starts")
	default:
		d.say(good, subject, "nothing that lasts needs the older keys; records and stored results of before do until they expire", "")
	}
	return nil
}

func (d *doctor) openStore(ctx context.Context, cfg *config.Config) (found stored, err error) {
	key, err := app.SecretKey(d.Lookup)
	if err != nil {
		return found, err
	}
	st, err := store.Open(ctx, cfg.Store, &store.Options{SecretKey: key})
	if err != nil {
		return found, err
	}
	defer st.Close()
	if key.HasOlder() {
		if err := d.rotation(ctx, st); err != nil {
			return found, err
		}
	}
	// No key has this name, so this only tests whether the store can be written to.
	if _, err := st.DeleteKey(ctx, "no such key"); err != nil && !fault.Is(err, fault.NotFound) {
		return found, err
	}
	keys, err := st.Keys(ctx)
	if err != nil {
		return found, err
	}
	found.keys = len(keys)
	calls, err := st.Calls(ctx, store.CallFilter{Limit: 1})
	if err != nil {
		return found, err
	}
	if len(calls) > 0 {
		found.newest = calls[0].At
	}
	rows, err := st.ServerConfigs(ctx)
	if err != nil {
		return found, err
	}
	for _, row := range rows {
		if slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.ID == row.ID }) {
			d.say(warning, "server "+string(row.ID), "is in the file and in the store; the file wins", "remove one of the two")
			continue
		}
		var added config.Added
		err := row.Err
		if err == nil {
			added, err = config.ParseServer(cfg.Path, row.Config, d.Lookup)
		}
		if err != nil {
			d.blame("server "+string(row.ID), err)
			continue
		}
		found.servers = append(found.servers, added)
	}
	found.tokens = d.tokens(ctx, cfg, found.servers, st)
	found.agents, err = d.storedAgents(ctx, cfg, st)
	return found, err
}

// missingStore checks that the store can be created.
func (d *doctor) missingStore(path string) {
	const subject = "store"
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".toolfit-doctor-*")
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir == d.StateFolder: // created on the first start, too
		d.say(good, subject, path+" will be created on the first start", "")
	case errors.Is(err, fs.ErrNotExist):
		d.say(Problem, subject, "folder "+dir+" does not exist", "create the folder, or set store: to another path")
	case err != nil:
		d.say(Problem, subject, "cannot create the store: "+err.Error(), "check the permissions of folder "+dir)
	default:
		f.Close()
		os.Remove(f.Name())
		d.say(good, subject, path+" will be created on the first start", "")
	}
}

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

func (d *doctor) access(cfg *config.Config, keys int) {
	const subject, makeOne = "access", "create one: toolfit keys create NAME --role admin --profile '*'"
	open := !access.IsLoopback(cfg.Listen)
	behind := len(cfg.Hosts) > 0 || len(cfg.Proxies) > 0
	switch {
	case keys < 0:
		return // reported with the store
	case keys == 0 && len(cfg.Identity) > 0:
		d.say(good, subject, "people and services sign in; there are no keys for when an identity provider is away", makeOne)
	case keys == 0 && open:
		d.say(Problem, subject, cfg.Listen+" can be reached from other machines, and there are no keys", makeOne+"; or listen on 127.0.0.1")
	case keys == 0 && behind:
		d.say(warning, subject, "hosts or proxies are set, but there are no keys: requests through a proxy are rejected", makeOne)
		d.local()
	case keys == 0:
		d.say(good, subject, "no keys: programs of this user can list and call tools; everything else needs the local secret", "")
		d.local()
	case open && len(cfg.Hosts) == 0 && cfg.PublicURL == "":
		d.say(warning, subject, cfg.Listen+" can be reached from other machines, but only loopback Host names are accepted",
			"add its host names to hosts")
	default:
		d.say(good, subject, terminal.Count(keys, "key"), "")
	}
}

// local checks what separates this user from others on this machine.
func (d *doctor) local() {
	const secret = "local secret"
	folder := d.StateFolder
	switch _, err := access.ReadLocalSecret(folder); {
	case folder == "":
		d.say(warning, secret, "there is no home folder to store it in: only the sign-in link that serve prints works", "set HOME")
	case errors.Is(err, fs.ErrNotExist):
		d.say(good, secret, "will be created on the first start, in "+folder, "")
	case err != nil:
		d.blame(secret, err)
	default:
		d.say(good, secret, "only this user can read it, in "+folder, "")
	}
	if inbound.CanIdentify() {
		d.say(good, "other users", "of this machine are recognized and rejected", "")
	} else {
		d.say(warning, "other users", "of this machine cannot be recognized on this system: they can list and call tools",
			"create a key: toolfit keys create NAME --role admin --profile '*'")
	}
}

// clock compares the time with times that must be in the past.
func (d *doctor) clock(newest time.Time) {
	const subject, set = "clock", "set the time of this machine"
	now := d.Now()
	switch {
	case now.Year() < 2026:
		d.say(Problem, subject, "it is "+now.Format(time.RFC3339)+", which is before toolfit existed", set)
	case newest.After(now.Add(time.Minute)):
		d.say(warning, subject, "the newest record is from "+newest.Format(time.RFC3339)+", which is in the future",
			set+", or of the machine that wrote it")
	default:
		d.say(good, subject, now.Format(time.RFC3339), "")
	}
}
