package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

func (c *command) importFile() *cobra.Command {
	var all bool
	var secrets string
	cmd := &cobra.Command{
		Use:   "import [FILE | CLIENT]",
		Short: "Import the servers of an MCP client",
		Long: `Import servers from the configuration file of an MCP client.

Given the name of a client, it finds the client's files: the user's, and the project's in this
folder. Without a name it looks for every client. Known clients: ` + clientNames() + `.

Values that look like secrets stay in the configuration, which only you can read (keep), or move
to one file each in the folder secrets beside it (file), or to environment variables that you
set (env). On a terminal it asks; otherwise they are kept.`,
		Example: `  toolfit import claude_desktop_config.json
  toolfit import cursor
  toolfit import --all --secrets file`,
		Args: takes(0, 1, "one file or client"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkWay(secrets); err != nil {
				return err
			}
			found, named, err := c.toImport(args)
			if err != nil || found == nil {
				return err
			}
			if len(found) > 1 && !all {
				return c.chooseFrom(found)
			}
			way, err := c.secretsWay(cmd.Context(), secrets, found)
			if err != nil {
				return err
			}
			in, err := c.newIntake(c.editPath(), way)
			if err != nil {
				return err
			}
			var done []taken
			for _, h := range found {
				done = append(done, in.take(h, !named))
			}
			if err := in.write(); err != nil {
				return err
			}
			return c.tellImported(done, &in.mover)
		},
	}
	cmd.Flags().StringVar(&secrets, "secrets", "", "where to put values that look like secrets: keep, file or env")
	cmd.Flags().BoolVar(&all, "all", false, "import from all files that are found")
	return cmd
}

// toImport is what to import: the named file, or those of clients. It is nil for a file without
// servers, after saying so.
func (c *command) toImport(args []string) (found []holding, named bool, err error) {
	if len(args) == 1 {
		if _, err := clientNamed(args[0]); err != nil {
			found, err = c.readNamed(args[0])
			return found, true, err
		}
	}
	found, err = c.find(args)
	return found, false, err
}

func (c *command) readNamed(path string) ([]holding, error) {
	if !exists(path) && !strings.ContainsAny(path, `./\`) {
		return nil, usage("there is no file %s, and no client of that name; known clients: %s", path, clientNames())
	}
	if !exists(path) {
		return nil, fault.New(fault.NotFound, "there is no file %s", path).
			WithHint("list the files of clients with: toolfit import")
	}
	h := holding{path: path}
	h.Contents, h.err = clientfile.Read(path)
	if h.err != nil {
		return nil, h.err
	}
	if len(h.Servers) == 0 && !c.json {
		c.note("", h.Notes)
		c.say("%s has no servers\n", path)
		return nil, nil
	}
	return []holding{h}, nil
}

// find looks for servers in the files of the named client, or of all.
func (c *command) find(names []string) (found []holding, err error) {
	var looked []string
	for _, one := range clients.WithFiles() {
		if len(names) > 0 && one.Name != names[0] {
			continue
		}
		found = append(found, c.holdings(one)...)
		looked = append(append(looked, c.folders().Files(one)...), one.Local...)
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(names) > 0:
		return nil, fault.New(fault.NotFound, "no file of %s has servers", names[0]).
			WithHint("looked at %s; name the file: toolfit import FILE", strings.Join(looked, ", "))
	}
	return nil, fault.New(fault.NotFound, "no file of a known client has servers").
		WithHint("known clients: %s; name a file: toolfit import FILE", clientNames())
}

func (c *command) chooseFrom(found []holding) error {
	if err := c.showFound(found); err != nil {
		return err
	}
	return fault.New(fault.BadRequest, "%d files have servers; nothing was imported", len(found)).
		WithHint("choose one: toolfit import CLIENT, or toolfit import FILE; or import all: --all")
}

type foundFile struct {
	Client  string       `json:"client"`
	File    string       `json:"file"`
	Servers []string     `json:"servers"`
	Error   *fault.Error `json:"error,omitempty"` // why it cannot be read
}

func (c *command) showFound(found []holding) error {
	var files []foundFile
	t := terminal.Table{Head: []string{"CLIENT", "FILE", "SERVERS"}}
	for _, h := range found {
		one := foundFile{Client: h.client, File: h.path, Servers: []string{}}
		for _, s := range h.Servers {
			one.Servers = append(one.Servers, string(s.ID))
		}
		names := strings.Join(one.Servers, ", ")
		if h.err != nil {
			one.Error = asFault(h.err)
			names = c.word("cannot be read")
		}
		files = append(files, one)
		t.Row(one.Client, one.File, names)
	}
	return c.show(map[string][]foundFile{"files": files}, func() error { return c.print(&t) })
}

func (c *command) note(indent string, notes []string) {
	for _, note := range notes {
		c.tell("%snote: %s\n", indent, line(c.translate(note)))
	}
}

type imported struct {
	Files   []taken `json:"files"`
	Secrets moved   `json:"secrets"`
}

type taken struct {
	Client  string       `json:"client,omitempty"`
	From    string       `json:"from"`
	To      string       `json:"to"`
	Servers []takenOver  `json:"servers"`
	Notes   []string     `json:"notes,omitempty"`
	Error   *fault.Error `json:"error,omitempty"` // why the file cannot be read
}

type takenOver struct {
	Name    string       `json:"name"`
	Outcome string       `json:"outcome"`
	Error   *fault.Error `json:"error,omitempty"`
}

// The outcomes.
const (
	wasAdded   = "added"
	wasThere   = "present"  // with the same settings
	wasLeft    = "left_out" // it is toolfit itself
	wasRefused = "refused"
)

// intake is our configuration with servers added. Nothing is written before write.
type intake struct {
	old, text []byte // of the configuration; nil: there is none
	mask      fs.FileMode
	added     []config.Server // without the secrets that were moved
	mover
}

func (c *command) newIntake(path, way string) (*intake, error) {
	old, err := config.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &intake{old: old, text: old, mask: 0o777, mover: mover{path: path, lookup: c.env.Lookup, moved: moved{Way: way}}}, nil
}

// take adds the servers. One that is there already with the same settings is an error, unless
// sameIsFine.
func (in *intake) take(h holding, sameIsFine bool) taken {
	t := taken{Client: h.client, From: h.path, To: in.path, Servers: []takenOver{}, Notes: h.Notes}
	if h.err != nil {
		t.Error = asFault(h.err)
		return t
	}
	for _, s := range h.Servers {
		one := takenOver{Name: string(s.ID), Outcome: wasAdded}
		if clientfile.IsSelf(s) {
			one.Outcome = wasLeft
		} else if err := in.add(s); err != nil {
			one.Outcome = wasRefused
			one.Error = asFault(err)
			if sameIsFine && fault.Is(err, fault.Conflict) && config.SameServer(in.path, in.text, s) {
				one.Outcome = wasThere
				one.Error = nil
			}
		}
		t.Servers = append(t.Servers, one)
	}
	return t
}

// add adds a server and moves its secrets.
func (in *intake) add(s config.Server) error {
	moved, undo, err := in.move(s)
	if err != nil {
		return err
	}
	text, err := config.WithServer(in.path, in.text, moved)
	if err != nil {
		undo()
		return err
	}
	in.text = text
	in.added = append(in.added, moved)
	in.mask &= moved.Mask()
	return nil
}

// write writes the secrets, then the configuration.
func (in *intake) write() error {
	if bytes.Equal(in.old, in.text) {
		return nil
	}
	undo, err := in.mover.write()
	if err != nil {
		return err
	}
	if err := regular.Replace(in.path, in.old, in.text, in.mask); err != nil {
		undo()
		return err
	}
	config.WriteSchema(in.path, in.text)
	return nil
}

func (c *command) tellImported(all []taken, m *mover) error {
	good := true
	for _, t := range all {
		good = good && t.Error == nil && !slices.ContainsFunc(t.Servers, func(s takenOver) bool { return s.Outcome == wasRefused })
		if !c.json {
			c.tellOne(t)
		}
	}
	if !c.json {
		c.tellSecrets(m)
	} else if err := c.printJSON(imported{all, m.moved}); err != nil {
		return err
	}
	if !good {
		return errSilent
	}
	return nil
}

func (c *command) tellOne(t taken) {
	if t.Error != nil {
		c.tell("toolfit: %s\n", c.explain(t.Error))
		return
	}
	if t.Client != "" {
		fmt.Fprintf(c.env.Out, "%s, %s:\n", t.Client, t.From)
	}
	c.note("", t.Notes)
	for _, s := range t.Servers {
		switch s.Outcome {
		case wasAdded:
			c.say("added %s to %s\n", s.Name, t.To)
		case wasThere:
			c.say("%s is already in %s\n", s.Name, t.To)
		case wasLeft:
			c.tell("note: %s is toolfit itself and was skipped\n", s.Name)
		default:
			c.tell("toolfit: %s not imported: %v\n", s.Name, c.explain(s.Error))
		}
	}
}
