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

// defaultFile is the configuration that commands look for and make.
const defaultFile = "toolfit.yaml"

// configPath is the file to use: the one named, else the first that exists; "" when there is none.
func (c *command) configPath() string {
	if c.config != "" {
		return c.config
	}
	if path, ok := c.env.Lookup("TOOLFIT_CONFIG"); ok && path != "" {
		return path
	}
	candidates := []string{defaultFile, "toolfit.yml"}
	if dir, err := os.UserConfigDir(); err == nil {
		candidates = append(candidates, filepath.Join(dir, "toolfit", defaultFile))
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// load reads the configuration.
func (c *command) load() (*config.Config, error) {
	path := c.configPath()
	if path == "" {
		return nil, fault.New(fault.BadConfig, "there is no %s here", defaultFile).
			WithHint("make one with: toolfit add NAME -- COMMAND, or toolfit import FILE; or try: toolfit demo")
	}
	return c.loadFile(path)
}

// loadFile reads a configuration. A client's own folder is no place for our files, so the
// store of its file is in the user's state folder; one that is beside the file from earlier
// goes on being used.
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

// makeStateFolder makes the user's state folder where the store is to lie in it.
func (c *command) makeStateFolder(cfg *config.Config) error {
	folder := stateFolder(runtime.GOOS, c.env)
	if folder == "" || filepath.Dir(cfg.Store) != folder {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fault.New(fault.BadConfig, "the folder of the store cannot be made: %w", err).WithHint("name another store with --store")
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
