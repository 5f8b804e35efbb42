package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/backup"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) backup() *cobra.Command {
	var secrets, force bool
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write the store, stored results and the configuration to one file", Args: takes(1, 1, "a file; - is standard output"),
		Long: "Write the store, stored results and the configuration to one file, also while a gateway is running.\n" +
			"For PostgreSQL it prints the command that does so.",
		Example: "  toolfit backup toolfit.backup\n  toolfit backup - | ssh backup.example.com 'cat > toolfit.backup'",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			if store.IsPostgres(cfg.Store) {
				return c.usePostgresTools(cfg.Store, "pg_dump --format=custom --file=%[2]q %[1]q", args[0])
			}
			return c.writeBackup(cmd.Context(), cfg, args[0], secrets, force)
		},
	}
	cmd.Flags().BoolVar(&secrets, "with-secrets", false, "also the files that the configuration names by ${file:PATH}, unencrypted")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	cmd.AddCommand(&cobra.Command{
		Use: "verify FILE", Short: "Read a whole backup, and say whether it can be restored", Args: takes(1, 1, "a file"),
		Example: "  toolfit backup verify toolfit.backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := c.verifyBackup(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return c.showBackup(m)
		},
	})
	return cmd
}

// usePostgresTools says which command to use instead.
func (c *command) usePostgresTools(dsn, format, file string) error {
	return fault.New(fault.BadRequest, "the store is a PostgreSQL database, whose own tools do this").
		WithHint("set the password in PGPASSWORD or ~/.pgpass, and run: "+format, store.ShowAddress(dsn), file)
}

func (c *command) writeBackup(ctx context.Context, cfg *config.Config, file string, secrets, force bool) error {
	key, err := app.SecretKey(c.env.Lookup)
	if err != nil {
		return err
	}
	src := backup.Source{Store: cfg.Store, Files: specs(cfg), Config: cfg.Path, Secrets: secrets, Key: key, Version: c.env.Version, Now: time.Now()}
	src.Left = func(path string, secret bool) {
		if secret {
			c.tell("not in the backup: %s; --with-secrets adds it\n", path)
		} else {
			c.tell("not in the backup: %s, which is outside the folder of the configuration\n", path)
		}
	}
	began := time.Now()
	var m *backup.Manifest
	if file == "-" {
		folder, err := os.MkdirTemp("", "toolfit-backup-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		src.Scratch = filepath.Join(folder, "toolfit.db")
		m, err = backup.Write(ctx, c.wire, src)
		if err != nil {
			return err
		}
		c.tell("%s of data written in %s\n", c.size(m.Size()), time.Since(began).Round(time.Millisecond))
		return nil
	}
	if !force && exists(file) {
		return fault.New(fault.Conflict, "%s already exists", file).WithHint("choose another name, or replace it with --force")
	}
	c.tell("copying %s …\n", cfg.Store)
	if m, err = replaceBackup(ctx, file, src); err != nil {
		return err
	}
	return c.show(m, func() error {
		files, size := m.Results()
		c.say("%s: schema version %d, %s of stored results in %s, %s; %s in all, in %s\n", file, m.Schema, c.size(size),
			c.count(files, "file"), c.count(len(m.Files()), "configuration file"), c.size(m.Size()), time.Since(began).Round(time.Millisecond))
		return c.saysKeys(m)
	})
}

// specs are the files that describe HTTP APIs.
func specs(cfg *config.Config) (paths []string) {
	for _, s := range cfg.Servers {
		if s.API == nil || s.API.Remote() {
			continue
		}
		if _, inline := s.API.Inline(); !inline {
			paths = append(paths, s.API.Spec)
		}
	}
	return paths
}

// replaceBackup writes to another file first: whoever is killed leaves the old one.
func replaceBackup(ctx context.Context, file string, src backup.Source) (m *backup.Manifest, err error) {
	partial := file + ".partial"
	src.Scratch = file + ".partial-store"
	for _, left := range []string{partial, src.Scratch} { // of one that was killed
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fault.New(fault.BadRequest, "%s cannot be written: %w", file, errors.Unwrap(err)).WithHint("check its folder")
	}
	m, err = backup.Write(ctx, f, src)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(partial, file)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(partial))
	}
	return m, nil
}

func (c *command) verifyBackup(ctx context.Context, file string) (*backup.Manifest, error) {
	stop := c.waiting("reading the backup")
	defer stop()
	return backup.Verify(ctx, file)
}

// showBackup says what is in a backup.
func (c *command) showBackup(m *backup.Manifest) error {
	return c.show(m, func() error {
		files, size := m.Results()
		c.say("whole; of %s, by toolfit %s, schema version %d\n", m.At.Format(time.RFC3339), line(m.Toolfit), m.Schema)
		c.say("  store     %s, %s\n", line(m.Store), c.size(m.Entries[0].Size))
		c.say("  results   %s in %s\n", c.size(size), c.count(files, "file"))
		for _, name := range m.Files() {
			c.say("  file      %s\n", line(name))
		}
		return c.saysKeys(m)
	})
}

func (c *command) saysKeys(m *backup.Manifest) (err error) {
	for _, id := range m.Keys {
		err = c.say("  key       needs the TOOLFIT_SECRET_KEY with the fingerprint %s; it is not in the backup\n", line(id))
	}
	return err
}

func (c *command) restore() *cobra.Command {
	var target string
	var dryRun, withoutKey bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put the store and the configuration of a backup in place", Args: takes(1, 1, "a file"),
		Long: "Put the store and the configuration of a backup in place, once all of it is verified. What is there now is renamed.\n" +
			"The gateway must not be running. Restore only backups that you trust: a configuration names programs to run.",
		Example: "  toolfit restore toolfit.backup --dry-run\n  toolfit restore toolfit.backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, to, err := c.restoreTarget(cmd.Context(), args[0], target)
			if err != nil {
				return err
			}
			if !withoutKey {
				key, err := app.SecretKey(c.env.Lookup)
				if err == nil {
					err = m.CheckKey(key)
				}
				if err != nil {
					return err
				}
			}
			if dryRun {
				c.tell("nothing is changed; it would go to %s and %s\n", to.Store, to.Config)
				return c.showBackup(m)
			}
			return c.putInPlace(cmd.Context(), args[0], m, to)
		},
	}
	cmd.Flags().StringVar(&target, "store", "", "path of the restored store (default: as configured)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what is in the backup and where it would go")
	cmd.Flags().BoolVar(&withoutKey, "without-key", false, "restore although what is encrypted cannot be read with this TOOLFIT_SECRET_KEY")
	return cmd
}

// restoreTarget verifies the backup, and finds where it goes.
func (c *command) restoreTarget(ctx context.Context, file, target string) (*backup.Manifest, backup.Target, error) {
	to := backup.Target{Store: target, Config: c.editPath(), Aside: ".before-" + time.Now().UTC().Format("20060102T150405Z")}
	if to.Store == "" {
		if cfg, err := c.load(); err == nil { // else there is none yet, or it is what the backup is to repair
			to.Store = cfg.Store
		}
	}
	if store.IsPostgres(to.Store) {
		return nil, to, c.usePostgresTools(to.Store, "pg_restore --no-owner --dbname=%[1]q %[2]q", file)
	}
	m, err := c.verifyBackup(ctx, file)
	if err != nil {
		return nil, to, err
	}
	if to.Store == "" {
		to.Store = m.StoreAt(to.Config)
	}
	if to.Store == "" {
		return nil, to, fault.New(fault.BadRequest, "the store of the backup was at %.200q, outside the folder of its configuration", m.Store).
			WithHint("say where it goes: --store PATH")
	}
	to.Store, err = filepath.Abs(to.Store)
	if m.Config == "" {
		to.Config = ""
	}
	return m, to, err
}

func (c *command) putInPlace(ctx context.Context, file string, m *backup.Manifest, to backup.Target) error {
	c.tell("restoring %s …\n", to.Store)
	done, err := backup.Restore(ctx, file, m, to)
	for _, path := range done.Aside {
		c.tell("what was there before: %s\n", path)
	}
	if err != nil {
		if done.Swapped {
			c.tell("not everything is in place; run the command again\n")
		}
		return err
	}
	return c.show(done, func() error {
		for _, path := range done.Restored {
			c.say("restored %s\n", path)
		}
		return nil
	})
}

// size is a number of bytes for people.
func (c *command) size(n int64) string {
	switch {
	case n < 10_000:
		return c.count(int(n), "byte")
	case n < 10_000_000:
		return c.lang.Sprintf("%d kB", n/1000)
	}
	return c.lang.Sprintf("%d MB", n/1_000_000)
}
