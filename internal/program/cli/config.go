package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

// defaultFile is the configuration that commands look for and create.
const defaultFile = "toolfit.yaml"

// configPath is the configuration file: the one named, or the first that exists; "" for none.
func (c *command) configPath() string {
	if c.config != "" {
		return c.config
	}
	if path, ok := c.env.Lookup("TOOLFIT_CONFIG"); ok && path != "" {
		return path
	}
	candidates := []string{defaultFile, "toolfit.yml"}
	if path := c.defaultConfig(); path != "" {
		candidates = append(candidates, path)
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// defaultConfig is the configuration in the user's folder; "" if there is no such folder.
func (c *command) defaultConfig() string {
	dir := c.folders()["config"]
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "toolfit", defaultFile)
}

func (c *command) load() (*config.Config, error) {
	path := c.configPath()
	if path == "" {
		return nil, fault.New(fault.BadConfig, "there is no %s here", defaultFile).
			WithHint("create one with: toolfit setup, or toolfit add NAME -- COMMAND; " +
				"an empty one is enough to add servers in the console; or try: toolfit demo")
	}
	return c.loadFile(path)
}

// loadFile reads a configuration. For a client's file, the store is in the user's state folder
// instead of the client's, unless there is one beside the file already.
func (c *command) loadFile(path string) (*config.Config, error) {
	cfg, err := config.Load(path, c.env.Lookup)
	folder := stateFolder(runtime.GOOS, c.env)
	if err != nil || !config.IsClientFile(path) || exists(cfg.Store) || folder == "" {
		return cfg, err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	sum := sha256.Sum256([]byte(full)) // several clients have files of the same name
	name := strings.TrimSuffix(filepath.Base(full), filepath.Ext(full))
	cfg.Store = filepath.Join(folder, fmt.Sprintf("%s-%x.db", name, sum[:4]))
	return cfg, nil
}

// makeStateFolder creates the user's state folder if the store belongs there.
func (c *command) makeStateFolder(cfg *config.Config) error {
	folder := stateFolder(runtime.GOOS, c.env)
	if folder == "" || filepath.Dir(cfg.Store) != folder {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fault.New(fault.BadConfig, "cannot create the folder of the store: %w", err).WithHint("choose another store with --store")
	}
	return nil
}

// editPath is the file that add, remove and import change.
func (c *command) editPath() string {
	if path := c.configPath(); path != "" {
		return path
	}
	return defaultFile
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
