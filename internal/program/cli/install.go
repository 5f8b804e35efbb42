package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/cli/doctor"
	"github.com/toolfit/toolfit/internal/program/clientfile"
)

// ownName is the name of our entry in the files of clients.
const ownName = "toolfit"

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

func (c *command) installEdit(one client, f installFlags) (clientfile.Edit, error) {
	path := f.file
	if path == "" {
		path = c.usualFile(one)
	}
	if f.file == "" && !filepath.IsAbs(path) {
		return clientfile.Edit{}, fault.New(fault.NotFound, "your home folder, where %s keeps its file, is unknown", one.name).
			WithHint("set HOME, or name the file with --file")
	}
	if f.uninstall {
		return clientfile.Remove(path, one.key, ownName)
	}
	entries, err := c.ownEntry(one, f)
	if err != nil {
		return clientfile.Edit{}, err
	}
	if dir := filepath.Dir(path); !exists(dir) {
		return clientfile.Edit{}, fault.New(fault.NotFound, "there is no folder %s, where %s keeps its file", dir, one.name).
			WithHint("start %s once, or name the file with --file", one.name)
	}
	return clientfile.Put(path, one.key, ownName, entries)
}

// usualFile is the first of the user's files whose folder exists, or the first of all.
func (c *command) usualFile(one client) string {
	files := c.folders().files(one)
	for _, path := range files {
		if exists(filepath.Dir(path)) {
			return path
		}
	}
	return files[0]
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *command) ownEntry(one client, f installFlags) ([]clientfile.Entry, error) {
	switch {
	case f.stdio && f.url != "":
		return nil, usage("use either --stdio or --url")
	case f.stdio && f.keyEnv != "":
		return nil, usage("--key-env needs --url: a client that starts toolfit needs no key")
	case f.keyEnv != "" && !variableName.MatchString(f.keyEnv):
		return nil, usage("%q is not the name of an environment variable", f.keyEnv)
	case f.stdio || f.url == "" && one.url == "":
		return c.ownCommand(one, f.profile)
	}
	target, err := c.ownURL(f.url, f.profile)
	if err != nil {
		return nil, err
	}
	return one.entry(target, f.keyEnv)
}

func (c *command) ownCommand(one client, profile string) ([]clientfile.Entry, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", cfg.Path, err)
	}
	args := []string{"stdio", "--config", path}
	if profile != "" {
		args = append(args, "--profile", profile)
	}
	return one.command(c.env.Program, args), nil
}

func (c *command) ownURL(given, profile string) (string, error) {
	if given == "" {
		cfg, err := c.load()
		if err != nil {
			return "", err
		}
		given = "http://" + doctor.Reachable(cfg.Listen) + cfg.BasePath
	}
	u, err := parseURL(given)
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

func (c *command) finishInstall(one client, edit clientfile.Edit, f installFlags) error {
	if f.dryRun {
		_, err := c.env.Out.Write(edit.New)
		return err
	}
	done := "added toolfit to"
	already := "already has this entry"
	if f.uninstall {
		done = "removed toolfit from"
		already = "has no toolfit"
	}
	if !edit.Changed() {
		return c.printf(installed{File: edit.Path}, "%s %s\n", edit.Path, already)
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
	fmt.Fprintf(c.env.Out, "%s %s\n", done, edit.Path)
	if backup != "" {
		fmt.Fprintf(c.env.Out, "the old file is %s\n", backup)
	}
	fmt.Fprintf(c.env.Err, "restart %s to apply the change\n", one.name)
	return nil
}
