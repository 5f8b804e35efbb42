// Package backup puts a SQLite store, the results beside it and the configuration into one file, and back. The file is
// a compressed tar archive whose last entry, the manifest, has the size and the hash of each other one. It is for
// stores that are in use: a gateway goes on while it is written. It never decrypts anything, and has no keys in it.
//
//	m, err := backup.Write(ctx, f, backup.Source{Store: "toolfit.db", Config: "toolfit.yaml"})
//	m, err = backup.Verify(ctx, "toolfit.backup")
//	done, err := backup.Restore(ctx, "toolfit.backup", m, backup.Target{Store: "toolfit.db", Config: "toolfit.yaml"})
package backup

import (
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	format       = 1
	manifestName = "manifest.json"
	storeName    = "toolfit.db"
	resultsName  = "results/"
	configName   = "config/"

	maxManifest = 64 << 20
	maxEntries  = 1 << 20
	maxConfig   = 16 << 20 // of one file of the configuration
)

// Manifest is what a backup says of itself.
type Manifest struct {
	Format  int       `json:"format"`
	Toolfit string    `json:"toolfit"` // the version that wrote it
	At      time.Time `json:"at"`      // what was stored before is in it
	Schema  int       `json:"schema"`
	Oldest  int       `json:"oldest"` // the schema that a program must know to use it
	Keys    []string  `json:"keys"`   // fingerprints of the secret keys that it needs
	Store   string    `json:"store"`  // where the store was, from the folder of the configuration
	Config  string    `json:"config"` // the configuration among the entries; "": there is none
	Entries []Entry   `json:"entries"`
}

// Entry is a file of a backup.
type Entry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Results is how many files of stored results there are, with their size.
func (m *Manifest) Results() (files int, size int64) {
	for _, e := range m.Entries {
		if strings.HasPrefix(e.Name, resultsName) {
			files++
			size += e.Size
		}
	}
	return files, size
}

// Files are the paths of the configuration and the files that it names, from its folder.
func (m *Manifest) Files() (paths []string) {
	for _, e := range m.Entries {
		if name, ok := strings.CutPrefix(e.Name, configName); ok {
			paths = append(paths, name)
		}
	}
	return paths
}

// Size is that of all files together.
func (m *Manifest) Size() (size int64) {
	for _, e := range m.Entries {
		size += e.Size
	}
	return size
}

// needs is what the store needs of the program that opens it.
func (m *Manifest) needs() store.Snapshot {
	return store.Snapshot{Version: m.Schema, Oldest: m.Oldest, Keys: m.Keys}
}

// CheckKey refuses a key that does not open what is encrypted.
func (m *Manifest) CheckKey(key store.SecretKey) error {
	has := map[string]bool{}
	for _, id := range key.Fingerprints() {
		has[id] = true
	}
	for _, id := range m.Keys {
		if !has[id] && key.IsZero() {
			return fault.New(fault.BadConfig, "the backup is encrypted with key %s, and TOOLFIT_SECRET_KEY is not set", id).
				WithHint("set it to the key that the gateway had; or leave behind what is encrypted, with --without-key")
		}
		if !has[id] {
			return fault.New(fault.BadConfig, "the backup is encrypted with key %s, which TOOLFIT_SECRET_KEY is not", id).
				WithHint("set it to the key that the gateway had; or leave behind what is encrypted, with --without-key")
		}
	}
	return nil
}

// allowed is the most that an entry of this name may have; 0: there is no such entry.
func allowed(name string) int64 {
	const any = 1 << 62
	switch {
	case name == manifestName:
		return maxManifest
	case name == storeName:
		return any
	case strings.HasPrefix(name, resultsName) && store.IsSegment(name[len(resultsName):]):
		return any
	case strings.HasPrefix(name, configName) && isLocal(name[len(configName):]):
		return maxConfig
	}
	return 0
}

// isLocal tells whether a path stays in its folder, on every system.
func isLocal(name string) bool {
	return path.Clean(name) == name && name != "." && filepath.IsLocal(filepath.FromSlash(name)) && !strings.ContainsAny(name, "\\:\x00")
}

func broken(text string, args ...any) error {
	return fault.New(fault.BadRequest, text, args...).WithHint("nothing was changed; use another backup")
}
