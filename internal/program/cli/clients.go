package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/state/clientfile"
)

func (c *command) folders() clientfile.Folders {
	return clientfile.FoldersOf(runtime.GOOS, c.env.Home, c.env.Lookup)
}

func clientNamed(name string) (clients.Client, error) {
	for _, one := range clients.WithFiles() {
		if one.Name == name {
			return one, nil
		}
	}
	return clients.Client{}, usage("unknown client %q; known clients: %s", name, clientNames())
}

func clientNames() string {
	var names []string
	for _, one := range clients.WithFiles() {
		names = append(names, one.Name)
	}
	return strings.Join(names, ", ")
}

// holding is a place in a client's file with servers.
type holding struct {
	client  string
	path    string
	project bool // it belongs to the project in this folder
	clientfile.Contents
	err error // why it cannot be read
}

// holdings finds the places where a client has servers.
func (c *command) holdings(one clients.Client) (found []holding) {
	look := func(path string, project bool, keys ...string) {
		if contents, ok, err := clientfile.Find(path, keys...); ok {
			found = append(found, holding{one.Name, path, project, contents, err})
		}
	}
	for _, path := range c.folders().Files(one) {
		if filepath.IsAbs(path) { // relative without a home folder
			look(path, false)
		}
	}
	for _, path := range one.Local {
		look(filepath.FromSlash(path), true)
	}
	if one.Name == "claude-code" && c.env.Home != "" { // its user file also has servers per project
		if dir, err := os.Getwd(); err == nil {
			look(c.folders().Files(one)[0], true, "projects", filepath.ToSlash(dir), "mcpServers")
		}
	}
	return found
}
