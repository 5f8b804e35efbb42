package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
)

func (c *command) importFile() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "import [FILE | CLIENT]",
		Short: "Take over the servers of an MCP client's configuration file",
		Long: `Take over the servers of an MCP client's configuration file.

With the name of a client its files are found, those of the user and those of the project in
this folder; without a name those of every client. Known clients: ` + clientNames() + `.`,
		Example: `  toolfit import claude_desktop_config.json
  toolfit import cursor
  toolfit import --all`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("import takes one file or client; see: toolfit import --help")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if _, err := clientNamed(args[0]); err != nil {
					return c.importFrom(args[0])
				}
			}
			found, err := c.find(args)
			if err != nil {
				return err
			}
			if len(found) > 1 && !all {
				return c.chooseFrom(found)
			}
			return c.importAll(found)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "take over from every file that is found")
	return cmd
}

// importFrom takes over the servers of a file.
func (c *command) importFrom(path string) error {
	if !exists(path) && !strings.ContainsAny(path, `./\`) {
		return usage("there is no file %s, and no client of that name; known are %s", path, clientNames())
	}
	if !exists(path) {
		return fault.New(fault.NotFound, "there is no file %s", path).
			WithHint("see which files of clients there are: toolfit import")
	}
	h := holding{path: path}
	if h.servers, h.notes, h.err = config.ReadClient(path); h.err != nil {
		return h.err
	}
	if len(h.servers) == 0 {
		c.note(h)
		fmt.Fprintf(c.env.Out, "%s has no servers\n", path)
		return nil
	}
	if !c.take(h, false) {
		return errSilent
	}
	return nil
}

// find looks for servers in the files of the named client, or of all.
func (c *command) find(names []string) (found []holding, err error) {
	var looked []string
	for _, one := range clients {
		if len(names) > 0 && one.name != names[0] {
			continue
		}
		found = append(found, c.holdings(one)...)
		looked = append(append(looked, one.user(c.folders())...), one.local...)
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(names) > 0:
		return nil, fault.New(fault.NotFound, "no file of %s holds servers", names[0]).
			WithHint("looked at %s; name the file: toolfit import FILE", strings.Join(looked, ", "))
	}
	return nil, fault.New(fault.NotFound, "no file of a known client holds servers").
		WithHint("known are %s; name a file: toolfit import FILE", clientNames())
}

// chooseFrom lists what was found, for the user to choose from.
func (c *command) chooseFrom(found []holding) error {
	var t table
	t.row("CLIENT", "FILE", "SERVERS")
	for _, h := range found {
		var names []string
		for _, s := range h.servers {
			names = append(names, string(s.ID))
		}
		if h.err != nil {
			names = []string{"cannot be read"}
		}
		t.row(h.client, h.path, strings.Join(names, ", "))
	}
	if err := t.print(c.env.Out); err != nil {
		return err
	}
	return fault.New(fault.BadRequest, "%d files hold servers, and nothing was taken over", len(found)).
		WithHint("name one: toolfit import CLIENT, or toolfit import FILE; or take all: --all")
}

// importAll takes over from each file. What is there already with the same settings is fine.
func (c *command) importAll(found []holding) error {
	good := true
	for _, h := range found {
		if h.err != nil {
			good = false
			fmt.Fprintf(c.env.Err, "toolfit: %s\n", explain(h.err))
			continue
		}
		fmt.Fprintf(c.env.Out, "%s, %s:\n", h.client, h.path)
		good = c.take(h, true) && good
	}
	if !good {
		return errSilent
	}
	return nil
}

func (c *command) note(h holding) {
	for _, note := range h.notes {
		fmt.Fprintf(c.env.Err, "note: %s\n", note)
	}
}

// take adds the servers to our file and says what came of each.
func (c *command) take(h holding, sameIsFine bool) (good bool) {
	c.note(h)
	path := c.editPath()
	good = true
	for _, s := range h.servers {
		if isSelf(s) {
			fmt.Fprintf(c.env.Err, "note: %s is toolfit itself, and is left out\n", s.ID)
			continue
		}
		err := config.AddServer(path, s)
		switch {
		case err == nil:
			fmt.Fprintf(c.env.Out, "added %s to %s\n", s.ID, path)
		case sameIsFine && fault.Is(err, fault.Conflict) && config.SameServer(path, s):
			fmt.Fprintf(c.env.Out, "%s is in %s already\n", s.ID, path)
		default:
			good = false
			fmt.Fprintf(c.env.Err, "toolfit: %s not imported: %v\n", s.ID, explain(err))
		}
	}
	return good
}

// isSelf tells whether a server is what install writes: to serve it would be to call ourselves.
func isSelf(s config.Server) bool {
	program := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.ToSlash(s.Command))), ".exe")
	return s.ID == ownName && (s.URL != "" || program == ownName) || program == ownName && len(s.Args) > 0 && s.Args[0] == "stdio"
}
