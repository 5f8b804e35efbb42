package clientfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Folders are a user's folders, by the names that clients.Client.User begins with.
type Folders map[string]string

// FoldersOf are the folders of a user on a system.
func FoldersOf(system, home string, lookup func(string) (string, bool)) Folders {
	or := func(variable string, usual ...string) string {
		if dir, ok := lookup(variable); ok && filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(append([]string{home}, usual...)...)
	}
	f := Folders{"home": home, "codex": or("CODEX_HOME", ".codex")}
	switch system {
	case "darwin":
		f["config"] = filepath.Join(home, "Library", "Application Support")
		f["zed"] = filepath.Join(home, ".config", "zed")
	case "windows":
		f["config"] = or("APPDATA", "AppData", "Roaming")
		f["zed"] = filepath.Join(f["config"], "Zed")
	default:
		f["config"] = or("XDG_CONFIG_HOME", ".config")
		f["zed"] = filepath.Join(f["config"], "zed")
	}
	return f
}

// Files are the user's files of a client. They are relative without a home folder.
func (f Folders) Files(of clients.Client) (paths []string) {
	for _, path := range of.User {
		name, rest, _ := strings.Cut(path, "/")
		paths = append(paths, filepath.Join(f[name[1:]], filepath.FromSlash(rest)))
	}
	return paths
}

// Find is Read for a file that may not be there; false: it is not, or has no servers.
func Find(path string, keys ...string) (c Contents, ok bool, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Contents{}, false, nil
	}
	c, err = Read(path, keys...)
	if errors.Is(err, ErrNoServers) {
		return Contents{}, false, nil
	}
	return c, err != nil || len(c.Servers) > 0 || len(c.Notes) > 0, err
}

// IsSelf tells whether a server is toolfit itself, as install writes it.
func IsSelf(s config.Server) bool {
	program := config.ProgramName(s.Command)
	return s.ID == clients.Own && (s.URL != "" || program == clients.Own) || program == clients.Own && len(s.Args) > 0 && s.Args[0] == "stdio"
}
