package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/program/cli/doctor"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

type installFlags struct {
	url, profile, keyEnv, file string
	stdio, dryRun, uninstall   bool
}

func (c *command) install() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install CLIENT",
		Short: "Add toolfit to the configuration file of an MCP client",
		Long: `Add toolfit to the configuration file of an MCP client, as the server "toolfit".

The rest of the file is unchanged, and a backup is kept beside it. Without --url and --stdio the
client gets the address of the configured gateway, or a command if its file only supports
commands. Known clients: ` + clientNames() + `.`,
		Example: `  toolfit install cursor
  toolfit install claude-desktop --stdio --profile ops
  toolfit install vscode --url https://tools.example.com --key-env TOOLFIT_KEY
  toolfit install cursor --uninstall`,
		Args: takes(1, 1, "the name of a client"),
		RunE: func(_ *cobra.Command, args []string) error {
			one, err := clientNamed(args[0])
			if err != nil {
				return err
			}
			edit, err := c.installEdit(one, f)
			if err != nil {
				return err
			}
			return c.finishInstall(one, edit, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "address of the gateway (default: the configured one)")
	flags.BoolVar(&f.stdio, "stdio", false, "let the client start toolfit, with the configuration of this folder")
	flags.StringVar(&f.profile, "profile", "", "profile for the client (default: that of its key)")
	flags.StringVar(&f.keyEnv, "key-env", "", "environment variable of the client that holds the key")
	flags.StringVar(&f.file, "file", "", "file to change (default: the client's own)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the new file without writing it")
	flags.BoolVar(&f.uninstall, "uninstall", false, "remove the entry")
	return cmd
}

func (c *command) installEdit(one clients.Client, f installFlags) (clientfile.Edit, error) {
	if f.uninstall {
		path, err := c.knownFile(one, f.file)
		if err != nil {
			return clientfile.Edit{}, err
		}
		edit, err := clientfile.Open(path)
		if err != nil {
			return edit, err
		}
		return edit.Remove([]string{one.Key}, clients.Own)
	}
	entries, err := c.ownEntry(one, f, c.load)
	if err != nil {
		return clientfile.Edit{}, err
	}
	path, err := c.fileOf(one, f.file)
	if err != nil {
		return clientfile.Edit{}, err
	}
	edit, err := clientfile.Open(path)
	if err != nil {
		return edit, err
	}
	return edit.Put([]string{one.Key}, clients.Own, entries)
}

// knownFile is the file that is named, or the client's own.
func (c *command) knownFile(one clients.Client, named string) (string, error) {
	path := c.usualFile(one)
	if named == "" && !filepath.IsAbs(path) {
		return "", fault.New(fault.NotFound, "your home folder, where %s keeps its file, is unknown", one.Name).
			WithHint("set HOME, or name the file with --file")
	}
	return cmp.Or(named, path), nil
}

// fileOf is knownFile for a file that may be created: its folder must exist.
func (c *command) fileOf(one clients.Client, named string) (string, error) {
	path, err := c.knownFile(one, named)
	if dir := filepath.Dir(path); err == nil && !exists(dir) {
		err = fault.New(fault.NotFound, "there is no folder %s, where %s keeps its file", dir, one.Name).
			WithHint("start %s once, or name the file with --file", one.Name)
	}
	return path, err
}

// usualFile is the first of the user's files whose folder exists, or the first of all.
func (c *command) usualFile(one clients.Client) string {
	files := c.folders().Files(one)
	for _, path := range files {
		if exists(filepath.Dir(path)) {
			return path
		}
	}
	return files[0]
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ownEntry is our entry in the client's form. The configuration is loaded only if it is needed.
func (c *command) ownEntry(one clients.Client, f installFlags, load func() (*config.Config, error)) ([]clients.Entry, error) {
	switch {
	case f.stdio && f.url != "":
		return nil, usage("use either --stdio or --url")
	case f.stdio && f.keyEnv != "":
		return nil, usage("--key-env needs --url: a client that starts toolfit needs no key")
	case f.keyEnv != "" && !variableName.MatchString(f.keyEnv):
		return nil, usage("%q is not the name of an environment variable", f.keyEnv)
	}
	target := f.url
	if target == "" {
		cfg, err := load()
		if err != nil {
			return nil, err
		}
		if f.stdio || !one.TakesURL() {
			return c.ownCommand(one, cfg, f.profile)
		}
		target = ownAddress(cfg)
	}
	target, err := endpoint(target, f.profile)
	if err != nil {
		return nil, err
	}
	return one.Address(target, f.keyEnv)
}

func (c *command) ownCommand(one clients.Client, cfg *config.Config, profile string) ([]clients.Entry, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", cfg.Path, err)
	}
	args := []string{"stdio", "--config", path}
	if profile != "" {
		args = append(args, "--profile", profile)
	}
	return one.Command(c.env.Program, args), nil
}

// ownAddress is the URL at which this machine reaches the configured gateway.
func ownAddress(cfg *config.Config) string {
	return "http://" + doctor.Reachable(cfg.Listen) + cfg.BasePath
}

// endpoint is the URL for agents of the gateway at the address.
func endpoint(address, profile string) (string, error) {
	u, err := parseURL(address)
	if err != nil {
		return "", err
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if !strings.HasSuffix(u.Path, "/mcp") && !strings.Contains(u.Path, "/mcp/") {
		u.Path += "/mcp"
	}
	if profile != "" {
		u.Path += "/" + profile
	}
	return u.String(), nil
}

type installed struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Backup  string `json:"backup,omitempty"` // path of the old file
}

func (c *command) finishInstall(one clients.Client, edit clientfile.Edit, f installFlags) error {
	if f.dryRun {
		_, err := c.env.Out.Write(edit.New)
		return err
	}
	done := "added toolfit to %s\n"
	already := "%s already has this entry\n"
	if f.uninstall {
		done = "removed toolfit from %s\n"
		already = "%s has no toolfit\n"
	}
	if !edit.Changed() {
		return c.printf(installed{File: edit.Path}, already, edit.Path)
	}
	backup, err := edit.Write(time.Now())
	if errors.Is(err, fs.ErrPermission) && !fault.Is(err, fault.BadConfig) {
		return fault.New(fault.BadRequest, "%s cannot be changed: %w", edit.Path, err).
			WithHint("check the permissions of the file and its folder")
	}
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(installed{File: edit.Path, Changed: true, Backup: backup})
	}
	c.say(done, edit.Path)
	if backup != "" {
		c.say("the old file is %s\n", backup)
	}
	c.tell("restart %s to apply the change\n", one.Name)
	return nil
}
