package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
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
	return config.Load(path, c.env.Lookup)
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
