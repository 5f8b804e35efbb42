package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/clientfile"
)

// ownName is the name of our entry in the files of clients.
const ownName = "toolfit"

// installFlags say how a client is to reach us.
type installFlags struct {
	url, profile, keyEnv, file string
	stdio, dryRun, uninstall   bool
}

func (c *command) install() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install CLIENT",
		Short: "Write toolfit into the configuration file of an MCP client",
		Long: `Write toolfit into the configuration file of an MCP client, as the server "toolfit".

The rest of the file stays as it is, and the old file is kept beside it. Without --url and
--stdio the client gets the address of the configured gateway, or the command where its file
takes commands alone. Known clients: ` + clientNames() + `.`,
		Example: `  toolfit install cursor
  toolfit install claude-desktop --stdio --profile ops
  toolfit install vscode --url https://tools.example.com --key-env TOOLFIT_KEY
  toolfit install cursor --uninstall`,
		Args: exactly(1, "the name of a client"),
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
	flags.BoolVar(&f.stdio, "stdio", false, "let the client start toolfit itself, with the configuration of this folder")
	flags.StringVar(&f.profile, "profile", "", "profile that the client gets (default: its key's own)")
	flags.StringVar(&f.keyEnv, "key-env", "", "environment variable of the client that holds the key")
	flags.StringVar(&f.file, "file", "", "file to change, instead of the client's usual one")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the new text and write nothing")
	flags.BoolVar(&f.uninstall, "uninstall", false, "take the entry out again")
	return cmd
}

// installEdit is the change of the client's file.
func (c *command) installEdit(one client, f installFlags) (clientfile.Edit, error) {
	path := f.file
	if path == "" {
		path = c.usualFile(one)
	}
	if f.file == "" && !filepath.IsAbs(path) {
		return clientfile.Edit{}, fault.New(fault.NotFound, "your home folder is not known, where %s keeps its file", one.name).
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
	files := one.user(c.folders())
	for _, path := range files {
		if exists(filepath.Dir(path)) {
			return path
		}
	}
	return files[0]
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ownEntry is our entry as the flags want it.
func (c *command) ownEntry(one client, f installFlags) ([]clientfile.Entry, error) {
	switch {
	case f.stdio && f.url != "":
		return nil, usage("--stdio and --url exclude each other")
	case f.stdio && f.keyEnv != "":
		return nil, usage("--key-env goes with --url: a client that starts toolfit needs no key")
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

// ownCommand starts this program with this configuration, wherever the client runs.
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

// ownURL is the address of the MCP endpoint of a gateway: the given one, or the configured.
func (c *command) ownURL(given, profile string) (string, error) {
	if given == "" {
		cfg, err := c.load()
		if err != nil {
			return "", err
		}
		given = "http://" + reachable(cfg.Listen) + cfg.BasePath
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", usage("--url %q is no URL of http or https", given)
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

// reachable is the address under which this machine reaches what it listens on.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if a, err := netip.ParseAddr(host); host == "" || err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// installed is what install did to a client's file.
type installed struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Backup  string `json:"backup,omitempty"` // where the old file is
}

// finishInstall writes the change, or shows it.
func (c *command) finishInstall(one client, edit clientfile.Edit, f installFlags) error {
	if f.dryRun {
		_, err := c.env.Out.Write(edit.New)
		return err
	}
	done, already := "wrote toolfit into", "has toolfit as wanted already"
	if f.uninstall {
		done, already = "took toolfit out of", "has no toolfit"
	}
	if !edit.Changed() {
		if c.json {
			return c.printJSON(installed{File: edit.Path})
		}
		_, err := fmt.Fprintf(c.env.Out, "%s %s\n", edit.Path, already)
		return err
	}
	backup, err := edit.Write(time.Now())
	if errors.Is(err, fs.ErrPermission) && !fault.Is(err, fault.BadConfig) {
		return fault.New(fault.BadRequest, "%s cannot be changed: %w", edit.Path, err).WithHint("check who may write to the file and its folder")
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
	fmt.Fprintf(c.env.Err, "restart %s to let it see the change\n", one.name)
	return nil
}
